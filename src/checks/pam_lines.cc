// SPDX-License-Identifier: Apache-2.0
// What pam_limits makes of a line of limits.conf(5). Must not: judge whether a limit is enough, or guess group
// membership.
#include "checks/pam_lines.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/size.h"
#include "base/text.h"

namespace pindown {
namespace {

constexpr std::string_view kItem = "memlock";
constexpr std::string_view kSpaces = " \t\r\n\v\f";

std::string_view cut_value(std::string_view value, PamParser parser) {
  if (parser == PamParser::kFirstWord) {
    const auto begin = value.find_first_not_of(kSpaces);
    if (begin == std::string_view::npos) return {};
    value.remove_prefix(begin);
    return value.substr(0, value.find_first_of(kSpaces));
  }
  while (!value.empty() && is_blank(value.front())) value.remove_prefix(1);
  while (!value.empty() && is_blank(value.back())) value.remove_suffix(1);
  return value;
}

/// strtoull(3), base 10: leading space, a sign (minus negates modulo 2^64), the digits that follow. Nothing without a
/// digit.
std::optional<std::uint64_t> leading_number(std::string_view text) {
  const auto begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return std::nullopt;
  text.remove_prefix(begin);
  const bool minus = text.starts_with('-');
  if (minus || text.starts_with('+')) text.remove_prefix(1);
  const std::string_view digits = take_digits(text);
  if (digits.empty()) return std::nullopt;
  std::uint64_t number = 0;
  for (const char digit : digits) {
    const auto step = static_cast<std::uint64_t>(digit - '0');
    if (number > (Limit::kInfinity - step) / 10) return Limit::kInfinity;  // ERANGE gives ULLONG_MAX
    number = number * 10 + step;
  }
  return minus ? std::uint64_t{0} - number : number;
}

bool says_unlimited(std::string_view word) {
  return iequals(word, "unlimited") || iequals(word, "infinity") || word == "-1" || word == "-";
}

/// Edits (insert, delete, replace, swap of neighbours) from `a` to `b`; words here are a few letters long.
std::size_t edits(std::string_view a, std::string_view b) {
  constexpr std::size_t kMost = 16;
  if (a.size() >= kMost || b.size() >= kMost) return kMost;
  std::array<std::array<std::size_t, kMost>, kMost> cost{};
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

/// Words people write for memlock; PAM knows none of them.
bool meant_memlock(std::string_view item) {
  const std::string word = lower(item);
  for (const std::string_view known : {"mem_lock", "mem-lock", "memlocked", "lockedmem", "lockedmemory",
                                       "max_locked_memory", "rlimit_memlock", "locked"}) {
    if (word == known) return true;
  }
  return word != kItem && word.size() >= 5 && edits(word, kItem) <= 2;
}

/// Editors and `cat -A` show a CR as ^M; a lone CR arrives as it is.
bool ends_in_carriage_return(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '$')) text.remove_suffix(1);
  return text.ends_with('\r') || text.ends_with("^M");
}

std::string_view without_carriage_return(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '$' || text.back() == '\r')) text.remove_suffix(1);
  if (text.ends_with("^M")) text.remove_suffix(2);
  return text;
}

/// A unit or notation after the number: PAM stops reading before it and takes the number as KiB.
std::optional<LineProblem> number_problem(std::string_view word, Limit reads_as) {
  std::string_view rest = word;
  if (rest.starts_with('+')) rest.remove_prefix(1);
  const std::string_view digits = take_digits(rest);
  if (digits.empty() || rest.empty() || rest == "K" || iequals(rest, "k") || iequals(rest, "kb") ||
      iequals(rest, "kib")) {
    return std::nullopt;
  }
  if (digits == "0" && (rest.front() == 'x' || rest.front() == 'X')) {
    return LineProblem{"PAM reads decimal digits only: this is 0, and a limit of 0 forbids locking altogether",
                       reads_as};
  }
  const char unit = to_lower(rest.front());
  if (unit == 'm' || unit == 'g' || unit == 't' || unit == 'p' || unit == 'b') {
    return LineProblem{"PAM knows no units: it reads the digits before the letter as KiB, " + format_limit(reads_as),
                       reads_as};
  }
  if (rest.front() == '.' || rest.front() == ',' || unit == 'e' || rest.front() == '_' || rest.front() == '*') {
    return LineProblem{"PAM stops at the first character that is no digit and reads " + format_limit(reads_as),
                       reads_as};
  }
  return std::nullopt;
}

std::optional<LineProblem> value_problem(std::string_view raw) {
  const bool carriage_return = ends_in_carriage_return(raw);
  const std::string_view value = without_carriage_return(raw);
  const std::string_view word = cut_value(value, PamParser::kFirstWord);
  const auto old_reading = pam_value(word, PamParser::kFirstWord);
  if (!old_reading) return LineProblem{"PAM knows no such value and skips the line", std::nullopt};
  if (says_unlimited(word)) {
    if (carriage_return) {
      return LineProblem{"the line ends in a carriage return; Linux-PAM 1.6 and newer skip it", std::nullopt, true};
    }
    if (cut_value(value, PamParser::kRestOfLine) != word) {
      return LineProblem{"words follow the value; Linux-PAM 1.6 and newer skip the line", std::nullopt, true};
    }
    return std::nullopt;
  }
  return number_problem(word, *old_reading);
}

/// The value with the words that follow it, up to a comment: as the line has it, else the field alone.
std::string_view whole_value(const LimitsConfLine& line) {
  std::string_view text = line.source.text;
  text = text.substr(0, text.find('#'));
  const auto item = lower(text).rfind(kItem);
  if (item == std::string::npos) return line.value;
  text.remove_prefix(item + kItem.size());
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return !line.value.empty() && text.starts_with(line.value) ? text : std::string_view(line.value);
}

std::optional<LineProblem> domain_problem(std::string_view domain) {
  if (pam_class(domain) != PamClass::kNever) return std::nullopt;
  if (domain.starts_with("\xef\xbb\xbf")) {
    return LineProblem{"the file begins with a byte order mark, which becomes part of the first word", std::nullopt};
  }
  if (domain.starts_with('%')) return LineProblem{"a domain with % counts for maxlogins only", std::nullopt};
  return LineProblem{"PAM takes the first word as one literal name: no lists, no quotes, no patterns", std::nullopt};
}

bool is_uid_range(std::string_view domain) {
  const std::string_view low = take_digits(domain);
  if (!consume(domain, ":")) return false;
  const std::string_view high = take_digits(domain);
  return domain.empty() && !(low.empty() && high.empty());
}

/// "min:max", "min:" and ":uid" (exactly that uid), pam_limits.c parse_uid_range().
bool range_has_root(std::string_view domain) {
  const std::string_view low = take_digits(domain);
  consume(domain, ":");
  const std::string_view high = take_digits(domain);
  if (low.empty()) return parse_u64(high) == std::uint64_t{0};
  return parse_u64(low) == std::uint64_t{0};
}

/// Equal class: the later line wins (">" in pam_limits.c keeps only what is more specific).
void take(std::optional<Limit>& slot, const LimitsConfLine*& by, PamClass& by_class, const LimitsConfLine& line,
          Limit value) {
  const PamClass its = pam_class(line.domain);
  if (by != nullptr && by_class < its) return;
  slot = value;
  by = &line;
  by_class = its;
}

}  // namespace

std::optional<Limit> pam_value(std::string_view value, PamParser parser) {
  const std::string_view word = cut_value(value, parser);
  if (says_unlimited(word)) return Limit::unlimited();
  const auto number = leading_number(word);
  if (!number) return std::nullopt;
  return Limit::of_kib(*number);
}

PamClass pam_class(std::string_view domain) {
  if (domain == "*") return PamClass::kDefault;
  if (domain.empty() || domain.starts_with('%')) return PamClass::kNever;
  for (const char c : domain) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '*' || c == ',' || c == '"' || c == '\'' || c == '?' || byte < 0x21) return PamClass::kNever;
  }
  if (domain.starts_with("\xef\xbb\xbf") || contains(domain, "\xc2\xa0")) return PamClass::kNever;
  return domain.starts_with('@') ? PamClass::kGroup : PamClass::kUser;
}

LineSides pam_type(std::string_view type) {
  if (type == "-") return {true, true};
  return {iequals(type, "soft"), iequals(type, "hard")};
}

bool is_memlock_line(const LimitsConfLine& line) {
  return iequals(line.item, kItem);
}

std::optional<LineProblem> line_problem(const LimitsConfLine& line) {
  const LineSides type = pam_type(line.type);
  const bool any_type = type.soft || type.hard;
  if (!is_memlock_line(line)) {
    if (!meant_memlock(line.item) || (!any_type && edits(lower(line.type), "soft") > 2)) return std::nullopt;
    return LineProblem{"PAM knows no item of that name; it is spelled memlock", std::nullopt};
  }
  if (!any_type) return LineProblem{"the second word must be soft, hard or - (both); PAM skips the line", std::nullopt};
  if (auto problem = domain_problem(line.domain)) return problem;
  return value_problem(whole_value(line));
}

bool pam_applies(const LimitsConfLine& line, const PamSubject& subject) {
  const PamClass its = pam_class(line.domain);
  if (its == PamClass::kDefault) return !(subject.root && subject.explicit_root);
  if (its != PamClass::kUser) return false;
  if (is_uid_range(line.domain)) return subject.root && range_has_root(line.domain);
  if (subject.root && line.domain == "root") return true;
  return !subject.user.empty() && line.domain == subject.user;  // case-sensitive, as in pam_limits.c
}

LinesOutcome pam_effective(const std::vector<LimitsConfLine>& lines, const PamSubject& subject) {
  LinesOutcome out;
  PamClass soft_class = PamClass::kNever;
  PamClass hard_class = PamClass::kNever;
  for (const LimitsConfLine& line : lines) {
    const LineSides type = pam_type(line.type);
    if (!is_memlock_line(line) || !pam_applies(line, subject)) continue;
    const auto value = pam_value(line.value, subject.parser);
    if (!value) continue;
    if (type.soft) take(out.soft, out.soft_line, soft_class, line, *value);
    if (type.hard) take(out.hard, out.hard_line, hard_class, line, *value);
  }
  if (out.soft && out.hard && *out.soft > *out.hard) out.soft = out.hard;  // rlim_cur = min(rlim_cur, rlim_max)
  return out;
}

}  // namespace pindown
