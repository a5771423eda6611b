// SPDX-License-Identifier: Apache-2.0
// See style.h.
#include "render/style.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace pindown {

std::string paint(const Style& style, Tone tone, std::string_view text) {
  static constexpr std::array<std::string_view, 7> kCodes = {"", "1", "2", "31", "33", "32", "36"};
  const auto code = kCodes[static_cast<std::size_t>(tone)];
  if (!style.color || code.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

namespace {

constexpr std::pair<std::string_view, std::string_view> kSigns[] = {
    {"✗", "x"},  {"✓", "ok"},  {"?", "?"},  {"!", "!"},  {"·", "-"},  {"◀", "<"},
    {"└", "`-"}, {"…", "..."}, {"→", "->"}, {"≥", ">="}, {"≤", "<="}, {"×", "x"},
};

/// The code point at the start of a text pindown made itself: valid UTF-8 by then.
std::pair<std::uint32_t, std::size_t> code_point(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  std::uint32_t value = length == 1 ? lead : lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length && i < text.size(); ++i)
    value = (value << 6) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  return {value, std::min(length, text.size())};
}

}  // namespace

std::string plain_ascii(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    if (static_cast<unsigned char>(text[0]) < 0x80) {
      out += text[0];
      text.remove_prefix(1);
      continue;
    }
    bool known = false;
    for (const auto& [sign, ascii] : kSigns) {
      if (!consume(text, sign)) continue;
      out += ascii;
      known = true;
      break;
    }
    if (known) continue;
    const auto [value, length] = code_point(text);
    out += fmt::format("\\u{{{:x}}}", value);
    text.remove_prefix(length);
  }
  return out;
}

namespace {

/// Takes up to `columns` columns, at least one code point, from the front of `word`.
std::string_view take_columns(std::string_view& word, std::size_t columns) {
  std::size_t at = 0;
  std::size_t width = 0;
  while (at < word.size()) {
    const auto [value, length] = code_point(word.substr(at));
    const std::size_t wide = display_width(word.substr(at, length));
    if (at > 0 && width + wide > columns) break;
    width += wide;
    at += length;
  }
  const std::string_view taken = word.substr(0, at);
  word.remove_prefix(at);
  return taken;
}

}  // namespace

std::string wrap(std::string_view text, std::size_t width, std::size_t indent, LongWords words, std::size_t used) {
  std::string out;
  std::size_t column = std::max(used, indent);
  bool first = true;  // of its line
  const auto new_line = [&] {
    out += '\n';
    out.append(indent, ' ');
    column = indent;
    first = true;
  };
  for (std::string_view word : split_blanks(text)) {
    const std::size_t size = display_width(word);
    if (!first && column + 1 + size > width) new_line();
    while (words == LongWords::kBreak && column + display_width(word) > width && width > indent) {
      out += take_columns(word, width - column);
      new_line();
    }
    if (word.empty()) continue;
    if (!first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += display_width(word);
    first = false;
  }
  return out;
}

}  // namespace pindown
