// SPDX-License-Identifier: Apache-2.0
// See sshd_words.h.
#include "facts/sshd_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace pindown {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::string_view after_blanks(std::string_view text) {
  const auto at = text.find_first_not_of(kBlanks);
  return at == std::string_view::npos ? std::string_view{} : text.substr(at);
}

/// One word of split_sshd_arguments; `at` moves to the blank behind it, or the end. False: a quote is not closed.
bool take_argument(std::string_view text, std::size_t& at, std::string& word) {
  char quote = '\0';
  for (; at < text.size(); ++at) {
    const char c = text[at];
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if (c == '\\' && (next == '\'' || next == '"' || next == '\\' || (quote == '\0' && next == ' '))) {
      word += next;
      ++at;
    } else if (quote == '\0' && is_blank(c)) {
      return true;
    } else if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
    } else if (quote != '\0' && c == quote) {
      quote = '\0';
    } else {
      word += c;
    }
  }
  return quote == '\0';
}

constexpr auto kCriteria = std::to_array<std::string_view>(
    {"user", "group", "host", "address", "localaddress", "localport", "rdomain", "version"});

/// misc.c a2port: a number to 65535, or a service's name, which is not looked up here.
bool is_bad_port(std::string_view word) {
  const auto number = parse_u64(word);
  const bool digits = std::ranges::all_of(word, is_digit);
  return digits && (!number || *number > 65535);
}

std::string bad_match(std::string_view what, std::string_view word) {
  return fmt::format("{} '{}' in Match", what, shorten(escape(word, 200), 40));
}

}  // namespace

std::optional<std::string> next_sshd_word(std::optional<std::string_view>& rest) {
  if (!rest) return std::nullopt;
  const std::string_view text = *rest;
  const auto at = text.find_first_of(" \t\r\n\"=");
  if (at == std::string_view::npos) {
    rest.reset();
    return std::string(text);
  }
  if (text[at] == '"') {  // the quote falls out, and what stood before it stays part of the word
    const auto close = text.find('"', at + 1);
    if (close == std::string_view::npos) {
      rest.reset();
      return std::nullopt;
    }
    rest = after_blanks(text.substr(close + 1));
    return std::string(text.substr(0, at)).append(text.substr(at + 1, close - at - 1));
  }
  std::string_view behind = after_blanks(text.substr(at + 1));
  if (text[at] != '=' && behind.starts_with('=')) behind = after_blanks(behind.substr(1));
  rest = behind;
  return std::string(text.substr(0, at));
}

std::optional<std::vector<std::string>> split_sshd_arguments(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (is_blank(text[at])) continue;
    if (text[at] == '#') break;
    if (!take_argument(text, at, words.emplace_back())) return std::nullopt;
  }
  return words;
}

SshdMatch parse_sshd_match(std::string_view text) {
  SshdMatch out;
  std::optional<std::string_view> rest = text;
  int criteria = 0;
  for (auto word = next_sshd_word(rest); word && !word->empty(); word = next_sshd_word(rest)) {
    if (word->starts_with('#')) break;
    ++criteria;
    if (iequals(*word, "invalid-user")) continue;  // since 9.9
    const auto argument = next_sshd_word(rest);
    const bool none = !argument || argument->empty() || argument->starts_with('#');
    if (iequals(*word, "all")) {
      out.all = criteria == 1 && none;
      if (!out.all) out.error = "'all' cannot be combined with other words in Match";
      return out;
    }
    out.depends_on_version = out.depends_on_version || iequals(*word, "version");
    if (std::ranges::none_of(kCriteria, [&](std::string_view known) { return iequals(*word, known); }))
      out.error = bad_match("unknown word", *word);
    else if (none)
      out.error = bad_match("nothing after", *word);
    else if (iequals(*word, "localport") && is_bad_port(*argument))
      out.error = bad_match("no such port", *argument);
    if (!out.error.empty()) return out;
  }
  if (criteria == 0) out.error = "Match says nothing to match";
  return out;
}

}  // namespace pindown
