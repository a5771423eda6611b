// SPDX-License-Identifier: Apache-2.0
// The options sshd knows and what it demands of their arguments: sshd does not start over a word it does not know.
// Entry points: find_sshd_keyword, sshd_argument_error. Must not: read a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pindown {

enum class SshdKind {
  kUsePam,
  kPamService,
  kInclude,
  kMatch,
  kChoice,  // one of `choices`, in any case
  kNumber,  // 0 to INT_MAX
  kTime,    // "90", "1h30m"
  kWord,    // one word, not empty
  kWords,   // any number of words, none of them empty
  kAny,     // not judged here
};

struct SshdKeyword {
  std::string_view name;  // lower case
  SshdKind kind;
  bool global;               // not allowed within a Match block
  std::string_view choices;  // separated by blanks
};

/// In any case of letters; null: no OpenSSH from 7.4 to 10.2, and no patch of Debian or Red Hat known here, has it.
const SshdKeyword* find_sshd_keyword(std::string_view name);

/// Why sshd ends over these arguments, one clause; empty: it does not, or that is not judged.
std::string sshd_argument_error(const SshdKeyword& keyword, const std::vector<std::string>& arguments);

}  // namespace pindown
