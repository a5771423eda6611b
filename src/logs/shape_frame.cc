// SPDX-License-Identifier: Apache-2.0
// The outermost layers of a line: terminal control sequences, Docker's and the journal's JSON, the tag of the container
// runtime interface. Entry points: clean, scan_json_frame, scan_cri_tag. A line cut anywhere gives what could be read.
#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "logs/shape_parts.h"

namespace pindown::logs {
namespace {

constexpr char kEscape = '\x1b';
constexpr int kMaxDepth = 16;  // of JSON values that are skipped

/// Length of the control sequence at `at` (an ESC); at least 1 (ECMA-48: CSI, OSC and the other string sequences).
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  std::size_t end = at + 1;
  const unsigned kind = byte(end);
  if (kind == '[') {
    ++end;
    while (byte(end) >= 0x20 && byte(end) <= 0x3f) ++end;
    return (byte(end) >= 0x40 && byte(end) <= 0x7e ? end + 1 : end) - at;
  }
  if (kind == ']' || kind == 'P' || kind == 'X' || kind == '^' || kind == '_') {
    for (std::size_t i = end + 1; i < text.size(); ++i) {
      if (text[i] == '\a') return i + 1 - at;
      if (text[i] == kEscape && byte(i + 1) == '\\') return i + 2 - at;
    }
    return 2;  // never ended: the rest is text that must not be lost
  }
  while (byte(end) >= 0x20 && byte(end) <= 0x2f) ++end;
  return (byte(end) >= 0x30 && byte(end) <= 0x7e ? end + 1 : end) - at;
}

void append_utf8(std::string& out, unsigned code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  std::size_t at() const { return at_; }
  bool consume(char c) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool next_is(char c) {
    blanks();
    return at_ < text_.size() && text_[at_] == c;
  }
  /// Decodes a string; false if it is none or is cut (`out` then has what there was).
  bool string(std::string& out) {
    out.clear();
    if (!consume('"')) return false;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (c != '\\') {
        out += c;
      } else if (!escape(out)) {
        return false;
      }
    }
    return false;
  }
  /// The journal writes messages that are not plain text as an array of bytes.
  bool bytes(std::string& out) {
    out.clear();
    if (!consume('[')) return false;
    while (!consume(']')) {
      blanks();
      std::string_view rest = text_.substr(at_);
      const std::string_view digits = take_digits(rest);
      const auto value = parse_u64(digits);
      if (!value || *value > 255) return false;
      at_ += digits.size();
      out += static_cast<char>(*value);
      consume(',');
    }
    return true;
  }
  bool skip_value() {
    std::string ignored;
    int depth = 0;
    do {
      if (next_is('"')) {
        if (!string(ignored)) return false;
      } else if (next_is('{') || next_is('[')) {
        ++at_;
        if (++depth > kMaxDepth) return false;
        continue;
      } else if (next_is('}') || next_is(']')) {
        if (depth == 0) return false;
        ++at_;
        --depth;
      } else if (next_is(',') || next_is(':')) {
        if (depth == 0) return false;
        ++at_;
        continue;
      } else if (!scalar()) {
        return false;
      }
    } while (depth > 0);
    return true;
  }

 private:
  void blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  bool scalar() {
    const std::size_t start = at_;
    while (at_ < text_.size() && (is_alnum(text_[at_]) || text_[at_] == '.' || text_[at_] == '-' || text_[at_] == '+'))
      ++at_;
    return at_ > start;
  }
  std::optional<unsigned> hex4() {
    if (text_.size() < at_ + 4) return std::nullopt;
    const auto value = parse_u16(text_.substr(at_, 4));
    if (value) at_ += 4;
    return value;
  }
  static std::optional<unsigned> parse_u16(std::string_view hex) {
    if (hex[1] == 'x' || hex[1] == 'X') return std::nullopt;  // parse_hex would take "0x4f"
    const auto value = parse_hex(hex);
    return value ? std::optional<unsigned>(static_cast<unsigned>(*value)) : std::nullopt;
  }
  bool escape(std::string& out) {
    if (at_ >= text_.size()) return false;
    const char c = text_[at_++];
    constexpr std::string_view kNames = "bfnrt";
    constexpr std::string_view kValues = "\b\f\n\r\t";
    if (const std::size_t i = kNames.find(c); i != kNpos) {
      out += kValues[i];
    } else if (c == 'u') {
      return unicode(out);
    } else {
      if (c != '"' && c != '\\' && c != '/') out += '\\';
      out += c;
    }
    return true;
  }
  bool unicode(std::string& out) {
    if (text_.size() < at_ + 4) return false;
    const auto first = hex4();
    if (!first) return (out += "\\u", true);  // not JSON; keep what stands there
    unsigned code = *first;
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_).starts_with("\\u")) {
      at_ += 2;
      const auto second = hex4();
      if (!second) return false;
      const bool pair = *second >= 0xDC00 && *second < 0xE000;
      append_utf8(out, pair ? 0x10000 + ((code - 0xD800) << 10) + (*second - 0xDC00) : 0xFFFD);
      return true;
    }
    append_utf8(out, code >= 0xD800 && code < 0xE000 ? 0xFFFD : code);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::optional<std::int64_t> plain_number(const std::string& digits) {
  return digits.size() > 18 ? std::nullopt : parse_i64(digits);
}

/// Which part of the frame a key's string goes to; null: of no interest.
std::string* slot(JsonFrame& frame, std::string_view key, std::string& time, std::string& pid) {
  if (key == "log" || key == "MESSAGE") return &frame.text;
  if (key == "stream") return &frame.stream;
  if (key == "_HOSTNAME") return &frame.host;
  if (key == "time" || key == "__REALTIME_TIMESTAMP") return &time;
  if (key == "_PID") return &pid;
  return nullptr;
}

/// An inner quote without its backslash ends the string too early: take the rest up to the next key or the end.
void append_broken_rest(JsonFrame& frame, std::string_view rest) {
  const std::size_t end = std::min(rest.find("\",\"stream\""), rest.find("\", \"stream\""));
  std::string quoted = "\"\\\"";
  const std::string_view tail = rest.substr(0, end);
  for (std::size_t i = 0; i < tail.size(); ++i) {
    if (tail[i] == '"' && (i == 0 || tail[i - 1] != '\\')) quoted += '\\';
    quoted += tail[i];
  }
  quoted += '"';
  std::string decoded;
  JsonReader(quoted).string(decoded);
  frame.text += decoded;
}

/// One `"key": value`; false when the object is cut or malformed there.
bool read_member(JsonReader& reader, JsonFrame& frame, std::string& time, std::string& pid) {
  std::string key;
  if (!reader.string(key) || !reader.consume(':')) return false;
  if (key == "kubernetes") frame.kubernetes = true;
  const bool text = key == "log" || key == "MESSAGE";
  std::string* target = slot(frame, key, time, pid);
  if (target == nullptr || !(reader.next_is('"') || (text && reader.next_is('[')))) return reader.skip_value();
  if (text) {
    frame.found = true;
    frame.journal = key == "MESSAGE";
  }
  return reader.next_is('[') ? reader.bytes(*target) : reader.string(*target);
}

}  // namespace

bool needs_cleaning(std::string_view text) {
  if (text.empty()) return false;
  return std::memchr(text.data(), kEscape, text.size()) != nullptr ||
         std::memchr(text.data(), 0, text.size()) != nullptr || text.starts_with("\xEF\xBB\xBF") ||
         text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
}

std::string clean(std::string_view text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) text.remove_prefix(2);
  std::string out;
  out.reserve(text.size());
  // Known beforehand, so that many unterminated string sequences don't each look for an end that isn't there.
  const std::size_t bell = text.rfind('\a');
  const std::size_t terminator = text.rfind("\x1b\\");
  const std::size_t last_end = std::max(bell == kNpos ? 0 : bell, terminator == kNpos ? 0 : terminator);
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == kEscape) {
      const bool string_kind = at + 1 < text.size() && std::string_view("]PX^_").find(text[at + 1]) != kNpos;
      at += string_kind && last_end < at + 2 ? 2 : sequence_length(text, at);
    } else {
      if (text[at] != '\0') out += text[at];
      ++at;
    }
  }
  while (out.starts_with("\xEF\xBB\xBF")) out.erase(0, 3);
  return out;
}

JsonFrame scan_json_frame(std::string_view text) {
  JsonFrame frame;
  JsonReader reader(text);
  if (!reader.consume('{') || !reader.next_is('"')) return frame;
  std::string time;
  std::string pid;
  for (int members = 0; members < 256; ++members) {
    const bool had_text = frame.found;
    if (!read_member(reader, frame, time, pid)) {
      frame.cut = true;
      break;
    }
    if (reader.consume('}')) break;
    if (reader.consume(',')) continue;
    frame.cut = true;
    if (frame.found && !had_text) append_broken_rest(frame, text.substr(reader.at()));
    break;
  }
  frame.pid = plain_number(pid);
  frame.time_us = frame.journal ? plain_number(time) : scan_iso(time).time_us;
  return frame;
}

CriTag scan_cri_tag(std::string_view text) {
  CriTag tag;
  std::string_view rest = text;
  if (!consume(rest, " ")) return tag;
  tag.stream = rest.substr(0, 6);
  if (!consume(rest, "stdout ") && !consume(rest, "stderr ")) return tag;
  // Tags are joined by ':' and only the first one is defined: F(ull) or P(artial).
  tag.partial = rest.starts_with('P');
  if (!consume(rest, "P") && !consume(rest, "F")) return tag;
  if (rest.starts_with(':')) rest.remove_prefix(std::min(rest.find(' '), rest.size()));
  if (!rest.empty() && !consume(rest, " ")) return tag;
  tag.length = text.size() - rest.size();
  return tag;
}

}  // namespace pindown::logs
