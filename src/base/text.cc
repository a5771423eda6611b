// SPDX-License-Identifier: Apache-2.0
// See text.h.
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace pindown {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

bool next_line(std::string_view& rest, std::string_view& line) {
  if (rest.empty()) return false;
  const auto end = rest.find('\n');
  line = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return true;
}

std::vector<std::string_view> split_blanks(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while (at < text.size()) {
    while (at < text.size() && is_blank(text[at])) ++at;
    const std::size_t start = at;
    while (at < text.size() && !is_blank(text[at])) ++at;
    if (at > start) words.push_back(text.substr(start, at - start));
  }
  return words;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), to_lower);
  return out;
}

bool iequals(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return to_lower(x) == to_lower(y); });
}

bool icontains(std::string_view haystack, std::string_view needle) {
  return !std::ranges::search(haystack, needle, [](char x, char y) { return to_lower(x) == to_lower(y); }).empty() ||
         needle.empty();
}

bool contains(std::string_view haystack, std::string_view needle) {
  return haystack.find(needle) != std::string_view::npos;
}

bool consume(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::string_view take_digits(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  const std::string_view digits = text.substr(0, n);
  text.remove_prefix(n);
  return digits;
}

namespace {

template <class T>
std::optional<T> parse_whole(std::string_view text, int base) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::uint64_t> parse_u64(std::string_view text) {
  return parse_whole<std::uint64_t>(text, 10);
}

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  return parse_whole<std::uint64_t>(text, 16);
}

std::optional<std::int64_t> parse_i64(std::string_view text) {
  return parse_whole<std::int64_t>(text, 10);
}

namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;  // 0: not valid UTF-8 here
};

CodePoint decode_utf8(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  char32_t value = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte & 0x3FU);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF) return {};
  return {value, length};
}

/// Characters that steer a terminal or reorder text: C1 controls, bidi marks and overrides, zero width, line
/// separators, BOM.
bool steers(char32_t c) {
  return (c >= 0x80 && c <= 0x9F) || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x2069) || c == 0xFEFF || c == 0x061C || (c >= 0xE0000 && c <= 0xE007F);
}

void append_escaped(std::string& out, CodePoint point, std::string_view bytes) {
  if (point.length == 0 || point.value < 0x20 || point.value == 0x7F) {
    if (bytes[0] == '\t') {
      out += ' ';
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes[0]));
    }
  } else if (steers(point.value)) {
    out += fmt::format("\\u{{{:x}}}", static_cast<std::uint32_t>(point.value));
  } else {
    out.append(bytes);
  }
}

}  // namespace

std::string escape(std::string_view text, std::size_t max_bytes) {
  std::string out;
  out.reserve(std::min(text.size(), max_bytes) + 4);
  while (!text.empty()) {
    if (out.size() >= max_bytes) return out += "...";
    const CodePoint point = decode_utf8(text);
    const std::size_t length = point.length == 0 ? 1 : point.length;
    append_escaped(out, point, text.substr(0, length));
    text.remove_prefix(length);
  }
  return out;
}

namespace {

/// East Asian wide and emoji blocks take two columns in a terminal (Unicode TR11, W and F, by block).
bool is_wide(char32_t c) {
  return (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xA960 && c <= 0xA97C) ||
         (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F) ||
         (c >= 0xFF00 && c <= 0xFF60) || (c >= 0xFFE0 && c <= 0xFFE6) || (c >= 0x1F300 && c <= 0x1FAFF) ||
         (c >= 0x20000 && c <= 0x3FFFD);
}

/// Bytes of the longest beginning of `text` that fits into `columns`, and its width.
std::pair<std::size_t, std::size_t> fitting(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  std::size_t width = 0;
  while (at < text.size()) {
    const CodePoint point = decode_utf8(text.substr(at));
    const std::size_t wide = is_wide(point.value) ? 2 : 1;
    if (width + wide > columns) break;
    width += wide;
    at += std::max<std::size_t>(point.length, 1);
  }
  return {at, width};
}

}  // namespace

std::size_t display_width(std::string_view utf8_text) {
  return fitting(utf8_text, std::string_view::npos - 2).second;
}

std::string shorten(std::string_view text, std::size_t columns, bool utf8) {
  if (display_width(text) <= columns) return std::string(text);
  const std::string_view mark = utf8 ? "…" : "...";
  const std::size_t keep = columns > display_width(mark) ? columns - display_width(mark) : 0;
  return std::string(trim(text.substr(0, fitting(text, keep).first))) + std::string(mark);
}

}  // namespace pindown
