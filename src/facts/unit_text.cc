// SPDX-License-Identifier: Apache-2.0
// See unit_text.h.
#include "facts/unit_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/text.h"

namespace pindown {
namespace {

constexpr std::size_t kLongLine = 1U << 20;  // src/basic/fileio.h LONG_LINE_MAX
constexpr std::string_view kBom = "\xef\xbb\xbf";

/// "\n", "\r", NUL and their combinations end a line, each at most once (src/basic/fileio.c read_line_full).
std::string_view take_line(std::string_view& rest) {
  const auto end = rest.find_first_of(std::string_view("\n\r\0", 3));
  const std::string_view line = rest.substr(0, end);
  if (end == std::string_view::npos) {
    rest = {};
    return line;
  }
  bool newline = false;
  bool carriage = false;
  std::size_t at = end;
  for (; at < rest.size(); ++at) {
    const char c = rest[at];
    if (c == '\0') {
      ++at;
      break;
    }
    if ((c == '\n' && newline) || (c == '\r' && carriage) || (c != '\n' && c != '\r')) break;
    newline = newline || c == '\n';
    carriage = carriage || c == '\r';
  }
  rest = rest.substr(at);
  return line;
}

/// Whether a backslash at the end of `text` escapes the line's end.
bool continues(std::string_view text) {
  const auto last = text.find_last_not_of('\\');
  const std::size_t count = last == std::string_view::npos ? text.size() : text.size() - last - 1;
  return count % 2 == 1;
}

/// Bytes of the character that starts `text`; 0: it is none (src/basic/utf8.c utf8_encoded_valid_unichar).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  std::uint32_t code = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
    code = code << 6 | (byte(i) & 0x3fU);
  }
  static constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool valid = code >= kLeast[length] && code < 0x110000 && (code & 0xfffff800U) != 0xd800 &&
                     !(code >= 0xfdd0 && code <= 0xfdef) && (code & 0xfffeU) != 0xfffe;
  return valid ? length : 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

/// src/basic/string-util.c string_is_safe.
bool is_safe(std::string_view name) {
  return std::ranges::none_of(
      name, [](char c) { return (c > 0 && c < ' ') || c == '"' || c == '\'' || c == '\\' || c == '\x7f'; });
}

class UnitReader {
 public:
  UnitReader(std::string_view path, std::string_view section, std::span<const std::string_view> keys)
      : path_(path), wanted_(section), keys_(keys) {}

  UnitText read(std::string_view text);

 private:
  void read_logical(std::string_view line);
  void read_section(std::string_view line);
  void stop(std::string_view line, std::string why);

  std::string path_;
  std::string_view wanted_;
  std::span<const std::string_view> keys_;
  UnitText out_;
  bool inside_ = false;
  std::size_t start_ = 0;  // the number of the line that the logical line starts with
};

void UnitReader::stop(std::string_view line, std::string why) {
  out_.stopped = Source{fmt::format("{}:{}", path_, start_), std::string(line), {}};
  out_.why = std::move(why);
}

void UnitReader::read_section(std::string_view line) {
  if (!line.ends_with(']')) return stop(line, "the section's name has no closing bracket");
  const std::string_view name = line.substr(1, line.size() < 2 ? 0 : line.size() - 2);
  if (!is_safe(name)) return stop(line, "the section's name has quotes or control characters");
  inside_ = name == wanted_;
}

void UnitReader::read_logical(std::string_view raw) {
  const std::string_view line = trim(raw);
  if (line.empty()) return;
  if (!is_utf8(line)) return stop(line, "it is not UTF-8");
  if (line[0] == '[') return read_section(line);
  const auto equals = line.find('=');
  if (!inside_ || equals == std::string_view::npos) return;
  const std::string_view key = trim(line.substr(0, equals));
  if (std::ranges::find(keys_, key) == keys_.end()) return;
  out_.assignments.push_back({std::string(wanted_),
                              std::string(key),
                              std::string(trim(line.substr(equals + 1))),
                              {fmt::format("{}:{}", path_, start_), std::string(raw), {}}});
}

UnitText UnitReader::read(std::string_view text) {
  std::string continuation;
  bool continued = false;
  bool bom_seen = false;
  for (std::size_t number = 1; !text.empty() && !out_.stopped; ++number) {
    std::string_view line = take_line(text);
    if (!continued) start_ = number;
    if (line.size() >= kLongLine || continuation.size() + line.size() > kLongLine) {
      stop(line.substr(0, 200), "the line is too long");
      break;
    }
    const auto first = line.find_first_not_of(" \t\n\r");
    // A comment between continued lines is left out, and the line goes on behind it.
    if (first != std::string_view::npos && (line[first] == '#' || line[first] == ';')) continue;
    if (!bom_seen) bom_seen = consume(line, kBom);
    if (continues(line)) {
      continuation.append(line.substr(0, line.size() - 1)).append(" ");
      continued = true;
      continue;
    }
    if (continued) continuation.append(line);
    read_logical(continued ? std::string_view(continuation) : line);
    continuation.clear();
    continued = false;
  }
  if (continued && !out_.stopped) read_logical(continuation);
  return std::move(out_);
}

}  // namespace

UnitText parse_unit_text(std::string_view text, std::string_view path, std::string_view section,
                         std::span<const std::string_view> keys) {
  return UnitReader(path, section, keys).read(text);
}

}  // namespace pindown
