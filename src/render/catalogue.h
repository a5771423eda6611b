// SPDX-License-Identifier: Apache-2.0
// The catalogue for people and for tools: `explain`, `list`, the man page's section on codes. Pure.
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
/// The man(7) source of the section CODES.
std::string render_list_man();
/// Markdown, one section a code, for the documentation.
std::string render_list_markdown();

}  // namespace pindown
