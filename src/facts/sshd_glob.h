// SPDX-License-Identifier: Apache-2.0
// One name of a path as sshd's own glob reads it (openbsd-compat/glob.c, which portable OpenSSH builds in on Linux and
// which differs from glibc's: only "!" negates a set). Entry point: compile_sshd_glob.
#pragma once

#include <bitset>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pindown {

class SshdGlob {
 public:
  struct Part {
    bool star = false;
    std::bitset<256> set;  // what one byte may be, unless it is a star
  };

  /// False: it names exactly `literal`.
  bool is_pattern() const { return pattern_; }
  std::string literal() const;
  /// "." and ".." are names like others here.
  bool matches(std::string_view name) const;

 private:
  friend std::optional<SshdGlob> compile_sshd_glob(std::string_view name);
  std::vector<Part> parts_;
  bool pattern_ = false;
  bool dot_ = false;  // it starts with a literal dot
};

/// Nothing: a character class that does not exist; such a pattern matches no file.
std::optional<SshdGlob> compile_sshd_glob(std::string_view name);

}  // namespace pindown
