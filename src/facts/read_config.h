// SPDX-License-Identifier: Apache-2.0
// How the collectors of the login model read files: whole text or lines, or the reason why not. Entry points:
// read_text, read_lines. Private to the collectors of limits.conf, PAM stacks and accounts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "facts/config_line.h"
#include "host/host.h"

namespace pindown {

/// A directory and /dev/null open like a file and hold no line for fopen(3) and fgets(3): empty text, not an error.
/// What is refused, too large or in error is a problem, too; what is not there is none.
Fact<std::string> read_text(const Host& host, const std::string& path, std::size_t max_bytes,
                            std::vector<std::string>& problems);

std::vector<ConfigLine> split_lines(std::string_view text, std::string_view path);
ConfigFile read_lines(const Host& host, const std::string& path, std::size_t max_bytes,
                      std::vector<std::string>& problems);

}  // namespace pindown
