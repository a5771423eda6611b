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

/// The lines of a text one by one, with their numbers: nothing is kept.
class TextLines {
 public:
  explicit TextLines(std::string_view text) : rest_(text) {}
  bool next(std::string_view& line) {
    if (rest_.empty()) return false;
    line = rest_.substr(0, rest_.find('\n'));
    rest_.remove_prefix(line.size() == rest_.size() ? line.size() : line.size() + 1);
    ++number_;
    return true;
  }
  std::size_t number() const { return number_; }

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

/// What all files of one collector may cost together: a line that is kept takes some 200 bytes.
struct ReadBudget {
  std::size_t bytes = 64U << 20;
  std::size_t lines = 200'000;
};

std::vector<ConfigLine> split_lines(std::string_view text, std::string_view path);
ConfigFile read_lines(const Host& host, const std::string& path, std::size_t max_bytes,
                      std::vector<std::string>& problems);
/// Without empty lines and comments (but for those so long that fgets(3) may cut them). Beyond the budget: kError.
ConfigFile read_lines(const Host& host, const std::string& path, std::size_t max_bytes,
                      std::vector<std::string>& problems, ReadBudget& budget);

/// At most 1,000 are kept.
void add_config_problem(std::vector<std::string>& problems, std::string text);

}  // namespace pindown
