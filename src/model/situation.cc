// SPDX-License-Identifier: Apache-2.0
// See situation.h. Every derivation here says in one place what several checks would otherwise each guess.
#include "model/situation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "base/errno_name.h"
#include "base/host_name.h"
#include "base/text.h"
#include "logs/nccl_version.h"
#include "model/demand.h"

namespace pindown {
namespace {

using logs::Event;
using logs::Kind;
using logs::MemoryType;

constexpr Limit kLow{std::uint64_t{64} << 20};  // below 64 MiB RDMA jobs fail in practice; product.md "What is enough?"

bool is_queue_or_pd(Kind kind) {
  return kind == Kind::kCreateQueue || kind == Kind::kAllocPd;
}

}  // namespace

bool Situation::registration() const {
  if (incident == nullptr) return false;
  const Kind what = incident->first.kind;
  return what == Kind::kRegMr || what == Kind::kRegDmabuf || is_queue_or_pd(what);
}

bool Situation::queue() const {
  return incident != nullptr && incident->first.kind == Kind::kCreateQueue;
}

logs::Kind Situation::failure() const {
  return incident->first.kind;
}

bool Situation::has_errno(int number) const {
  return incident != nullptr && incident->first.error == number;
}

bool Situation::no_errno() const {
  return incident != nullptr && !incident->first.error.has_value();
}

bool Situation::enomem_possible() const {
  if (incident == nullptr) return false;
  if (incident->first.error) return *incident->first.error == ENOMEM;
  // A line without errno, or torch's bare ncclSystemError: anything a system call can answer is possible.
  return registration() || incident->first.kind == Kind::kLibraryError || incident->first.kind == Kind::kMemlockWarning;
}

logs::MemoryType Situation::memory() const {
  if (incident == nullptr || run == nullptr) return MemoryType::kUnknown;
  return derive_buffer(*incident, *run).memory;
}

bool Situation::gpu_possible() const {
  return memory() != MemoryType::kHost;
}

bool Situation::in_kubernetes() const {
  if (process != nullptr && (contains(process->cgroup, "kubepods") || contains(process->target, "/"))) return true;
  if (incident == nullptr) return false;
  if (launched_by("kubectl") || launched_by("cri")) return true;
  if (incident->first.shape.kubernetes) return true;
  return false;
}

bool Situation::pod_like_name() const {
  if (incident == nullptr || in_container()) return false;
  for (const char* launcher : {"srun", "slurm", "mpirun", "pdsh", "journald", "pbs"}) {
    if (launched_by(launcher)) return false;
  }
  return logs::looks_like_pod(incident->first.shape.host);
}

bool Situation::in_container() const {
  if (in_kubernetes()) return true;
  if (incident == nullptr) {
    return process != nullptr && (contains(process->cgroup, "docker") || contains(process->cgroup, "libpod") ||
                                  contains(process->cgroup, "containerd"));
  }
  if (logs::looks_like_docker_id(incident->first.shape.host)) return true;
  const auto& hosts = incident->hosts;
  if (std::ranges::any_of(hosts, [](const std::string& h) { return logs::looks_like_docker_id(h); })) return true;
  if (!facts->containers.empty() || launched_by("docker-json") || launched_by("pyxis") || launched_by("enroot"))
    return true;
  return std::ranges::any_of(facts->processes, [](const Process& p) { return p.kind == ProcessKind::kContainer; });
}

bool Situation::under_slurm() const {
  if (launched_by("slurm") || launched_by("pyxis")) return true;
  if (trail == nullptr) return false;
  return std::ranges::any_of(trail->links, [](const TrailLink& l) { return contains(l.name, "slurm"); });
}

bool Situation::launched_by(const char* name) const {
  if (run != nullptr && run->launchers.contains(name)) return true;
  return incident != nullptr && facts != nullptr && facts->launchers.contains(name);
}

std::optional<bool> Situation::pinned_fits() const {
  if (incident == nullptr || failure() != Kind::kRegMr || !has_errno(ENOMEM)) return std::nullopt;
  if (!limit.soft || !limit.of_job || limit.soft->is_unlimited() || !pin.bytes || !incident->first.length) {
    return std::nullopt;
  }
  return (*pin.bytes >> 12) + pages_at_least(*incident->first.length) <= limit.soft->pages();
}

bool Situation::limit_cleared() const {
  if (ipc_lock.usable == true) return true;
  // VmPin read later proves nothing about the moment of the failure, so a request that would fit now clears nothing
  // (P2).
  if (pin.at_failure && !pin.part && pinned_fits() == true) return true;
  return limit.soft && limit.of_job && limit.soft->is_unlimited();
}

bool Situation::capability_may_count() const {
  if (ipc_lock.usable || process == nullptr || !process->caps.known() || !process->caps->effective) return false;
  return has_cap(*process->caps->effective, kCapIpcLock);
}

bool Situation::limit_unlikely() const {
  return limit_cleared() || (limit.soft && limit.soft->is_unlimited());
}

std::optional<Source> Situation::raise_refused() const {
  if (incident == nullptr) return std::nullopt;
  for (const auto* list : {&incident->echoes, &incident->same}) {
    for (const Event& e : *list) {
      const bool setter = e.library == "slurm" || e.library == "shell";
      if (setter && e.kind == Kind::kMemlockWarning && logs::same_origin_host(e, incident->first)) {
        return cite_source(e);
      }
    }
  }
  const auto refused = std::ranges::find_if(facts->limit_settings, [this](const LimitSetting& setting) {
    const bool elsewhere = !setting.where.host.empty() && !incident->first.shape.host.empty() &&
                           !same_host(setting.where.host, incident->first.shape.host);
    // What a shell at a prompt may not do says little of a job that it does not start.
    return setting.refused && setting.kind != ProcessKind::kShell && !setting.where.pid && !elsewhere;
  });
  return refused == facts->limit_settings.end() ? std::nullopt : std::optional(refused->source);
}

namespace {

/// P1 of the proof rules: the request alone is larger than the limit, the path is charged, and no capability helps.
bool proven_by_size(const Situation& s) {
  const Event& first = s.incident->first;
  if (first.error != ENOMEM || !first.length || first.kind != Kind::kRegMr) return false;
  if (s.memory() == MemoryType::kGpu)
    return false;  // whether GPU memory went through the charged path is not in the log
  ChargeInput in;
  in.soft = s.limit.soft;
  in.request = first.length;
  in.cap_effective = s.ipc_lock.usable;
  in.initial_userns = s.ipc_lock.usable;
  if (first.limit_hint) in.cap_effective = false;
  const ChargeResult result = charge(in);
  return result.answer == ChargeResult::Answer::kRefused && result.proof;
}

}  // namespace

std::optional<Certainty> Situation::limit_guilty() const {
  if (incident == nullptr || limit_cleared()) return std::nullopt;
  if (incident->first.cut) return std::nullopt;  // the errno stands where nobody has looked
  if (!limit.soft && !capability_may_count() && has_errno(ENOMEM) && failure() != Kind::kRegDmabuf && raise_refused()) {
    return Certainty::kLikely;
  }
  if (!limit.soft || limit.soft->is_unlimited()) return std::nullopt;
  if (capability_may_count()) return std::nullopt;
  if (limit.soft->bytes == 0 && (has_errno(EPERM) || enomem_possible()) && limit.of_job) return Certainty::kLikely;
  if (!enomem_possible() || failure() == Kind::kRegDmabuf) return std::nullopt;
  if (limit.of_job && proven_by_size(*this)) return Certainty::kProven;
  if (const auto fits = pinned_fits(); fits && (!*fits || !pin.part)) {
    return *fits ? std::nullopt : std::optional(Certainty::kLikely);
  }
  if (limit.inherited) return *limit.soft < kLow ? std::optional(Certainty::kLikely) : std::nullopt;
  // A shell's low limit makes the job's low limit likely where the job inherits from such a shell, and only there.
  const bool over = incident->first.length && Limit{*incident->first.length} > *limit.soft;
  if (!limit.of_job && limit.holder_capable) return std::nullopt;
  if (!limit.of_job) {
    return (over || *limit.soft < kLow) && !in_container() ? std::optional(Certainty::kLikely) : std::nullopt;
  }
  if (limit.at_failure && incident->first.limit_hint) return Certainty::kLikely;
  const auto length = incident->first.length;
  if (length && Limit{*length} > *limit.soft) return Certainty::kLikely;
  return *limit.soft < kLow ? std::optional(Certainty::kLikely) : std::nullopt;
}

const Fact<std::string>* Situation::env(const std::string& name) const {
  if (process != nullptr) {
    if (const auto at = process->env.find(name); at != process->env.end() && at->second.known()) return &at->second;
  }
  for (const Process& p : facts->processes) {
    if (const auto at = p.env.find(name); kind == SubjectKind::kIncident && at != p.env.end() && at->second.known()) {
      return &at->second;
    }
  }
  const auto at = facts->env.find(name);
  return at != facts->env.end() && at->second.known() ? &at->second : nullptr;
}

bool Situation::module_loaded(const std::string& name) const {
  const auto at = facts->modules.find(name);
  return at != facts->modules.end() && at->second.value == true;
}

bool Situation::module_absent(const std::string& name) const {
  const auto at = facts->modules.find(name);
  if (at != facts->modules.end() && at->second.known()) return !*at->second;
  return facts->modules_complete.value == true;
}

const Event* Situation::kernel_event(Kind wanted) const {
  if (run == nullptr) return nullptr;
  const auto at = std::ranges::find(run->kernel, wanted, &Event::kind);
  return at == run->kernel.end() ? nullptr : &*at;
}

Evidence Situation::failure_evidence() const {
  return cite(incident->first);
}

std::string how_to_read(const Facts& machine) {
  return machine.read_as_root ? "refused even to root: run on the machine itself, outside any container"
                              : "run as root";
}

std::string how_to_read(const Situation& s) {
  return how_to_read(*s.facts);
}

Evidence cite(const Source& source, std::string note) {
  return {source.path, source.text, std::move(note)};
}

Evidence cite(const Event& event, std::string note) {
  return {fmt::format("{}:{}", event.input, event.line), event.raw, std::move(note)};
}

Source cite_source(const Event& event) {
  return {fmt::format("{}:{}", event.input, event.line), event.raw};
}

}  // namespace pindown
