// SPDX-License-Identifier: Apache-2.0
// What grep, head, wc and the like do to the output they filter. Entry points: parse_grep, apply_filter. Patterns are
// kept as text: nothing here matches them.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/paste_internal.h"

namespace pindown::paste {
namespace {

void apply_grep_letters(std::string_view cluster, GrepWords& out) {
  for (const char c : cluster) {
    out.counts |= c == 'c';
    out.quiet |= c == 'q' || c == 'l' || c == 'L';
    out.reshapes |= c == 'o';
    out.grep.ignore_case |= c == 'i';
    out.grep.invert |= c == 'v';
    out.grep.whole_word |= c == 'w' || c == 'x';
    out.grep.numbered |= c == 'n';
  }
}

bool is_grep(std::string_view program) {
  return program == "grep" || program == "egrep" || program == "fgrep" || program == "rg" || program == "zgrep";
}

}  // namespace

GrepWords parse_grep(std::span<const std::string> words) {
  GrepWords out;
  bool has_pattern = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.starts_with("--")) continue;
    if (word.size() > 1 && word[0] == '-') {
      const char last = word.back();
      apply_grep_letters(std::string_view(word).substr(1), out);
      const bool valued = last == 'A' || last == 'B' || last == 'C' || last == 'm' || last == 'e';
      if (!valued || i + 1 >= words.size()) continue;
      ++i;
      if (last != 'e' || has_pattern) continue;
      out.grep.pattern = words[i];
      has_pattern = true;
    } else if (!has_pattern) {
      out.grep.pattern = word;
      has_pattern = true;
    } else {
      out.files.push_back(word);
    }
  }
  return out;
}

bool apply_filter(const SimpleCommand& filter, Question& q) {
  if (filter.to_file) return false;
  const std::string_view program = base_name(filter.words[0]);
  if (is_grep(program)) {
    GrepWords words = parse_grep(filter.words);
    if (q.grep.pattern.empty()) q.grep = std::move(words.grep);
    q.partial = true;
    q.counts |= words.counts;
    q.reshaped |= words.reshapes;
    return !words.quiet;
  }
  // dshbak(1), clubak(1): the lines of each host under its name (logs/shape.h)
  static constexpr std::array<std::string_view, 10> kNeutral = {"cat",  "less",   "more", "tee",    "sort",
                                                                "uniq", "column", "tr",   "dshbak", "clubak"};
  if (program == "head" || program == "tail") {
    q.partial = true;
  } else if (program == "wc") {
    q.counts = true;
  } else if (std::ranges::find(kNeutral, program) == kNeutral.end()) {
    q.reshaped = true;
    q.partial = true;
  }
  return true;
}

}  // namespace pindown::paste
