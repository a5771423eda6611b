// SPDX-License-Identifier: Apache-2.0
// The prefixes that libraries put before their own messages: NCCL and RCCL, UCX, Open MPI, libfabric, glog.
// It looks at the front of a text only. Entry point: scan_library.
#include <algorithm>

#include "base/text.h"
#include "logs/shape_parts.h"

namespace pindown::logs {
namespace {

constexpr std::size_t kMaxHeader = 320;  // longest host, pid and thread that is believed

/// "[3] ", "[-1] ": its length, 0 if none.
std::size_t scan_dev(std::string_view text, std::optional<std::int64_t>& dev) {
  std::string_view rest = text;
  if (!consume(rest, "[")) return 0;
  const bool minus = consume(rest, "-");
  const std::string_view digits = take_digits(rest);
  if (digits.empty() || digits.size() > 4 || !consume(rest, "]")) return 0;
  if (!rest.empty() && !consume(rest, " ")) return 0;
  const std::int64_t value = *small_number(digits);
  dev = minus ? -value : value;
  return text.size() - rest.size();
}

/// "host:pid:tid [dev] "; the part in brackets may be missing only before "NCCL".
bool scan_nccl(std::string_view text, Library& out) {
  const std::size_t blank = text.substr(0, kMaxHeader).find(' ');
  if (blank == kNpos || blank == 0 || !is_digit(text[blank - 1])) return false;
  std::string_view head = text.substr(0, blank);
  const auto tid = small_number(take_digits_back(head));
  if (!tid || !consume_back(head, ':')) return false;
  const auto pid = small_number(take_digits_back(head));
  if (!pid || !consume_back(head, ':') || !is_host(head)) return false;
  const std::string_view rest = text.substr(blank + 1);
  std::optional<std::int64_t> dev;
  const std::size_t bracket = scan_dev(rest, dev);
  if (bracket == 0 && !starts_nccl_message(rest)) return false;
  out.found = out.nccl = true;
  out.length = blank + 1 + bracket;
  out.host = head;
  out.pid = pid;
  out.tid = tid;
  out.dev = dev;
  return true;
}

/// "[sec.usec] [host:pid:thread] " with the blanks UCX fills in.
bool scan_ucx(std::string_view text, Library& out) {
  std::string_view rest = text;
  if (!consume(rest, "[")) return false;
  const std::string_view seconds = take_digits(rest);
  if (seconds.empty() || seconds.size() > 12 || !consume(rest, ".")) return false;
  const std::string_view fraction = take_digits(rest);
  if (fraction.empty() || fraction.size() > 9 || !consume(rest, "] [")) return false;
  const std::size_t close = rest.substr(0, kMaxHeader).find(']');
  if (close == kNpos) return false;
  std::string_view inner = rest.substr(0, close);
  const std::size_t colon = inner.rfind(':');
  if (colon == kNpos || inner.size() - colon > 17) return false;
  inner = trim(inner.substr(0, colon));
  const auto pid = small_number(take_digits_back(inner));
  if (!pid || !consume_back(inner, ':') || !is_host(inner)) return false;
  rest.remove_prefix(close + 1);
  while (!rest.empty() && is_blank(rest[0])) rest.remove_prefix(1);
  out.found = out.ucx = true;
  out.length = text.size() - rest.size();
  out.host = inner;
  out.pid = pid;
  out.time_us = epoch_us(seconds, fraction);
  out.time_source = TimeSource::kEpoch;
  return true;
}

/// "[file.py:12345] " is a place in a program, not a process.
bool is_source_file(std::string_view name) {
  constexpr std::string_view kEndings[] = {".py", ".cc", ".cpp", ".c", ".h", ".hpp", ".cu", ".go", ".rs"};
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return name.ends_with(ending); });
}

/// "[[38440,1],0]": the process name of Open MPI up to 4; its last number is the rank.
std::size_t scan_process_name(std::string_view text, std::optional<std::int64_t>& rank) {
  std::string_view rest = text;
  if (!consume(rest, "[[") || take_digits(rest).empty() || !consume(rest, ",")) return 0;
  if (take_digits(rest).empty() || !consume(rest, "],")) return 0;
  rank = small_number(take_digits(rest));
  if (!rank || !consume(rest, "]")) return 0;
  return text.size() - rest.size();
}

/// "[host:00041] " of Open MPI's opal_output (the pid is padded to five digits), "[host:71:0:71] " of UCX's signal
/// handler, "[host][[38440,1],0]" of the openib BTL.
bool scan_ompi(std::string_view text, Library& out) {
  if (!text.starts_with('[')) return false;
  const std::size_t close = text.substr(0, kMaxHeader).find(']');
  if (close == kNpos) return false;
  std::string_view inner = text.substr(1, close - 1);
  std::string_view rest = text.substr(close + 1);
  if (const std::size_t name = scan_process_name(rest, out.rank); name != 0 && is_host(inner)) {
    out.host = inner;
    rest.remove_prefix(name);
  } else {
    const std::size_t colon = inner.find(':');
    if (colon == kNpos || (!rest.empty() && rest[0] != ' ')) return false;
    std::string_view numbers = inner.substr(colon + 1);
    inner = inner.substr(0, colon);
    const std::string_view pid = take_digits(numbers);
    const bool handler = std::ranges::count(numbers, ':') == 2 && numbers.find_first_not_of("0123456789:") == kNpos;
    if (!handler && (pid.size() < 5 || !numbers.empty())) return false;
    if (!is_host(inner) || is_source_file(inner)) return false;
    out.host = inner;
    out.pid = small_number(pid);
    if (!out.pid) return false;
  }
  consume(rest, " ");
  out.found = true;
  out.length = text.size() - rest.size();
  return true;
}

/// "libfabric:<pid>:<epoch>:": the text keeps it, pattern rows want the provider and function after it.
bool scan_libfabric(std::string_view text, Library& out) {
  if (!consume(text, "libfabric:")) return false;
  const auto pid = small_number(take_digits(text));
  if (!pid || !consume(text, ":")) return false;
  out.found = true;
  out.pid = pid;
  const std::string_view epoch = take_digits(text);
  if (text.starts_with(':')) out.time_us = epoch_us(epoch, {});
  out.time_source = TimeSource::kEpoch;
  return true;
}

/// "E0602 04:48:31.885119 10240 rdma_context.cpp:198] ", with a year before the month since glog 0.6.
bool scan_glog(std::string_view text, Library& out) {
  if (text.size() < 24 || std::string_view("IWEF").find(text[0]) == kNpos) return false;
  std::string_view rest = text.substr(1);
  const std::string_view date = take_digits(rest);
  if ((date.size() != 4 && date.size() != 8) || !consume(rest, " ")) return false;
  const Stamp clock = scan_clock(rest);
  if (clock.length < 9) return false;
  const std::string_view time = rest.substr(0, clock.length);
  rest.remove_prefix(clock.length);
  while (consume(rest, " ")) {
  }
  const auto tid = small_number(take_digits(rest));
  if (!tid || !rest.starts_with(' ')) return false;
  out.found = true;
  out.tid = tid;
  if (date.size() == 8) {
    const std::string full = std::string(date.substr(0, 4)) + '-' + std::string(date.substr(4, 2)) + '-' +
                             std::string(date.substr(6)) + ' ' + std::string(time);
    out.time_us = scan_iso(full).time_us;
    out.time_source = TimeSource::kOwnStamp;
  }
  return true;
}

/// A stamp that NCCL_DEBUG_TIMESTAMP_FORMAT (2.26+) or a logger put right before "host:pid:tid".
bool scan_stamped_nccl(std::string_view text, Library& out) {
  const Stamp stamp = text[0] == '[' ? scan_bracket_stamp(text) : scan_plain_stamp(text);
  if (stamp.length == 0) return false;
  std::size_t at = stamp.length;
  while (at < text.size() && at < stamp.length + 4 && text[at] == ' ') ++at;
  if (!scan_nccl(text.substr(at), out)) return false;
  out.length += at;
  out.time_us = stamp.time_us;
  out.time_source = TimeSource::kOwnStamp;
  return true;
}

}  // namespace

std::optional<std::int64_t> small_number(std::string_view digits) {
  return digits.empty() || digits.size() > 10 ? std::nullopt : parse_i64(digits);
}

std::string_view take_digits_back(std::string_view& text) {
  std::size_t n = text.size();
  while (n > 0 && is_digit(text[n - 1])) --n;
  const std::string_view digits = text.substr(n);
  text.remove_suffix(text.size() - n);
  return digits;
}

bool consume_back(std::string_view& text, char c) {
  if (!text.ends_with(c)) return false;
  text.remove_suffix(1);
  return true;
}

bool is_host(std::string_view host) {
  if (host.empty() || host.size() > kMaxName) return false;
  if (std::ranges::all_of(host, is_name_char)) return std::ranges::any_of(host, is_alnum);
  // An IPv6 address: at least two colons and nothing a file name would have.
  const auto is_address = [](char c) {
    return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'f') || c == ':' || c == '.' || c == '%';
  };
  return std::ranges::count(host, ':') >= 2 && std::ranges::all_of(host, is_address);
}

bool starts_nccl_message(std::string_view text) {
  if (text.starts_with("NCCL ")) return true;
  const std::size_t at = text.substr(0, 240).find(" NCCL ");
  if (at == kNpos) return false;
  // "file:line NCCL", "file:line (function) NCCL", and "<float> function:line NCCL TRACE".
  const std::size_t colon = text.substr(0, at).rfind(':');
  return colon != kNpos && colon + 1 < at && is_digit(text[colon + 1]);
}

Library scan_library(std::string_view text) {
  Library out;
  if (text.empty()) return out;
  if (text[0] == '[') {
    if (text.size() > 1 && is_digit(text[1]) && (scan_ucx(text, out) || scan_stamped_nccl(text, out))) return out;
    scan_ompi(text, out);
    return out;
  }
  if (!is_alnum(text[0]) && text[0] != ':') return out;
  if (scan_nccl(text, out)) return out;
  const char c = text[0];
  if (c == 'l' && scan_libfabric(text, out)) return out;
  if ((c == 'I' || c == 'W' || c == 'E' || c == 'F') && scan_glog(text, out)) return out;
  if (is_digit(c) || (c >= 'A' && c <= 'Z')) scan_stamped_nccl(text, out);
  return out;
}

}  // namespace pindown::logs
