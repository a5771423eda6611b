// SPDX-License-Identifier: Apache-2.0
// Takes the wrappers off the front of a line, whatever their order. Entry point: peel. A wrapper that looks like
// ordinary text ("name: ", "[3] ") is taken only when what follows, or what was seen before, proves it.
#include <algorithm>

#include "base/text.h"
#include "logs/shape_peeler.h"

namespace pindown::logs {
namespace {

constexpr int kMaxWrappers = 24;
constexpr std::size_t kMaxWords = 4096;

}  // namespace

Peeled Peeler::run() {
  Peeled out;
  for (int i = 0; i < kMaxWrappers; ++i) {
    out.library = scan_library(rest_);
    if (out.library.found || !one() || stop_ != Stop::kMessage) break;
  }
  if (out.library.nccl || out.library.ucx) {
    for (std::size_t i = 0; i < name_count_; ++i) confirm(words_, names_[i]);
  }
  if (!out.library.found && stop_ == Stop::kMessage) note_own_stamp();
  out.stop = stop_;
  out.rest = rest_;
  return out;
}

bool Peeler::one() {
  if (rest_.empty()) return false;
  const char c = rest_[0];
  switch (c) {
    case '[':
      return bracket();
    case '(':
      return actor();
    case '{':
      return json();
    case '<':
      return priority();
    case ' ':
      return rank_label();
    case '#':
    case '^':
      return bare_colour();
    default:
      break;
  }
  if (rest_.starts_with("\xEF\xBB\xBF")) return skip(3);
  if (is_digit(c) && (rank_label() || stamp())) return true;
  return is_alnum(c) && (dated() || word());
}

bool Peeler::take(std::size_t n) {
  frame_.shape.wrapper.append(rest_.substr(0, n));
  return skip(n);
}

bool Peeler::skip(std::size_t n) {
  rest_.remove_prefix(std::min(n, rest_.size()));
  return true;
}

bool Peeler::skip_stamp(const Stamp& stamp, TimeSource source) {
  frame_.set_time(stamp.time_us, source);
  skip(stamp.length);
  if (rest_.starts_with(' ')) skip(1);
  return true;
}

std::string_view Peeler::after(std::size_t n) const {
  return rest_.substr(std::min(n, rest_.size()));
}

std::string_view Peeler::after_blanks(std::size_t n) const {
  std::string_view text = after(n);
  while (!text.empty() && text[0] == ' ') text.remove_prefix(1);
  return text;
}

bool Peeler::known(std::string_view word) const {
  return !words_.empty() && words_.find(word) != words_.end();
}

bool Peeler::message_ahead(std::string_view text) const {
  for (int nested = 0; nested < 4 && !text.empty(); ++nested) {
    if (scan_library(text).found || scan_mpi_tag(text).length != 0 || scan_role_tag(text).rank) return true;
    if (scan_actor(text).length != 0 || is_prompt(text)) return true;
    if (starts_nccl_message(text)) return true;
    for (const std::string_view start :
         {"NCCL version", "RCCL version", "libibverbs: ", "UCX  ", "<stdout>:", "<stderr>:"}) {
      if (text.starts_with(start)) return true;
    }
    const std::size_t n = name_length(text);
    if (n == 0 || n > kMaxName || !text.substr(n).starts_with(": ") || is_common_word(text.substr(0, n))) return false;
    if (known(text.substr(0, n))) return true;
    text.remove_prefix(n + 2);
  }
  return false;
}

bool Peeler::json() {
  const std::string_view inner = after_blanks(1);
  if (!inner.starts_with('"')) return false;
  stop_ = Stop::kJson;
  return true;
}

bool Peeler::bare_colour() {
  const std::size_t n = scan_bare_colour(rest_);
  return n != 0 && skip(n);
}

void Peeler::set_pod(std::string_view name) {
  frame_.set_host(name, Origin::kWrapper);
  frame_.shape.kubernetes = true;
  frame_.set_launcher("kubectl");
}

bool Peeler::rank_label() {
  std::string_view rest = after_blanks(0);
  if (rest_.size() - rest.size() > 8) return false;
  const std::string_view digits = take_digits(rest);
  if (digits.empty() || digits.size() > 6 || !consume(rest, ":")) return false;
  if (!rest.empty() && rest[0] != ' ') return false;
  // `ip link` numbers its interfaces: "2: ib0: <BROADCAST".
  if (rest.substr(0, 40).find(": <") != kNpos) return false;
  frame_.shape.rank = parse_i64(digits);
  frame_.set_launcher("srun");
  take(rest_.size() - rest.size());
  if (!rest_.empty()) take(1);
  return true;
}

bool Peeler::stamp() {
  const Stamp stamp = scan_plain_stamp(rest_);
  if (stamp.length == 0) return false;
  const std::string_view next = after(stamp.length);
  if (!stamp.iso_t) return message_ahead(after_blanks(stamp.length)) && skip_stamp(stamp, TimeSource::kOwnStamp);
  if (const CriTag tag = scan_cri_tag(next); tag.length != 0) {
    frame_.set_time(stamp.time_us, TimeSource::kFraming);
    frame_.shape.kubernetes = true;
    frame_.set_launcher("cri");
    frame_.shape.wrapper.append(tag.stream).append(" ");
    stop_ = tag.partial ? Stop::kCriPartial : Stop::kCriFull;
    return skip(stamp.length + tag.length);
  }
  if (!next.empty() && next[0] != ' ' && next[0] != '[' && next[0] != '\t') return false;
  skip_stamp(stamp, TimeSource::kFraming);
  unit(true);
  return true;
}

bool Peeler::dated() {
  if (rest_.size() < 15 || rest_[3] != ' ') return false;
  if (const Stamp stamp = scan_asctime(rest_); stamp.length != 0) {
    const std::string_view next = after(stamp.length);
    const bool tagged = next.starts_with("<std") || scan_mpi_tag(next).length != 0;
    if (!tagged && !message_ahead(after_blanks(stamp.length))) return false;
    return skip_stamp(stamp, TimeSource::kFramingLocal);
  }
  // journalctl -o short-full: "Thu 2026-01-22 10:11:12 UTC host unit[pid]: ".
  if (const Stamp stamp = scan_iso(after(4)); stamp.length != 0 && is_alpha(rest_[0])) {
    const std::string_view saved = rest_;
    const std::size_t zone = after(4 + stamp.length).starts_with(' ') ? name_length(after(5 + stamp.length)) : 0;
    skip(5 + stamp.length + zone + 1);
    if (!unit(true)) return (rest_ = saved, false);
    frame_.set_time(stamp.time_us, TimeSource::kFraming);
    return true;
  }
  const Stamp month = scan_month(rest_);
  if (month.length == 0) return false;
  const std::string_view saved = rest_;
  skip_stamp(month, TimeSource::kNone);
  if (unit(false) || message_ahead(rest_)) return true;
  return (rest_ = saved, false);
}

bool Peeler::unit(bool strict) {
  const std::size_t host = name_length(rest_);
  if (host == 0 || host > kMaxName || !after(host).starts_with(' ') || is_common_word(rest_.substr(0, host)))
    return false;
  std::string_view rest = after(host + 1);
  std::size_t n = 0;
  while (n < rest.size() && n < 128 && (is_name_char(rest[n]) || std::string_view("@/\\()+").find(rest[n]) != kNpos))
    ++n;
  const std::string_view name = rest.substr(0, n);
  rest.remove_prefix(n);
  std::optional<std::int64_t> pid;
  if (consume(rest, "[")) {
    pid = parse_i64(take_digits(rest).substr(0, 10));
    if (!pid || !consume(rest, "]")) return false;
  }
  if (name.empty() || is_digit(name[0]) || !consume(rest, ":") || (!rest.empty() && !consume(rest, " "))) return false;
  if (strict && !pid && name != "kernel") return false;
  frame_.set_host(rest_.substr(0, host), Origin::kWrapper);
  frame_.set_pid(pid, Origin::kUnit);
  if (name != "kernel") frame_.set_launcher("journald");
  return take(rest_.size() - rest.size());
}

bool Peeler::word() {
  if (rest_.starts_with("kernel: ")) return take(8);
  if (rest_.starts_with("pod/")) return pod_word();
  if (const std::size_t n = rest_[0] >= 'A' && rest_[0] <= 'Z' ? scan_vllm_header(rest_) : 0; n != 0) {
    frame_.set_launcher("vllm");
    return skip(n);
  }
  const std::size_t n = name_length(rest_);
  if (n == 0 || n > kMaxName || n == rest_.size()) return false;
  const std::string_view name = rest_.substr(0, n);
  if (rest_[n] == ':') return host_word(name);
  return rest_[n] == ' ' && (compose(name) || stern(name));
}

bool Peeler::pod_word() {
  const std::size_t n = name_length(after(4));
  if (n == 0 || n > kMaxName) return false;
  std::string_view next = after(4 + n);
  if (!consume(next, " ") && !consume(next, ": ") && !next.empty()) return false;
  for (const std::string_view own : {"created", "deleted", "configured", "unchanged", "labeled", "condition met",
                                     "patched", "annotated", "evicted", "\"", "replaced"}) {
    if (next.starts_with(own)) return false;
  }
  set_pod(rest_.substr(4, n));
  return take(rest_.size() - next.size());
}

bool Peeler::host_word(std::string_view name) {
  const std::string_view next = after(name.size() + 1);
  if (!next.empty() && next[0] != ' ') return false;
  const std::string_view text = next.substr(next.empty() ? 0 : 1);
  if (!known(name)) {
    if (name.size() < 2 || is_common_word(name) || trim(text).empty()) return false;
    // nccl-tests names its host itself: "gpu-a07: Test NCCL failure common.cu:958".
    if (text.starts_with("Test NCCL failure") || text.starts_with("Test CUDA failure")) return false;
    if (!is_plausible_host(name) && !message_ahead(text)) return false;
  }
  if (name_count_ < names_.size()) names_[name_count_++] = name;
  frame_.set_host(name, Origin::kWrapper);
  const bool pod = is_kubernetes_name(name);
  if (pod) frame_.shape.kubernetes = true;
  frame_.set_launcher(pod ? "kubectl" : "pdsh");
  return take(name.size() + (next.empty() ? 1 : 2));
}

bool Peeler::compose(std::string_view name) {
  std::string_view next = after_blanks(name.size());
  if (!consume(next, "|") || (!next.empty() && next[0] != ' ')) return false;
  consume(next, " ");
  const std::size_t number = name.find_last_not_of("0123456789");
  const bool numbered = number != kNpos && number + 1 < name.size() && (name[number] == '-' || name[number] == '_') &&
                        number > 0 && !name.starts_with("mlx");
  if (!numbered && !known(name) && !message_ahead(next)) return false;
  if (name_count_ < names_.size()) names_[name_count_++] = name;
  frame_.set_launcher("docker-compose");
  return take(rest_.size() - next.size());
}

bool Peeler::stern(std::string_view name) {
  constexpr std::string_view kArrow = " \u203A ";
  std::string_view next = after(name.size());
  const bool arrow = consume(next, kArrow);
  if (!arrow && (!consume(next, " ") || !looks_like_pod(name))) return false;
  const std::size_t n = name_length(next);
  if (n == 0 || n > kMaxName || (n < next.size() && next[n] != ' ')) return false;
  const std::string_view both = rest_.substr(0, rest_.size() - next.size() + n);
  next.remove_prefix(n);
  consume(next, " ");
  if (arrow) consume(next, "| ") || consume(next, "\u2502 ");
  if (!arrow && !known(both) && !message_ahead(next)) return false;
  if (!arrow && name_count_ < names_.size()) names_[name_count_++] = both;
  set_pod(name);
  return take(rest_.size() - next.size());
}

void Peeler::note_own_stamp() {
  if (frame_.time_source >= TimeSource::kOwnStamp || rest_.size() < 19) return;
  if (rest_[0] != '[' && !is_digit(rest_[0])) return;
  const Stamp stamp = rest_[0] == '[' ? scan_bracket_stamp(rest_) : scan_iso(rest_);
  if (stamp.length != 0) frame_.set_time(stamp.time_us, TimeSource::kOwnStamp);
}

void Frame::set_time(std::optional<std::int64_t> time_us, TimeSource source) {
  if (!time_us || source <= time_source) return;  // of equal ones the outer stays
  shape.time_us = time_us;
  time_source = source;
}

void Frame::set_host(std::string_view host, Origin origin) {
  // The innermost wrapper is nearest to the program: "10.0.0.1: 10.0.0.2: text" was written on 10.0.0.2.
  if (host.empty() || origin < host_origin) return;
  shape.host.assign(host);
  host_origin = origin;
}

void Frame::set_pid(std::optional<std::int64_t> pid, Origin origin) {
  if (!pid || origin < pid_origin) return;
  shape.pid = pid;
  pid_origin = origin;
}

void Frame::set_launcher(std::string_view launcher) {
  if (shape.launcher.empty()) shape.launcher.assign(launcher);
}

void confirm(Words& words, std::string_view word) {
  if (word.size() > 2 * kMaxName || words.size() >= kMaxWords || words.find(word) != words.end()) return;
  words.emplace(word);
}

Peeled peel(std::string_view text, Frame& frame, Words& words) {
  return Peeler(text, frame, words).run();
}

}  // namespace pindown::logs
