// SPDX-License-Identifier: Apache-2.0
// How sshd cuts a configuration line into words: bytes → words. Entry points: next_sshd_word, split_sshd_arguments,
// parse_sshd_match. Must not: know an option.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pindown {

/// The next word, where blanks, quotes and one "=" divide (misc.c strdelim). `rest` is empty at the end. Nothing: a
/// quote is not closed, and sshd takes the line for empty.
std::optional<std::string> next_sshd_word(std::optional<std::string_view>& rest);

/// The words after the option, where "#" starts a comment, both kinds of quotes group and a backslash escapes quotes,
/// itself and a blank (misc.c argv_split). Nothing: a quote is not closed.
std::optional<std::vector<std::string>> split_sshd_arguments(std::string_view text);

/// What follows "Match": servconf.c match_cfg_line.
struct SshdMatch {
  bool all = false;                 // true of every connection, and of none
  bool depends_on_version = false;  // "Match version", since 10.1
  std::string error;                // sshd does not start over it
};
SshdMatch parse_sshd_match(std::string_view text);

}  // namespace pindown
