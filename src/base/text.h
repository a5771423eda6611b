// SPDX-License-Identifier: Apache-2.0
// Small text helpers shared by every parser. ASCII only on purpose: logs and /proc are not locale-dependent, and a
// NBSP is not a blank to any program whose files we read.
// Must not: know any format, allocate more than its input, or print.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pindown {

constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
/// isspace(3) in the C locale.
constexpr bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_alpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_alnum(char c) {
  return is_digit(c) || is_alpha(c);
}
constexpr char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Removes blanks, tabs, CR and LF from both ends.
std::string_view trim(std::string_view text);
/// The line up to '\n' (without it, and without a '\r' before it); `rest` moves past it. False at the end of `rest`.
bool next_line(std::string_view& rest, std::string_view& line);
/// Words between runs of blanks and tabs.
std::vector<std::string_view> split_blanks(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
std::string lower(std::string_view text);
bool iequals(std::string_view a, std::string_view b);
bool icontains(std::string_view haystack, std::string_view needle);
bool contains(std::string_view haystack, std::string_view needle);
/// If `text` starts with `prefix`, drops it and returns true.
bool consume(std::string_view& text, std::string_view prefix);
/// Drops and returns the leading run of decimal digits (may be empty).
std::string_view take_digits(std::string_view& text);

/// The whole of `text` as a number, or nothing: no sign, no blanks, no overflow.
std::optional<std::uint64_t> parse_u64(std::string_view text);
/// The whole of `text` as hexadecimal, "0x" allowed.
std::optional<std::uint64_t> parse_hex(std::string_view text);
std::optional<std::int64_t> parse_i64(std::string_view text);

/// Safe on a terminal and valid UTF-8: control characters (C0, DEL, C1, bidi overrides) become \xNN or \u{NNNN},
/// invalid bytes become \xNN. Tabs become a blank. Output past `max_bytes` is cut and ends in "...".
std::string escape(std::string_view text, std::size_t max_bytes = 2000);
/// At most `columns` columns of already escaped text; longer text ends in "…" (or "..." when !utf8).
std::string shorten(std::string_view text, std::size_t columns, bool utf8 = true);
std::size_t display_width(std::string_view utf8_text);

}  // namespace pindown
