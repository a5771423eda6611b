// SPDX-License-Identifier: Apache-2.0
// The wrappers that open with a bracket: mpirun and rank tags, kubectl --prefix, kernel and other stamps, actors of Ray
// and vLLM, syslog priorities. Part of Peeler (shape_peeler.h), which decides their order.
#include <algorithm>

#include "base/text.h"
#include "logs/shape_peeler.h"

namespace pindown::logs {

bool Peeler::bracket() {
  return mpi_tag() || role_tag() || kubectl_prefix() || kernel_stamp() || bare_colour() || bare_rank() ||
         stamp_in_brackets() || named_bracket();
}

bool Peeler::mpi_tag() {
  const MpiTag tag = scan_mpi_tag(rest_);
  if (tag.length == 0) return false;
  if (tag.rank) frame_.shape.rank = tag.rank;
  frame_.set_host(tag.host, Origin::kWrapper);
  frame_.set_pid(tag.pid, Origin::kWrapper);
  frame_.set_launcher("mpirun");
  return take(tag.length);
}

bool Peeler::role_tag() {
  RoleTag tag = scan_role_tag(rest_);
  if (tag.length == 0) return false;
  // torchrun writes no blank after a role's name, and the number is the local rank there: only [rankN] is global.
  const bool blank = after(tag.length).starts_with(' ');
  if (!tag.rank && blank && !message_ahead(after(tag.length + 1)) && !after(tag.length).starts_with("  ")) return false;
  if (tag.rank) frame_.shape.rank = tag.number;
  frame_.set_launcher("torchrun");
  take(tag.length);
  if (blank && (tag.rank || !rest_.starts_with("  "))) take(1);
  return true;
}

bool Peeler::kubectl_prefix() {
  if (!rest_.starts_with("[pod/")) return false;
  const std::size_t close = rest_.substr(0, kMaxHeader).find(']');
  const std::size_t name = name_length(after(5));
  if (close == kNpos || name == 0 || name > kMaxName) return false;
  set_pod(rest_.substr(5, name));
  take(close + 1);
  if (rest_.starts_with(' ')) take(1);
  return true;
}

bool Peeler::kernel_stamp() {
  std::string_view rest = after(1);
  if (const Stamp stamp = scan_asctime(rest); stamp.length != 0 && after(1 + stamp.length).starts_with(']')) {
    return skip_stamp({stamp.length + 2, stamp.time_us, false}, TimeSource::kOwnStamp);
  }
  rest = after_blanks(1);
  const std::string_view seconds = take_digits(rest);
  if (seconds.empty() || !consume(rest, ".")) return false;
  const std::string_view fraction = take_digits(rest);
  if (fraction.size() != 6 || !consume(rest, "]")) return false;
  if (rest.starts_with("[ ") || rest.starts_with("[T") || rest.starts_with("[C")) {
    rest.remove_prefix(std::min(rest.find(']'), rest.size() - 1) + 1);
  }
  if (!rest.empty() && rest[0] != ' ') return false;
  return skip_stamp({rest_.size() - rest.size(), epoch_us(seconds, fraction), false}, TimeSource::kEpoch);
}

bool Peeler::bare_rank() {
  std::string_view rest = after(1);
  const std::string_view digits = take_digits(rest);
  if (digits.empty() || digits.size() > 6 || !consume(rest, "] ")) return false;
  if (!scan_library(rest).found && starts_nccl_message(rest)) {
    frame_.shape.dev = parse_i64(digits);
    return skip(digits.size() + 3);
  }
  // A container's framing may stand before it; behind any other wrapper "[3] " is the program's own.
  const std::string& outer = frame_.shape.launcher;
  const bool framed = outer == "cri" || outer == "docker-json" || outer == "docker-compose" || outer == "kubectl";
  if (frame_.shape.rank || (!frame_.shape.wrapper.empty() && !framed)) return false;
  const bool rank_seen = known("[rank]");
  const bool words = !rest.empty() && (is_alpha(rest[0]) || message_ahead(rest));
  if (!words && !rank_seen) return false;
  if (!rank_seen && scan_library(rest).found) confirm(words_, "[rank]");
  frame_.shape.rank = parse_i64(digits);
  frame_.set_launcher("mpirun");
  return take(digits.size() + 3);
}

bool Peeler::stamp_in_brackets() {
  const Stamp stamp = scan_bracket_stamp(rest_);
  if (stamp.length == 0 || !message_ahead(after_blanks(stamp.length))) return false;
  return skip_stamp(stamp, TimeSource::kOwnStamp);
}

bool Peeler::named_bracket() {
  const std::size_t close = rest_.substr(0, 96).find(']');
  if (close == kNpos) return false;
  std::size_t n = close + 1;
  if (after(n).starts_with(':')) ++n;
  if (after(n).starts_with(' ')) ++n;
  const Library library = scan_library(after(n));
  return (library.nccl || library.ucx) && take(n);
}

bool Peeler::actor() {
  const Actor actor = scan_actor(rest_);
  if (actor.length == 0) return false;
  frame_.set_pid(actor.pid, Origin::kWrapper);
  frame_.set_host(actor.ip, Origin::kWrapper);
  if (actor.rank) frame_.shape.rank = actor.rank;
  frame_.set_launcher(is_vllm(actor) ? "vllm" : "ray");
  return take(actor.length);
}

bool Peeler::priority() {
  if (rest_.starts_with("<stdout>:") || rest_.starts_with("<stderr>:")) {
    if (frame_.time_source != TimeSource::kFramingLocal) return false;
    frame_.set_launcher("mpirun");
    return take(9);
  }
  std::string_view rest = after(1);
  const std::string_view digits = take_digits(rest);
  if (digits.empty() || digits.size() > 3 || !consume(rest, ">")) return false;
  if (consume(rest, "1 ") && scan_iso(rest).iso_t) return syslog_header(rest);
  if (!rest.starts_with('[') && scan_month(rest).length == 0) return false;
  return skip(rest_.size() - rest.size());
}

bool Peeler::syslog_header(std::string_view rest) {
  const Stamp stamp = scan_iso(rest);
  rest.remove_prefix(stamp.length);
  std::array<std::string_view, 4> field;
  for (std::string_view& f : field) {
    if (!consume(rest, " ")) return false;
    f = rest.substr(0, rest.find(' '));
    rest.remove_prefix(f.size());
  }
  if (!consume(rest, " ")) return false;
  if (!consume(rest, "-")) {
    if (!rest.starts_with('[')) return false;
    const std::size_t end = std::min(rest.find("] "), rest.size() - 1);
    rest.remove_prefix(end + 1);
  }
  consume(rest, " ");
  frame_.set_time(stamp.time_us, TimeSource::kFraming);
  frame_.set_host(field[0] == "-" ? std::string_view{} : field[0], Origin::kWrapper);
  frame_.set_pid(parse_i64(field[2]), Origin::kUnit);
  frame_.set_launcher("journald");
  frame_.shape.wrapper.append(field[0]).append(" ").append(field[1]).append(": ");
  return skip(rest_.size() - rest.size());
}

}  // namespace pindown::logs
