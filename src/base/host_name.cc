// SPDX-License-Identifier: Apache-2.0
// See host_name.h.
#include "base/host_name.h"

#include <algorithm>

#include "base/text.h"

namespace pindown {
namespace {

constexpr std::size_t kMostName = 253;    // RFC 1035, 2.3.4
constexpr std::size_t kMostSet = 1024;    // of text; a longer one has no member that is looked for
constexpr std::size_t kMostBrackets = 3;  // "rack[1-2]node[01-16]"
constexpr std::size_t kMostDigits = 9;    // of one number

bool same_name(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (a.size() == b.size()) return iequals(a, b);
  const bool name = std::ranges::any_of(a, is_alpha);
  return name && b[a.size()] == '.' && iequals(a, b.substr(0, a.size()));
}

/// "01-04" has "03" but not "3": folded numbers keep their width, unless the first has no leading zero.
bool range_has(std::string_view range, std::string_view number) {
  const auto dash = range.find('-');
  if (dash == std::string_view::npos) return range == number;
  const std::string_view low = range.substr(0, dash);
  const auto first = parse_u64(low);
  const auto last = parse_u64(range.substr(dash + 1));
  const auto value = parse_u64(number);
  if (!first || !last || !value || *value < *first || *value > *last) return false;
  const bool padded = low.size() > 1 && low.front() == '0';
  return padded ? number.size() == low.size() : number.size() == 1 || number.front() != '0';
}

/// The end of the part up to the next comma outside brackets.
std::size_t member_end(std::string_view set) {
  int depth = 0;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (set[i] == '[') ++depth;
    if (set[i] == ']') --depth;
    if (set[i] == ',' && depth == 0) return i;
  }
  return set.size();
}

/// `name`, without its domain, against "rack[1-2]node[01-16]".
bool folded_has(std::string_view folded, std::string_view name, std::size_t brackets) {
  const auto open = folded.find('[');
  if (open == std::string_view::npos) return iequals(folded, name);
  const auto close = folded.find(']', open);
  if (close == std::string_view::npos || brackets == 0) return false;
  if (name.size() < open || !iequals(name.substr(0, open), folded.substr(0, open))) return false;
  name.remove_prefix(open);
  const auto digits = std::min(name.find_first_not_of("0123456789"), name.size());
  if (digits > kMostDigits) return false;
  // The number ends where the digits do, unless the next bracket goes on with them: "n[1-2][0-9]".
  const std::string_view behind = folded.substr(close + 1);
  const bool goes_on = !behind.empty() && (behind.front() == '[' || is_digit(behind.front()));
  const auto ranges = split(folded.substr(open + 1, close - open - 1), ',');
  for (std::size_t size = digits; size > 0 && (goes_on || size == digits); --size) {
    const std::string_view number = name.substr(0, size);
    const bool here =
        std::ranges::any_of(ranges, [number](std::string_view range) { return range_has(range, number); });
    if (here && folded_has(behind, name.substr(size), brackets - 1)) return true;
  }
  return false;
}

bool set_has(std::string_view set, std::string_view name) {
  if (set.size() > kMostSet || name.size() > kMostName) return false;
  const std::string_view plain = name.substr(0, name.find('.'));
  while (!set.empty()) {
    const std::size_t end = member_end(set);
    const std::string_view member = set.substr(0, end);
    if (same_name(member, name) || folded_has(member, name, kMostBrackets) ||
        folded_has(member, plain, kMostBrackets)) {
      return true;
    }
    set.remove_prefix(std::min(set.size(), end + 1));
  }
  return false;
}

}  // namespace

bool names_several(std::string_view host) {
  return contains(host, "[") || contains(host, ",");
}

bool same_host(std::string_view a, std::string_view b) {
  if (a == kUnknownHost || b == kUnknownHost) return false;
  if (a == b) return true;
  if (names_several(a) && !names_several(b)) return set_has(a, b);
  if (names_several(b) && !names_several(a)) return set_has(b, a);
  return same_name(a, b);
}

bool is_node_set(std::string_view text) {
  if (text.empty() || !is_alnum(text.front())) return false;
  bool inside = false;
  for (const char c : text) {
    if (c == '[' || c == ']') {
      if (inside == (c == '[')) return false;
      inside = c == '[';
    } else if (!is_alnum(c) && c != '.' && c != '-' && c != '_' && c != ',') {
      return false;
    }
  }
  return !inside && std::ranges::any_of(text, is_alpha);
}

}  // namespace pindown
