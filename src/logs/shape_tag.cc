// SPDX-License-Identifier: Apache-2.0
// The tags that launchers, terminals and shells put before a line: mpirun, torchrun, Ray, vLLM, prompts, colours whose
// escape character got lost. Entry points: the scan_ functions; each looks only at the front of a text.
#include <algorithm>

#include "base/text.h"
#include "logs/shape_parts.h"

namespace pindown::logs {
namespace {

constexpr std::size_t kMaxHeader = 320;  // longest tag that is believed

std::optional<std::int64_t> number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == kNpos || (at > 0 && is_alnum(text[at - 1]))) return std::nullopt;
  text.remove_prefix(at + key.size());
  return parse_i64(take_digits(text).substr(0, 10));
}

}  // namespace

MpiTag scan_mpi_tag(std::string_view text) {
  MpiTag tag;
  std::size_t at = 0;
  std::optional<std::int64_t> lone;
  for (int group = 0; group < 4 && at < text.size() && text[at] == '['; ++group) {
    const std::size_t close = text.substr(0, at + kMaxHeader).find(']', at);
    if (close == kNpos) return {};
    std::string_view inner = text.substr(at + 1, close - at - 1);
    at = close + 1;
    const std::string_view whole = inner;
    const auto number = small_number(take_digits_back(inner));
    if (!number) continue;
    if (inner.empty()) lone = number;
    if (consume_back(inner, ',')) tag.rank = number;
    if (consume_back(inner, ':') && is_host(inner)) {
      tag.host = whole.substr(0, inner.size());
      tag.pid = number;
    }
  }
  if (at == 0) return {};
  std::string_view rest = text.substr(at);
  if (!consume(rest, "<std") || !(consume(rest, "out") || consume(rest, "err") || consume(rest, "diag"))) return {};
  if (!consume(rest, ">:")) return {};
  // PMIx writes ": ", orted ":"; a second blank is the line's own indent.
  if (rest.starts_with(' ') && !rest.starts_with("  ")) rest.remove_prefix(1);
  if (!tag.rank) tag.rank = lone;
  tag.length = text.size() - rest.size();
  return tag;
}

std::size_t scan_bare_colour(std::string_view text) {
  std::string_view rest = text;
  if (!consume(rest, "#033[") && !consume(rest, "^[[") && !consume(rest, "[")) return 0;
  while (!rest.empty() && (is_digit(rest[0]) || rest[0] == ';')) rest.remove_prefix(1);
  return consume(rest, "m") ? text.size() - rest.size() : 0;
}

RoleTag scan_role_tag(std::string_view text) {
  std::string_view rest = text.substr(0, 48);
  if (!consume(rest, "[")) return {};
  std::size_t n = 0;
  while (n < rest.size() && (is_alpha(rest[n]) || rest[n] == '_' || rest[n] == '-')) ++n;
  const std::string_view name = rest.substr(0, n);
  rest.remove_prefix(n);
  const auto number = parse_i64(take_digits(rest).substr(0, 9));
  if (n == 0 || !number || !consume(rest, "]:")) return {};
  return {text.substr(0, 48).size() - rest.size(), name == "rank", *number};
}

Actor scan_actor(std::string_view text) {
  if (!text.starts_with('(')) return {};
  const std::string_view head = text.substr(0, kMaxHeader);
  int depth = 0;
  std::size_t end = 0;
  for (; end < head.size(); ++end) {  // an actor's name may have brackets of its own
    if (head[end] == '(') ++depth;
    if (head[end] == ')' && --depth == 0) break;
  }
  if (end == head.size() || (end + 1 < text.size() && text[end + 1] != ' ')) return {};
  const std::string_view inner = text.substr(1, end - 1);
  Actor actor{std::min(end + 2, text.size()), inner.substr(0, inner.find_first_of(" (,")), {}, {}, {}};
  actor.pid = number_after(inner, "pid=");
  if (!actor.pid && actor.name != "raylet" && actor.name != "autoscaler") return {};
  actor.rank = number_after(inner, "rank=");
  if (const std::size_t ip = inner.find("ip="); ip != kNpos) {
    actor.ip = inner.substr(ip + 3, name_length(inner.substr(ip + 3)));
  }
  return actor;
}

bool is_vllm(const Actor& actor) {
  const std::string_view n = actor.name;
  return actor.ip.empty() && (n == "Worker" || n.starts_with("Worker_") || n.starts_with("VllmWorker") ||
                              n.starts_with("EngineCore") || n.starts_with("APIServer") || n.starts_with("ApiServer"));
}

bool is_prompt(std::string_view text) {
  if (text.starts_with("$ ")) return true;
  const std::string_view head = text.substr(0, 80);
  const std::size_t at = head.find('@');
  const std::size_t end = std::min(head.find("# "), head.find("$ "));
  return at != kNpos && end != kNpos && at < end && head.substr(0, at).find(' ') == kNpos;
}

std::size_t scan_vllm_header(std::string_view text) {
  std::string_view rest = text.substr(0, kMaxHeader);
  const std::size_t whole = rest.size();
  const std::size_t blank = rest.find(' ');
  if (blank == kNpos || !is_level(rest.substr(0, blank))) return 0;
  rest.remove_prefix(blank + 1);
  if (take_digits(rest).size() != 2 || !consume(rest, "-") || take_digits(rest).size() != 2 || !consume(rest, " "))
    return 0;
  const std::size_t clock = scan_clock(rest).length;
  rest.remove_prefix(clock);
  if (clock == 0 || !consume(rest, " ")) return 0;
  consume(rest, "[");
  const std::size_t close = rest.find(']');
  if (close == kNpos || rest.substr(0, close).find(':') == kNpos || rest.substr(0, close).find(' ') != kNpos) return 0;
  rest.remove_prefix(close + 1);
  consume(rest, " ");
  return whole - rest.size();
}

}  // namespace pindown::logs
