// SPDX-License-Identifier: Apache-2.0
// Many writers share one pipe: two ranks' text ends up on one line, and one rank's line is cut by another's. Entry
// points: find_glued, is_cut, join_halves. Splits and joins only where a library's own wording proves it.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "logs/shape_parts.h"

namespace pindown::logs {
namespace {

constexpr std::size_t kMaxBack = kMaxName + 1;

/// Where the host starts in a run of name characters that may begin with the end of other text ("foonode1").
std::size_t host_start(std::string_view run, std::string_view own, const Words& hosts) {
  if (!own.empty() && run.ends_with(own)) return run.size() - own.size();
  for (std::size_t i = 0; i < run.size() && !hosts.empty(); ++i) {
    if (hosts.find(run.substr(i)) != hosts.end()) return i;
  }
  // Machines of one job are named alike: look for the first one's letters.
  const auto digit = std::ranges::find_if(own, is_digit);
  const std::string_view stem = own.substr(0, static_cast<std::size_t>(digit - own.begin()));
  const std::size_t at = stem.size() < 2 ? kNpos : run.rfind(stem);
  return at == kNpos ? 0 : at;
}

/// Start of "host:pid:tid" that ends right before " [" at `bracket`, or npos.
std::size_t prefix_start(std::string_view text, std::size_t bracket, std::string_view own, const Words& hosts) {
  std::size_t at = bracket - 1;  // the blank
  for (int field = 0; field < 2; ++field) {
    const std::size_t end = at;
    while (at > 0 && is_digit(text[at - 1]) && end - at < 11) --at;
    if (at == end || at == 0 || text[at - 1] != ':') return kNpos;
    --at;
  }
  const std::size_t end = at;
  while (at > 0 && is_name_char(text[at - 1]) && end - at < kMaxBack) --at;
  if (at == end) return kNpos;
  const std::string_view run = text.substr(at, end - at);
  return std::ranges::any_of(run, is_alnum) ? at + host_start(run, own, hosts) : kNpos;
}

std::string_view drop_blanks_back(std::string_view text) {
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// Start of a stamp that ends the text, or its size.
std::size_t stamp_before(std::string_view text) {
  const std::string_view bare = drop_blanks_back(text);
  if (bare.ends_with(']')) {
    const std::size_t open = bare.rfind('[');
    const bool stamp = open != kNpos && bare.size() - open < 48 && scan_bracket_stamp(bare.substr(open)).length != 0;
    return stamp ? open : text.size();
  }
  for (const std::size_t length : {19U, 23U, 26U}) {
    if (bare.size() < length) break;
    if (scan_iso(bare.substr(bare.size() - length)).length == length) return bare.size() - length;
  }
  return text.size();
}

/// Start of what belongs to the second message before its host: its stamp, its label, its host once more.
std::size_t extend_back(std::string_view text, std::size_t start, std::string_view host) {
  for (int i = 0; i < 4; ++i) {
    std::string_view head = text.substr(0, start);
    if (const std::size_t stamp = stamp_before(head); stamp != head.size()) {
      start = stamp;
      continue;
    }
    if (!head.ends_with(": ")) return start;
    head.remove_suffix(2);
    std::size_t n = 0;
    while (n < head.size() && n < 7 && is_digit(head[head.size() - 1 - n])) ++n;
    const bool label = n > 0 && n < 7 && (n == head.size() || head[head.size() - 1 - n] == ' ');
    if (head.ends_with(host)) {
      start = head.size() - host.size();
    } else if (label) {
      start = head.size() - n;
    } else {
      return start;
    }
  }
  return start;
}

std::size_t glued_nccl(std::string_view text, std::size_t bracket, std::string_view own, const Words& hosts) {
  if (bracket < 6 || text[bracket - 1] != ' ' || !is_digit(text[bracket - 2])) return kNpos;
  std::string_view rest = text.substr(bracket + 1);
  const std::string_view digits = take_digits(rest);
  if (digits.empty() || digits.size() > 4 || !consume(rest, "] ") || !starts_nccl_message(rest)) return kNpos;
  const std::size_t start = prefix_start(text, bracket, own, hosts);
  if (start == kNpos) return kNpos;
  const std::string_view host = text.substr(start, text.find(':', start) - start);
  return extend_back(text, start, host);
}

constexpr std::array<std::string_view, 30> kReasons = {"Cannot allocate memory",
                                                       "Bad address",
                                                       "Invalid argument",
                                                       "Operation not supported",
                                                       "Operation not permitted",
                                                       "No such device",
                                                       "No such file or directory",
                                                       "Resource temporarily unavailable",
                                                       "No space left on device",
                                                       "Input/output error",
                                                       "Permission denied",
                                                       "Connection timed out",
                                                       "Device or resource busy",
                                                       "Protocol not supported",
                                                       "Protocol not available",
                                                       "Unknown error",
                                                       "Remote I/O error",
                                                       "Connection refused",
                                                       "No such process",
                                                       "Numerical result out of range",
                                                       "Function not implemented",
                                                       "Argument list too long",
                                                       "Value too large for defined data type",
                                                       "Too many open files",
                                                       "File exists",
                                                       "Success",
                                                       "Interrupted system call",
                                                       "Transport endpoint is not connected",
                                                       "Network is unreachable",
                                                       "Address family not supported by protocol"};

enum class State { kBroken, kCut, kWhole, kUnknownReason };

bool is_proper_prefix(std::string_view part, std::string_view whole) {
  return part.size() < whole.size() && whole.starts_with(part);
}

State judge_reason(std::string_view reason) {
  bool cut = false;
  for (const std::string_view known : kReasons) {
    if (reason.starts_with(known)) return State::kWhole;
    cut = cut || is_proper_prefix(reason, known);
  }
  return cut ? State::kCut : State::kUnknownReason;
}

/// "Call to <verb> failed[ with error <reason>]" as ibvwrap.cc words it in every version (CHECK_NOT_NULL, WARN).
State judge_call(std::string_view message) {
  constexpr std::string_view kCall = "Call to ";
  constexpr std::string_view kFailed = " failed";
  constexpr std::string_view kError = " with error ";
  if (is_proper_prefix(message, kCall)) return State::kCut;
  if (!consume(message, kCall)) return State::kWhole;
  const auto verb = std::ranges::find_if_not(message, [](char c) { return is_alnum(c) || c == '_'; });
  message.remove_prefix(static_cast<std::size_t>(verb - message.begin()));
  if (is_proper_prefix(message, kFailed)) return State::kCut;
  if (!consume(message, kFailed)) return State::kBroken;
  if (message.empty()) return State::kWhole;
  if (consume(message, kError)) return judge_reason(message);
  if (is_proper_prefix(message, kError)) return State::kCut;
  // ibv_modify_qp since 2.24: "failed with 110 Connection timed out, on dev …".
  return consume(message, " with ") && !message.empty() && is_digit(message[0]) ? State::kWhole : State::kBroken;
}

/// "file:line NCCL WARN " with its end missing.
State judge_header(std::string_view text) {
  if (text.size() > 160) return State::kBroken;
  const std::size_t blank = text.rfind(' ');
  if (blank == kNpos) {
    const bool path =
        std::ranges::all_of(text, [](char c) { return is_name_char(c) || c == '/' || c == ':' || c == '+'; });
    // A path that ends in its line number could be a whole old-style text; without a slash or dot it is any word.
    return text.empty() || (path && text.find_first_of("/.") != kNpos) || is_proper_prefix(text, "NCCL WARN ")
               ? State::kCut
               : State::kBroken;
  }
  const std::size_t at = text.find(" NCCL");
  const std::size_t start = at != kNpos ? at + 1 : text.starts_with("NCCL") ? 0 : blank + 1;
  const bool place = start == 0 || text.substr(0, start).find(':') != kNpos;
  return place && is_proper_prefix(text.substr(start), "NCCL WARN ") ? State::kCut : State::kBroken;
}

State judge(std::string_view text) {
  const std::size_t warn = text.find("NCCL WARN ");
  if (warn != kNpos) return judge_call(text.substr(warn + 10));
  return text.find("NCCL INFO ") != kNpos ? State::kWhole : judge_header(text);
}

bool is_message(State state) {
  return state == State::kWhole || state == State::kCut;
}

}  // namespace

std::size_t find_glued(std::string_view text, std::string_view host, const Words& hosts) {
  for (std::size_t at = text.find('[', 1); at < text.size(); at = text.find('[', at + 1)) {
    if (at + 4 > text.size()) return kNpos;
    const char next = text[at + 1];
    if (!is_digit(next) && next != 'p') continue;
    if (const std::size_t start = glued_nccl(text, at, host, hosts); start != kNpos && start != 0) return start;
    // "[4] " is the common case and neither of the others.
    if (text[at + 2] == ']' && text[at + 3] == ' ') continue;
    const std::string_view rest = text.substr(at);
    const bool tag = (next != 'p' || rest.starts_with("[prterun-")) && scan_mpi_tag(rest).length != 0;
    if (tag || scan_library(rest).ucx) return at;
  }
  return kNpos;
}

bool is_noise(std::string_view head) {
  for (int i = 0; i < 4; ++i) {
    while (!head.empty() && !is_alnum(head[0]) && head[0] != '[' && static_cast<unsigned char>(head[0]) < 0x80)
      head.remove_prefix(1);
    if (head.empty()) return true;
    const Stamp stamp = head[0] == '[' ? scan_bracket_stamp(head) : scan_plain_stamp(head);
    std::size_t n = stamp.length;
    if (n == 0 && is_level(head.substr(0, head.find_first_of(" :]"))))
      n = std::min(head.find_first_of(" :]"), head.size());
    if (n == 0 && head[0] == '[') n = 1;
    if (n == 0) break;
    head.remove_prefix(n);
  }
  // grep's "file:line:" stands right before the prefix and has no blank.
  return head.empty() || (head.ends_with(':') && head.find_first_of(" \t") == kNpos);
}

bool is_cut(std::string_view text) {
  return judge(text) == State::kCut;
}

std::optional<std::string> join_halves(std::string_view head, std::string_view tail) {
  if (tail.empty() || head.size() + tail.size() >= kMaxText) return std::nullopt;
  std::string joined;
  joined.reserve(head.size() + tail.size() + 1);
  joined.append(head).append(tail);
  State state = judge(joined);
  // A reason in another language than English, after a head that ended exactly where it begins.
  const bool foreign =
      static_cast<unsigned char>(trim(tail).empty() ? 0 : trim(tail)[0]) >= 0x80 && head.ends_with("error");
  if (is_message(state) || (state == State::kUnknownReason && foreign)) {
    // A header with any word after it would pass: what was added must show NCCL's own wording.
    const bool header = head.find("NCCL WARN ") == kNpos;
    return !header || joined.find("NCCL WARN ") != kNpos || joined.find("NCCL INFO ") != kNpos ? std::optional(joined)
                                                                                               : std::nullopt;
  }
  joined.insert(head.size(), 1, ' ');
  state = judge(joined);
  return head.find(" failed") != kNpos && (is_message(state) || (state == State::kUnknownReason && foreign))
             ? std::optional(joined)
             : std::nullopt;
}

}  // namespace pindown::logs
