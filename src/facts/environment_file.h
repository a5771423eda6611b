// SPDX-License-Identifier: Apache-2.0
// Environment files of units (EnvironmentFile=, systemd.exec(5)), where distributions keep a daemon's options. Entry
// points: collect_environment_value, read_environment_file, split_environment_words.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "facts/fact.h"
#include "host/host.h"

namespace pindown {

/// The value as systemd reads it (src/basic/env-file.c parse_env_file_internal): the last assignment wins, quotes and
/// backslashes are taken off, and the rest of the line counts where there are none. With the number of its line.
std::optional<std::pair<std::string, std::size_t>> read_environment_file(std::string_view text, std::string_view key);

/// Words of a lone $VARIABLE in ExecStart= (src/basic/extract-word.c with EXTRACT_RELAX and EXTRACT_UNQUOTE): quotes
/// and backslashes go, a missing end is none.
std::vector<std::string> split_environment_words(std::string_view value);

struct EnvironmentPlace {
  std::string_view path, key;
};
/// The value in the first of these files that exists; kAbsent with its path if it does not set the key.
Fact<std::string> collect_environment_value(const Host& host, std::span<const EnvironmentPlace> places,
                                            std::vector<std::string>& problems);

}  // namespace pindown
