// SPDX-License-Identifier: Apache-2.0
// The catalogue for people and for tools: `explain` and `list`. Pure.
#pragma once

#include <string>

#include "checks/check.h"
#include "finding/report_json.h"
#include "render/style.h"

namespace pindown {

std::string render_page(const Check& check, const Style& style);
Json page_json(const Check& check);
std::string render_list(const Style& style);
Json list_json();
/// Markdown, one section a code, for the documentation.
std::string render_list_markdown();

}  // namespace pindown
