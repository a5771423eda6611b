// SPDX-License-Identifier: Apache-2.0
// A unit, drop-in or manager configuration file as systemd cuts it into assignments: src/shared/conf-parser.c
// config_parse and parse_line, 252 to 257. Entry point: parse_unit_text. Must not: know what a key means.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facts/unit_file.h"

namespace pindown {

struct UnitText {
  std::vector<UnitAssignment> assignments;  // of the keys asked for, in order
  std::optional<Source> stopped;            // systemd reads the file no further than this line
  std::string why;                          // of `stopped`, one clause
};

/// Names of sections and keys are matched letter by letter. Any other section is skipped.
UnitText parse_unit_text(std::string_view text, std::string_view path, std::string_view section,
                         std::span<const std::string_view> keys);

}  // namespace pindown
