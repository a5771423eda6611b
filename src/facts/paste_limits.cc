// SPDX-License-Identifier: Apache-2.0
// Reads the locked-memory limit in the spellings of shells, /proc, prlimit and Python. Entry points: read_*. A number
// whose unit is not evident is not read: 64 may be KiB or pages of a book.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/paste_internal.h"
#include "facts/proc.h"
#include "facts/sudoers.h"

namespace pindown::paste {
namespace {

std::optional<Limit> parse_kib(std::string_view word) {
  if (word == "unlimited" || word == "infinity") return Limit::unlimited();
  const auto kib = parse_u64(word);
  return kib ? std::optional(Limit::of_kib(*kib)) : std::nullopt;
}

/// "64", "64 kbytes", "8MB", "unlimited": a number without unit counts KiB, as every shell prints it.
std::optional<Limit> parse_value(std::string_view value, std::string_view unit) {
  if (unit.empty()) return parse_kib(value);
  const auto size = parse_size(std::string(value) + std::string(unit));
  return size ? std::optional(*size) : std::nullopt;
}

std::optional<Limit> parse_rlim(std::string_view word) {
  word = trim(word);
  if (word == "-1" || word == "unlimited" || word == "infinity" || word == "RLIM_INFINITY") return Limit::unlimited();
  const auto bytes = parse_u64(word);
  return bytes ? std::optional(Limit{*bytes}) : std::nullopt;
}

void learn(const Context& c, Limit limit, bool hard) {
  MemlockLimit out;
  (hard ? out.hard : out.soft) = limit;
  learn_memlock(c, out);
}

bool asks_hard(const Context& c) {
  return c.question && c.question->hard;
}

bool is_kib_unit(std::string_view text) {
  static constexpr std::array<std::string_view, 5> kUnits = {"kbytes", "kb", "kibytes", "kib", "kilobytes"};
  std::size_t n = 0;
  while (n < text.size() && is_alpha(text[n])) ++n;
  return std::ranges::any_of(kUnits, [&](std::string_view unit) { return iequals(text.substr(0, n), unit); });
}

/// "max locked memory (kbytes, -l) 64" (bash), "locked memory(kbytes) 64" (dash), "-l: locked-in-memory size (kbytes)
/// 64" (zsh), "Maximum size that may be locked into memory (kB, -l) 64" (fish), "locked memory (kb) (-l) 64" (busybox).
bool read_listing(const Context& c) {
  static constexpr std::array<std::string_view, 5> kPhrases = {
      "locked memory", "locked-in-memory", "locked into memory", "locked address space", "lockedmem"};
  std::string_view rest;
  for (const std::string_view phrase : kPhrases) {
    const auto at = c.text.find(phrase);
    if (at == c.text.npos || at > 80) continue;
    rest = c.text.substr(at + phrase.size());
    break;
  }
  const auto open = rest.find('(');
  if (open == rest.npos || !is_kib_unit(rest.substr(open + 1))) return false;
  const auto close = rest.find(')', open);
  if (close == rest.npos) return false;
  auto words = split_blanks(rest.substr(close + 1));
  if (!words.empty() && words[0] == "(-l)") words.erase(words.begin());
  if (words.size() != 1) return false;
  const auto limit = parse_kib(words[0]);
  if (limit) learn(c, *limit, asks_hard(c));
  return limit.has_value();
}

/// `limit` of csh, tcsh and zsh: "memorylocked 64 kbytes", "memorylocked 64kB".
bool read_csh(const Context& c) {
  std::string_view rest = c.text;
  if (!consume(rest, "memorylocked")) return false;
  rest = trim(rest);
  if (rest.empty() || !is_alpha(rest.back())) return false;  // a number without unit
  const auto limit = parse_size(rest);
  if (limit) learn(c, *limit, asks_hard(c));
  return limit.has_value();
}

/// Advice ("please set ulimit -l = unlimited") is not a measurement.
bool is_advice(std::string_view before) {
  static constexpr std::array<std::string_view, 12> kWords = {
      "set ", "should", "must", "please", "sure", "need", "ensure", "recommend", "try ", "if ", "expect", "want"};
  return before.size() > 60 ||
         std::ranges::any_of(kWords, [&](std::string_view word) { return icontains(before, word); });
}

struct Value {
  std::string_view word, unit;
};

/// Value and unit at the start of `text`; they must end at a boundary.
std::optional<Value> take_value(std::string_view text) {
  while (!text.empty() && (is_blank(text[0]) || text[0] == '\'' || text[0] == '"' || text[0] == '`')) {
    text.remove_prefix(1);
  }
  Value out;
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  if (n == 0) {
    while (n < text.size() && is_alpha(text[n])) ++n;
    out.word = text.substr(0, n);
    if (out.word != "unlimited" && out.word != "infinity") return std::nullopt;
    return out;
  }
  out.word = text.substr(0, n);
  text.remove_prefix(n);
  if (!text.empty() && text[0] == ' ') text.remove_prefix(1);
  n = 0;
  while (n < text.size() && is_alpha(text[n])) ++n;
  const std::string_view unit = text.substr(0, n);
  const bool boundary =
      n == text.size() || (text[n] != '.' && text[n] != '_' && !is_digit(text[n])) || n + 1 == text.size();
  if (!boundary) return std::nullopt;
  if (parse_size("1" + std::string(unit))) out.unit = unit;
  return out;
}

/// The sign between a name and its value: ':' '=' "=>" "->". False if there is none.
bool drop_sign(std::string_view& text) {
  static constexpr std::array<std::string_view, 7> kSigns = {"=>", "->", "==", "=", ":", "→", "is "};
  while (!text.empty() &&
         (is_blank(text[0]) || text[0] == ')' || text[0] == '`' || text[0] == '\'' || text[0] == '"')) {
    text.remove_prefix(1);
  }
  if (text.starts_with('(') || is_kib_unit(text)) {  // "ulimit -l (kbytes): 64"
    std::string_view unit = text;
    consume(unit, "(");
    if (!is_kib_unit(unit)) return false;
    const auto end = unit.find_first_of(":=");
    if (end == unit.npos || end > 16) return false;
    text = unit.substr(end);
  }
  return std::ranges::any_of(kSigns, [&](std::string_view sign) { return consume(text, sign); });
}

/// "ulimit -l: 64", "ulimit -Hl = unlimited", "ulimit -l (kbytes): 64".
bool read_named_ulimit(const Context& c) {
  const auto at = c.text.find("ulimit -");
  if (at == c.text.npos || is_advice(c.text.substr(0, at))) return false;
  std::string_view rest = c.text.substr(at + 8);
  std::size_t n = 0;
  while (n < rest.size() && (is_alpha(rest[n]) || rest.substr(n).starts_with(" -"))) n += is_alpha(rest[n]) ? 1 : 2;
  const std::string_view flags = rest.substr(0, n);
  rest.remove_prefix(n);
  if (flags.find('l') == flags.npos || flags.find_first_not_of("SHl -") != flags.npos) return false;
  if (!drop_sign(rest)) return false;
  const auto value = take_value(rest);
  if (!value) return false;
  const auto limit = parse_value(value->word, value->unit);
  if (!limit) return false;
  learn(c, *limit, flags.find('H') != flags.npos && flags.find('S') == flags.npos);
  return true;
}

/// "memlock=unlimited", "RLIMIT_MEMLOCK: 64 KiB": only with a unit, and not where it configures something.
bool read_named_memlock(const Context& c) {
  static constexpr std::array<std::string_view, 3> kNames = {"memlock", "MEMLOCK", "Memlock"};
  std::size_t at = c.text.npos;
  for (const std::string_view name : kNames) at = std::min(at, c.text.find(name));
  if (at == c.text.npos) return false;
  std::string_view before = c.text.substr(0, at);
  if (is_advice(before) || contains(before, "ulimit") || before.ends_with("Limit") || before.ends_with("rlimit_"))
    return false;
  if (before.ends_with("RLIMIT_")) before.remove_suffix(7);
  if (!before.empty() && !is_blank(before.back()) && before.back() != '(' && before.back() != ',') return false;
  std::string_view rest = c.text.substr(at + 7);
  if (!consume(rest, " limit")) consume(rest, "_limit");
  if (!drop_sign(rest)) return false;
  const auto value = take_value(rest);
  if (!value || (value->unit.empty() && is_digit(value->word[0]))) return false;
  const auto limit = parse_value(value->word, value->unit);
  if (limit) learn(c, *limit, false);
  return limit.has_value();
}

std::string_view between(std::string_view text, std::string_view before, std::string_view ends) {
  const auto at = text.find(before);
  if (at == text.npos) return {};
  const std::string_view rest = trim(text.substr(at + before.size()));
  return rest.substr(0, rest.find_first_of(ends));
}

}  // namespace

bool read_limits_line(const Context& c) {
  const auto at = c.text.find("Max locked memory");
  if (at == c.text.npos) return false;
  const auto limit = parse_limits(c.text.substr(at));
  if (limit) learn_memlock(c, *limit);
  return limit.has_value();
}

bool read_lock_phrase(const Context& c) {
  return read_limits_line(c) || read_listing(c) || read_csh(c) || read_rlimit_tuple(c) || read_named_ulimit(c) ||
         read_named_memlock(c);
}

/// "MEMLOCK    max locked-in-memory address space 8388608 8388608 bytes" (util-linux prlimit).
bool read_prlimit(const Context& c) {
  if (!c.text.starts_with("MEMLOCK")) return false;
  const auto words = split_blanks(c.text);
  if (words.size() < 4 || words[0] != "MEMLOCK" || words.back() != "bytes") return false;
  const auto soft = parse_rlim(words[words.size() - 3]);
  const auto hard = parse_rlim(words[words.size() - 2]);
  if (!soft || !hard) return false;
  learn_memlock(c, {soft, hard});
  return true;
}

/// getrlimit as Python prints it: "(65536, -1)"; or "RLIMIT_MEMLOCK: soft=65536 hard=65536". RLIMIT_MEMLOCK is in
/// bytes.
bool read_rlimit_tuple(const Context& c) {
  const bool asked = c.question && c.question->topic == Topic::kRlimitTuple;
  if (!asked && !contains(c.text, "RLIMIT_MEMLOCK")) return false;
  std::optional<Limit> soft, hard;
  const auto open = c.text.find('(');
  const auto close = open == c.text.npos ? open : c.text.find(')', open);
  if (close != c.text.npos) {
    const auto parts = split(c.text.substr(open + 1, close - open - 1), ',');
    if (parts.size() == 2) {
      soft = parse_rlim(parts[0]);
      hard = parse_rlim(parts[1]);
    }
  }
  if (!soft && !hard) {
    soft = parse_rlim(between(c.text, "soft=", ", \t)"));
    hard = parse_rlim(between(c.text, "hard=", ", \t)"));
  }
  if (!soft || !hard) return false;
  learn_memlock(c, {soft, hard});
  return true;
}

namespace {

bool sets_own_limit(std::string_view who) {
  return who == "$$" || who == "self" || who == "$BASHPID" || who == "$PPID";
}

/// "64M:unlimited" is not taken: prlimit(1) counts bytes.
void request_prlimit(const std::vector<std::string>& words, std::vector<LimitRequest>& out) {
  LimitRequest request;
  std::optional<Limit> soft, hard;
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (consume(word, "--memlock=") || consume(word, "-l=") || (word.starts_with("-l") && word.size() > 2)) {
      consume(word, "-l");
      const auto parts = split(word, ':');
      soft = parse_rlim(parts[0]);
      hard = parts.size() > 1 ? parse_rlim(parts[1]) : soft;
      continue;
    }
    const bool apart = (word == "-p" || word == "--pid") && i + 1 < words.size();
    if (apart) {
      word = words[i + 1];
    } else if (!consume(word, "--pid=") && (!consume(word, "-p") || word.empty())) {
      continue;
    }
    request.pid = parse_i64(word);
    if (!request.pid && !sets_own_limit(word)) return;  // of whom, the text does not say
  }
  if (!soft && !hard) return;
  request.value = soft ? *soft : *hard;
  request.soft = soft.has_value();
  request.hard = hard.has_value();
  out.push_back(request);
}

void request_ulimit(const std::vector<std::string>& words, std::vector<LimitRequest>& out) {
  std::string flags;
  std::string_view value;
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (consume(word, "-")) {
      // "ulimit -l64", "ulimit -l 64 -n 1024": the value of this option only.
      const std::size_t end = std::min(word.find_first_not_of("SHl"), word.size());
      if (end < word.size() && !is_digit(word[end]) && word.substr(end) != "unlimited") {
        if (i + 1 < words.size() && !words[i + 1].starts_with('-')) ++i;
        continue;
      }
      flags += word.substr(0, end);
      if (end < word.size()) value = word.substr(end);
    } else if (value.empty() && (flags.ends_with('l') || (contains(flags, "l") && i + 1 == words.size()))) {
      value = word;
    }
  }
  const auto limit = contains(flags, "l") && !value.empty() ? parse_kib(value) : std::nullopt;
  if (!limit) return;
  const bool only_soft = contains(flags, "S") && !contains(flags, "H");
  const bool only_hard = contains(flags, "H") && !contains(flags, "S");
  out.push_back({*limit, !only_hard, !only_soft, {}});
}

/// csh: "limit memorylocked 64", "limit -h memorylocked unlimited", "unlimit memorylocked"; without -h the soft one.
void request_limit(const std::vector<std::string>& words, std::vector<LimitRequest>& out) {
  std::vector<std::string_view> rest;
  bool hard = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "-h" || words[i] == "-s") {
      hard |= words[i] == "-h";
    } else {
      rest.push_back(words[i]);
    }
  }
  if (rest.empty() || rest[0] != "memorylocked") return;
  const bool unlimit = words[0] == "unlimit";
  if (rest.size() != (unlimit ? 1U : 2U)) return;
  const auto limit = unlimit ? std::optional(Limit::unlimited()) : parse_kib(rest[1]);
  if (limit) out.push_back({*limit, !hard, hard, {}});
}

}  // namespace

std::vector<LimitRequest> settings_of(const SimpleCommand& command) {
  std::vector<LimitRequest> out;
  const std::string_view program = base_name(command.words[0]);
  if (program == "ulimit") request_ulimit(command.words, out);
  if (program == "limit" || program == "unlimit") request_limit(command.words, out);
  if (program == "prlimit") request_prlimit(command.words, out);
  return out;
}

bool is_refusal(std::string_view text) {
  static constexpr std::array<std::string_view, 10> kWords = {"cannot modify limit",
                                                              "exceeds hard limit",
                                                              "exceeds allowable limit",
                                                              "raise hard limits",
                                                              "error setting limit",
                                                              "failed to set the MEMLOCK",
                                                              "Permission denied when changing resource",
                                                              "ulimit: command not found",
                                                              "ulimit: not found",
                                                              "Can't set hard limit"};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return contains(text, word); });
}

bool read_refusal(const Context& c) {
  Stream& s = c.stream;
  if (s.settings == 0 || !is_refusal(c.text)) return false;
  auto& all = c.facts.limit_settings;
  for (std::size_t i = s.first_setting; i < std::min(s.first_setting + s.settings, all.size()); ++i) {
    all[i].refused = true;
  }
  s.raised = false;
  return true;
}

bool read_ulimit_value(const Context& c) {
  const auto limit = parse_kib(c.text);
  if (limit) learn(c, *limit, asks_hard(c));
  return limit.has_value();
}

namespace {

/// "41:" of grep -n, "/home/a/.bashrc:41:" of grep -rn, in front of a line of the file.
std::string_view drop_position(std::string_view text) {
  std::string_view rest = text;
  if (!take_digits(rest).empty() && consume(rest, ":")) return trim(rest);
  const auto colon = text.find(':');
  if (colon == text.npos || text.substr(0, colon).find_first_of(" \t=") != text.npos) return text;
  rest = text.substr(colon + 1);
  std::string_view behind = rest;
  if (!take_digits(behind).empty() && consume(behind, ":")) return trim(behind);
  return text[0] == '/' || text[0] == '.' || text[0] == '~' ? trim(rest) : text;
}

bool learn_line(const Context& c, const LimitRequest& request) {
  auto& all = c.facts.limit_lines;
  if (request.pid || all.size() >= kMaxList) return false;
  LimitSetting& out = all.emplace_back();
  out.value = request.value;
  out.soft = request.soft;
  out.hard = request.hard;
  out.source = c.source();
  return true;
}

}  // namespace

/// `ulimit -S -l 64` in a file that is shown; a comment sets nothing.
bool read_script_line(const Context& c) {
  const std::string_view line = drop_position(c.text);
  if (line.empty() || line[0] == '#' || !contains(line, "limit")) return false;
  bool understood = false;
  for (const LimitRequest& request : parse_command(line).settings) understood |= learn_line(c, request);
  return understood;
}

/// "Defaults>user rlimit_memlock=65536" of sudoers(5), as parse_sudoers_rlimit has it.
bool read_sudoers(const Context& c) {
  constexpr std::string_view kKey = "rlimit_memlock";
  const std::string_view line = drop_position(c.text);
  const auto at = line.find(kKey);
  if (!line.starts_with("Defaults") || at == line.npos || line[at - 1] == '!') return false;
  std::string_view value = trim(line.substr(at + kKey.size()));
  if (!consume(value, "=")) return false;
  value = trim(value);
  // A bare comma ends the value; a pair is quoted.
  value = consume(value, "\"") ? value.substr(0, value.find('"')) : value.substr(0, value.find_first_of(", \t#"));
  const auto limit = parse_sudoers_rlimit(value);
  if (!limit || !limit->soft) return false;
  return learn_line(c, {*limit->soft, true, limit->soft == limit->hard, {}});
}

namespace {

/// Text of echo up to the next substitution, or one substitution: "$(…)", "`…`", "$NAME", "${NAME}".
struct Piece {
  std::string_view text;
  bool substituted = false;
};

Piece take_piece(std::string_view& text) {
  std::size_t n = std::min(text.find_first_of("$`"), text.size());
  const bool substituted = n == 0;
  if (substituted && text[0] == '`') {
    n = std::min(text.find('`', 1), text.size() - 1) + 1;
  } else if (substituted && (text.starts_with("$(") || text.starts_with("${"))) {
    n = std::min(text.find(text[1] == '(' ? ')' : '}'), text.size() - 1) + 1;
  } else if (substituted) {
    for (n = 1; n < text.size() && (is_alnum(text[n]) || text[n] == '_');) ++n;
  }
  const Piece piece{text.substr(0, n), substituted};
  text.remove_prefix(n);
  return piece;
}

/// "ulimit -l" of "$(ulimit -l)", "HOSTNAME" of "${HOSTNAME}".
std::string_view inside(std::string_view substitution) {
  if (!consume(substitution, "`")) consume(substitution, "$");
  if (!consume(substitution, "(")) consume(substitution, "{");
  while (substitution.ends_with('`') || substitution.ends_with(')') || substitution.ends_with('}')) {
    substitution.remove_suffix(1);
  }
  return trim(substitution);
}

bool prints_host(std::string_view what) {
  return what == "HOSTNAME" || what == "SLURMD_NODENAME" || what == "uname -n" || what == "hostname" ||
         what == "hostname -s" || what == "hostname -f";
}

/// "-l", "-Sl", "-H -l" behind ulimit: which of the two limits it prints.
bool prints_limit(std::string_view what, bool& hard) {
  if (!consume(what, "ulimit -") || what.find_first_not_of("SHl -") != what.npos || !contains(what, "l")) return false;
  hard = contains(what, "H") && !contains(what, "S");
  return true;
}

}  // namespace

namespace {

/// Matches a line against echo's text; host and limits are what stands in the places of their substitutions.
bool match_echo(std::string_view form, std::string_view text, std::string& host, MemlockLimit& seen) {
  while (!form.empty()) {
    const Piece piece = take_piece(form);
    if (!piece.substituted) {
      if (!consume(text, piece.text)) return false;
      continue;
    }
    std::string_view behind = form;
    const Piece next = behind.empty() ? Piece{} : take_piece(behind);
    if (next.substituted) return false;  // nothing parts the two
    const auto end = next.text.empty() ? text.size() : text.find(next.text);
    if (end == text.npos) return false;
    const std::string_view value = text.substr(0, end);
    text.remove_prefix(end);
    const std::string_view what = inside(piece.text);
    bool hard = false;
    if (prints_host(what) && is_host_name(value)) {
      host = value;
    } else if (prints_limit(what, hard)) {
      (hard ? seen.hard : seen.soft) = parse_kib(value);
    }
  }
  return seen.soft || seen.hard;
}

}  // namespace

bool read_echoed(const Context& c) {
  std::string_view form = c.question ? std::string_view(c.question->arg) : std::string_view();
  Context named = c;
  MemlockLimit seen;
  if (!match_echo(form, c.text, named.fan_host, seen)) {
    // "node2: " in front was taken for a wrapper.
    seen = {};
    named.fan_host.clear();
    const bool begins_with_host = prints_host(inside(take_piece(form).text)) && consume(form, ": ");
    if (!begins_with_host || c.line.shape.host.empty() || !match_echo(form, c.text, named.fan_host, seen)) return false;
  }
  named.fan |= !named.fan_host.empty();
  learn_memlock(named, seen);
  return true;
}

}  // namespace pindown::paste
