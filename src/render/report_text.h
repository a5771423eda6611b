// SPDX-License-Identifier: Apache-2.0
// Report → the text people read. The first line is at most 80 columns and a verdict by itself. Pure; everything that
// came from outside is escaped here.
#pragma once

#include <string>

#include "finding/report.h"
#include "render/style.h"

namespace pindown {

std::string render_text(const Report& report, const Style& style);

}  // namespace pindown
