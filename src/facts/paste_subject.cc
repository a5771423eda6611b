// SPDX-License-Identifier: Apache-2.0
// Whose a pasted fact is: finds or makes the Process of a line from its wrapper, the prompt, the command and the file
// that was read. Entry point: subject. Two readings that differ become two processes: nothing seen is overwritten.
#include <utility>

#include "base/text.h"
#include "facts/paste_internal.h"

namespace pindown::paste {
namespace {

struct Identity {
  Where where;
  std::optional<std::int64_t> wrapper_pid;
  ProcessKind kind = ProcessKind::kUnknown;
  std::string comm;
  std::string user;
  std::string target;
};

/// The block's command, when it is known, says more than a bare line.
void apply_block(const Context& c, Identity& id) {
  const Stream& s = c.stream;
  const bool asked = !s.command.questions.empty();
  const ProcessKind kind = asked ? s.kind : s.command.kind;
  if (kind != ProcessKind::kUnknown) id.kind = kind;
  if (!c.fan && !s.host.empty()) id.where.host = s.host;
  if (c.fan && id.where.host.empty()) id.where.host = c.fan_host.empty() ? s.host : c.fan_host;
  id.user = s.user;
  id.target = s.target;
}

/// What an earlier ps said the pid is, if that starts containers or jobs.
std::string name_of_pid(const Facts& facts, std::int64_t pid) {
  const auto at = facts.pid_names.find(pid);
  if (at == facts.pid_names.end()) return {};
  for (const std::string_view shim : {"containerd-shim", "conmon"}) {
    if (at->second.starts_with(shim)) return std::string(shim);
  }
  return std::string(job_daemon(at->second));
}

void apply_question(const Facts& facts, const Question& q, Identity& id) {
  if (!q.other_process) return;
  id.where.pid = q.pid;
  id.comm = q.comm.empty() && q.pid ? name_of_pid(facts, *q.pid) : q.comm;
  id.user.clear();
  if (id.kind == ProcessKind::kContainer) return;
  if (!id.comm.empty()) {
    id.kind = ProcessKind::kDaemon;
    id.where.rank.reset();
  } else if (id.kind != ProcessKind::kJob) {
    id.kind = ProcessKind::kUnknown;
  }
}

Identity identify(const Context& c) {
  const logs::Shape& shape = c.line.shape;
  // A wrapper's pid is that of what passed the line on: a script under systemd, an actor that started the rank.
  const bool own_pid = shape.nccl_prefix || shape.ucx_prefix;
  Identity id;
  id.where = {shape.host, own_pid ? shape.pid : std::nullopt, shape.rank};
  if (!own_pid) id.wrapper_pid = shape.pid;
  if (is_wrapped(shape)) id.kind = ProcessKind::kJob;
  if (c.stream.open) apply_block(c, id);
  if (c.question) apply_question(c.facts, *c.question, id);
  return id;
}

Process* make(Facts& facts, const Identity& id) {
  if (facts.processes.size() >= kMaxProcesses) return nullptr;
  Process& p = facts.processes.emplace_back();
  p.where = id.where;
  p.kind = id.kind;
  p.comm = id.comm;
  p.user = id.user;
  p.target = id.target;
  p.wrapper_pid = id.wrapper_pid;
  return &p;
}

bool same(const Process& p, const Identity& id) {
  return p.kind == id.kind && p.where == id.where && p.target == id.target && p.wrapper_pid == id.wrapper_pid &&
         (id.comm.empty() || p.comm == id.comm) && (id.user.empty() || p.user.empty() || p.user == id.user);
}

bool differs(const std::optional<Limit>& known, const std::optional<Limit>& seen) {
  return known && seen && *known != *seen;
}

/// The command that opened the block printed `p`'s limit as well, and for another task.
bool of_same_command(const Context& c, const Process& p) {
  if (!c.stream.open || !c.stream.command.fan_out || !(p.where == Where{})) return false;
  const auto colon = p.memlock.source.path.rfind(':');
  const auto line = parse_u64(std::string_view(p.memlock.source.path).substr(colon + 1));
  return line && *line > c.stream.command_line.line;
}

/// Whose machine the line tells of.
std::string machine_of(const Context& c) {
  const Stream& s = c.stream;
  if (c.fan && (!c.fan_host.empty() || !c.line.shape.host.empty())) {
    return c.fan_host.empty() ? c.line.shape.host : c.fan_host;
  }
  if (s.open && !s.machine.empty()) return s.machine;
  return s.open && s.command.elsewhere ? std::string() : c.line.shape.host;
}

}  // namespace

Source Context::source() const {
  Source out;
  out.host = machine_of(*this);
  out.path = input + ":" + std::to_string(line.line);
  out.text =
      trim(line.raw.empty() ? std::string_view(line.shape.text).substr(0, kMaxLine) : std::string_view(line.raw));
  return out;
}

Process* subject(const Context& c) {
  const Identity id = identify(c);
  auto& all = c.facts.processes;
  for (auto p = all.rbegin(); p != all.rend(); ++p) {
    if (!same(*p, id)) continue;
    if (p->user.empty()) p->user = id.user;
    return &*p;
  }
  return make(c.facts, id);
}

Process* another_subject(const Context& c) {
  return make(c.facts, identify(c));
}

void learn_memlock(const Context& c, const MemlockLimit& limit) {
  Process* p = subject(c);
  const bool own = !c.question || !c.question->other_process;
  const bool raised = own && std::exchange(c.stream.raised, false);
  if (p && p->memlock.known() &&
      (raised || differs(p->memlock->soft, limit.soft) || differs(p->memlock->hard, limit.hard))) {
    const bool mixed = !raised && of_same_command(c, *p);
    p->of_several |= mixed;
    p = another_subject(c);
    if (p) p->of_several = mixed;
  }
  if (!p) return;
  if (!p->memlock.known()) {
    p->memlock = Fact<MemlockLimit>::of(limit, c.source());
    return;
  }
  MemlockLimit& known = *p->memlock.value;
  if (!known.soft) known.soft = limit.soft;
  if (!known.hard) known.hard = limit.hard;
}

void learn_settings(const Context& c) {
  Stream& s = c.stream;
  auto& all = c.facts.limit_settings;
  const Identity id = identify(c);
  s.first_setting = all.size();
  for (const LimitRequest& request : s.command.settings) {
    if (all.size() >= kMaxList) break;
    LimitSetting& out = all.emplace_back();
    out.where = id.where;
    if (request.pid) out.where.pid = request.pid;
    out.kind = s.kind;
    out.value = request.value;
    out.soft = request.soft;
    out.hard = request.hard;
    out.source = c.source();
    s.raised |= !request.pid;
  }
  s.settings = all.size() - s.first_setting;
}

}  // namespace pindown::paste
