// SPDX-License-Identifier: Apache-2.0
// Whose a pasted fact is: finds or makes the Process of a line from its wrapper, the prompt, the command and the file
// that was read. Entry point: subject. Two readings that differ become two processes: nothing seen is overwritten.
#include "base/text.h"
#include "facts/paste_internal.h"

namespace pindown::paste {
namespace {

struct Identity {
  Where where;
  ProcessKind kind = ProcessKind::kUnknown;
  std::string comm;
  std::string user;
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
}

/// What an earlier ps said the pid is, if that starts containers or jobs.
std::string name_of_pid(const Facts& facts, std::int64_t pid) {
  const auto at = facts.pid_names.find(pid);
  if (at == facts.pid_names.end()) return {};
  for (const std::string_view daemon : {"containerd-shim", "conmon", "slurmd", "slurmstepd", "raylet", "pbs_mom"}) {
    if (at->second.starts_with(daemon)) return std::string(daemon);
  }
  return {};
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
  Identity id{{shape.host, shape.pid, shape.rank}, ProcessKind::kUnknown, {}, {}};
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
  return &p;
}

bool same(const Process& p, const Identity& id) {
  return p.kind == id.kind && p.where == id.where && (id.comm.empty() || p.comm == id.comm) &&
         (id.user.empty() || p.user.empty() || p.user == id.user);
}

bool differs(const std::optional<Limit>& known, const std::optional<Limit>& seen) {
  return known && seen && *known != *seen;
}

}  // namespace

Source Context::source() const {
  Source out;
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
  if (p && p->memlock.known() && (differs(p->memlock->soft, limit.soft) || differs(p->memlock->hard, limit.hard))) {
    p = another_subject(c);
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

}  // namespace pindown::paste
