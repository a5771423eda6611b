// SPDX-License-Identifier: Apache-2.0
// See sshd_glob.h.
#include "facts/sshd_glob.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.h"

namespace pindown {
namespace {

/// A byte of the pattern; an escaped one is never special.
using Char = std::uint16_t;
constexpr Char kEscaped = 0x100;

std::vector<Char> unescape(std::string_view name) {
  std::vector<Char> out;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const bool escape = name[at] == '\\';
    if (escape && at + 1 < name.size()) ++at;
    out.push_back(static_cast<Char>(static_cast<unsigned char>(name[at]) | (escape ? kEscaped : 0)));
  }
  return out;
}

bool in_class(std::string_view name, int byte) {
  const char c = static_cast<char>(byte);
  const bool print = byte >= 0x20 && byte < 0x7f;
  if (name == "alnum") return is_alnum(c);
  if (name == "alpha") return is_alpha(c);
  if (name == "blank") return is_blank(c);
  if (name == "cntrl") return byte < 0x20 || byte == 0x7f;
  if (name == "digit") return is_digit(c);
  if (name == "graph") return print && c != ' ';
  if (name == "lower") return is_alpha(c) && to_lower(c) == c;
  if (name == "print") return print;
  if (name == "punct") return print && c != ' ' && !is_alnum(c);
  if (name == "space") return c == ' ' || (byte >= 9 && byte <= 13);
  if (name == "upper") return is_alpha(c) && to_lower(c) != c;
  return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'f');  // xdigit
}

constexpr auto kClasses = std::to_array<std::string_view>(
    {"alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit"});

/// "[:NAME:]" at `at`, where `at` is on the bracket; moves behind it. kNone: it is not one.
enum class ClassResult { kNone, kTaken, kUnknown };
ClassResult take_class(const std::vector<Char>& text, std::size_t& at, std::bitset<256>& set) {
  if (at + 1 >= text.size() || text[at] != '[' || text[at + 1] != ':') return ClassResult::kNone;
  const auto colon = std::find(text.begin() + static_cast<std::ptrdiff_t>(at) + 2, text.end(), Char{':'});
  if (colon == text.end() || colon + 1 == text.end() || colon[1] != ']') return ClassResult::kNone;
  std::string name;
  for (auto c = text.begin() + static_cast<std::ptrdiff_t>(at) + 2; c != colon; ++c) name += static_cast<char>(*c);
  if (std::ranges::find(kClasses, name) == kClasses.end()) return ClassResult::kUnknown;
  for (int byte = 0; byte < 256; ++byte) {
    if (in_class(name, byte)) set.set(static_cast<std::size_t>(byte));
  }
  at = static_cast<std::size_t>(colon - text.begin()) + 2;
  return ClassResult::kTaken;
}

/// The inside of "[…]" from `at` on; moves behind the bracket. False: such a set matches nothing at all.
bool take_set(const std::vector<Char>& text, std::size_t& at, std::bitset<256>& set) {
  const bool negated = text[at] == '!';
  if (negated) ++at;
  for (bool first = true; at < text.size(); first = false) {
    const ClassResult result = take_class(text, at, set);
    if (result == ClassResult::kUnknown) return false;
    if (result == ClassResult::kTaken) continue;
    if (!first && text[at] == ']') {
      ++at;
      if (negated) set.flip();
      return true;
    }
    const std::size_t low = text[at] & 0xffU;
    std::size_t high = low;
    if (at + 2 < text.size() && text[at + 1] == '-' && text[at + 2] != ']') {
      high = text[at + 2] & 0xffU;
      at += 2;
    }
    ++at;
    for (std::size_t byte = low; byte <= high; ++byte) set.set(byte);
  }
  return false;
}

/// Whether the bracket at `at` opens a set: another one closes it after at least one character.
bool opens_set(const std::vector<Char>& text, std::size_t at) {
  std::size_t first = at + 1;
  if (first < text.size() && text[first] == '!') ++first;
  if (first >= text.size()) return false;
  return std::find(text.begin() + static_cast<std::ptrdiff_t>(first) + 1, text.end(), Char{']'}) != text.end();
}

}  // namespace

std::optional<SshdGlob> compile_sshd_glob(std::string_view name) {
  const std::vector<Char> text = unescape(name);
  SshdGlob out;
  out.dot_ = !text.empty() && (text[0] & 0xffU) == '.';
  for (std::size_t at = 0; at < text.size();) {
    const Char c = text[at];
    SshdGlob::Part part;
    const bool special = c == '*' || c == '?' || (c == '[' && opens_set(text, at));
    out.pattern_ = out.pattern_ || special;
    part.star = c == '*';
    if (c == '?') part.set.set();
    if (!special) part.set.set(c & 0xffU);
    ++at;
    if (special && c == '[' && !take_set(text, at, part.set)) return std::nullopt;
    if (!part.star || out.parts_.empty() || !out.parts_.back().star) out.parts_.push_back(part);
  }
  return out;
}

std::string SshdGlob::literal() const {
  std::string out;
  for (const Part& part : parts_) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      if (part.set.test(byte)) out += static_cast<char>(byte);
    }
  }
  return out;
}

bool SshdGlob::matches(std::string_view name) const {
  if (name.starts_with('.') && !dot_) return false;
  std::size_t part = 0;
  std::size_t at = 0;
  std::optional<std::size_t> star;  // the last one tried, and where the name goes on if it takes one byte more
  std::size_t retry = 0;
  while (part < parts_.size() || at < name.size()) {
    if (part < parts_.size() && parts_[part].star) {
      star = part++;
      retry = at + 1;
      continue;
    }
    if (part < parts_.size() && at < name.size() && parts_[part].set.test(static_cast<unsigned char>(name[at]))) {
      ++part;
      ++at;
      continue;
    }
    if (!star || retry > name.size()) return false;
    part = *star + 1;
    at = retry++;
  }
  return true;
}

}  // namespace pindown
