// SPDX-License-Identifier: Apache-2.0
// See derive.h.
#include "checks/derive.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/host_name.h"
#include "base/text.h"
#include "checks/limit_common.h"

namespace pindown {
namespace {

using logs::Event;

/// How well a process record of the log fits the failure; -1: it belongs to somebody else.
int fit(const Process& p, const Event& first, bool container_failure) {
  if (p.kind == ProcessKind::kDaemon) return -1;
  if (p.of_several) return -1;
  if (!p.where.host.empty() && !first.shape.host.empty() && !same_host(p.where.host, first.shape.host)) {
    // A pod prefix and the NCCL host name may differ for one process; another rank's host never fits.
    const bool same_rank = p.where.rank && p.where.rank == first.shape.rank;
    const bool wrapped = contains(first.shape.wrapper, p.where.host);  // "10.0.0.2: node7:41:90 [0] …"
    if (p.kind != ProcessKind::kContainer && !same_rank && !wrapped) return -1;
  }
  if (p.where.rank && first.shape.rank && p.where.rank != first.shape.rank) {
    // Task 1 of a probe may be on the host where the job has rank 8.
    const bool here = !p.where.host.empty() && same_host(p.where.host, first.shape.host);
    if (!here || p.kind != ProcessKind::kJob || p.where.pid) return -1;
  }
  const bool first_of_container = p.where.pid == 1 && (container_failure || p.kind == ProcessKind::kContainer);
  if (p.where.pid && first.shape.pid && p.where.pid != first.shape.pid && !first_of_container) return -1;
  int score = 0;
  if (p.where.pid && p.where.pid == first.shape.pid) score += 8;
  if (p.where.rank && p.where.rank == first.shape.rank) score += 6;
  if (!p.where.host.empty() && same_host(p.where.host, first.shape.host)) score += 3;
  if (p.kind == ProcessKind::kJob) score += 4;
  if (p.kind == ProcessKind::kContainer) score += container_failure ? 4 : 1;
  if (p.kind == ProcessKind::kUnknown) score += 2;
  return score;
}

/// "train.log:120" → "train.log"
std::string input_of(const Source& source) {
  return source.path.substr(0, source.path.rfind(':'));
}

/// The failing line's own names say container: the node under it has another name and other facts.
bool names_container(const Event& first) {
  return logs::looks_like_docker_id(first.shape.host) || first.shape.kubernetes;
}

/// A fact from another rank's log is not about the failing one unless both name the same host, pid or rank.
bool other_ranks_fact(const Process& p, const Source& source, const Event& first, const logs::RunContext& run) {
  const std::string input = input_of(source);
  if (input == first.input || !run.job_inputs.contains(input)) return false;
  const bool here = !p.where.host.empty() && same_host(p.where.host, first.shape.host);
  const bool same_rank = p.where.rank && p.where.rank == first.shape.rank;
  return !here && !same_rank;
}

const Source& source_of(const Process& p) {
  if (p.memlock.known()) return p.memlock.source;
  return p.caps.known() ? p.caps.source : p.initial_userns.source;
}

bool carries_limits(const Process& p) {
  return p.memlock.known() || p.caps.known() || p.initial_userns.known() || p.vm_pin.known() || p.map_count.known();
}

std::optional<bool> usable_capability(const Process& p, const Facts& facts) {
  ChargeInput in;
  if (p.caps.known() && p.caps->effective) in.cap_effective = has_cap(*p.caps->effective, kCapIpcLock);
  if (p.initial_userns.known()) in.initial_userns = *p.initial_userns;
  // Not known, but nothing hints at a user namespace: the effective set of a pasted status decides either way only for
  // "no".
  (void)facts;
  return ipc_lock_usable(in);
}

}  // namespace

namespace {

/// 120 if "train.log:120" is of `input`, else nothing.
std::optional<std::uint64_t> line_in(const Source& source, const std::string& input) {
  if (source.path.size() <= input.size() || input_of(source) != input) return std::nullopt;
  return parse_u64(std::string_view(source.path).substr(input.size() + 1));
}

/// The last time the failure is seen in its input: a limit read before that governs it, one raised in between does not
/// excuse it.
std::uint64_t last_line(const logs::Incident& incident) {
  std::uint64_t last = incident.first.line;
  for (const Event& e : incident.same) {
    if (e.input == incident.first.input && logs::same_origin_host(e, incident.first)) last = std::max(last, e.line);
  }
  return last;
}

/// Among readings that fit equally well the last one before the failure counts, else the first one after it.
std::int64_t nearness(const Source& source, const logs::Incident& incident) {
  const auto line = line_in(source, incident.first.input);
  if (!line) return 0;
  constexpr std::int64_t kBefore = std::int64_t{1} << 40;
  const std::uint64_t failure = last_line(incident);
  return *line < failure ? kBefore + static_cast<std::int64_t>(*line) : kBefore - static_cast<std::int64_t>(*line);
}

/// Read by `docker exec X`, `kubectl exec X`: only X's own failure is meant, as far as the names can be compared.
bool other_target(const Process& p, const Event& first) {
  if (p.target.empty()) return false;
  const std::string_view target = std::string_view(p.target).substr(p.target.rfind('/') + 1);
  const std::string& host = first.shape.host;
  return !host.empty() && !host.starts_with(target) && !contains(first.shape.wrapper, target);
}

}  // namespace

const Process* process_of_incident(const logs::Incident& incident, const logs::RunContext& run, const Facts& facts) {
  const Event& first = incident.first;
  const bool container = names_container(first);
  const Process* best = nullptr;
  std::pair<int, std::int64_t> best_score{-1, 0};
  for (const Process& p : facts.processes) {
    // A shell in a child user namespace is inside the container; any other shell may be anywhere.
    if (p.kind == ProcessKind::kShell && p.initial_userns.value != false) continue;
    if (!carries_limits(p) || other_target(p, first)) continue;
    if (other_ranks_fact(p, source_of(p), first, run)) continue;
    const int fits = fit(p, first, container);
    const std::pair score{fits + (p.memlock.known() ? 1 : 0), nearness(source_of(p), incident)};
    if (fits >= 0 && score > best_score) best = &p, best_score = score;
  }
  return best;
}

namespace {

/// Daemons that start jobs directly; a session daemon's limit is changed by PAM.
bool hands_on_its_limit(std::string_view name) {
  for (const std::string_view session : {"sshd", "ssh", "cron", "crond", "atd", "systemd"}) {
    if (name == session || name == std::string(session) + ".service") return false;
  }
  return !name.empty();
}

bool fits_host(const Process& p, const Event& first) {
  return p.where.host.empty() || first.shape.host.empty() || same_host(p.where.host, first.shape.host) ||
         contains(first.shape.wrapper, p.where.host);
}

bool in_container_log(const logs::Incident& incident, const Facts& facts) {
  return names_container(incident.first) || !facts.containers.empty();
}

/// Whether this unit is what starts the failing job: a runtime for containers, a scheduler's daemon where that
/// scheduler shows, or the service whose journal the failing line is from. Any other unit's limit says nothing.
bool starts_this_job(std::string_view unit, const logs::Incident& incident, const logs::RunContext& run,
                     const Facts& facts) {
  constexpr std::string_view kRuntimes[] = {"containerd.service", "docker.service", "crio.service",
                                            "podman.service",     "k3s.service",    "rke2-agent.service"};
  if (std::ranges::find(kRuntimes, unit) != std::end(kRuntimes)) return in_container_log(incident, facts);
  if (unit == "slurmd.service") {
    return run.launchers.contains("slurm") || run.launchers.contains("pyxis") || facts.launchers.contains("slurm");
  }
  if (unit == "pbs.service" || unit == "pbs_mom.service") return run.launchers.contains("pbs");
  const std::string_view base = unit.substr(0, unit.rfind('.'));
  return base.size() > 2 && contains(incident.first.shape.wrapper, base);
}

/// The limit of what starts the job (slurmd, raylet, containerd, a unit), where the log shows it and nothing shows the
/// job's own.
std::optional<LimitView> inherited_limit(const logs::Incident& incident, const logs::RunContext& run,
                                         const Facts& facts) {
  for (const Process& p : facts.processes) {
    if (p.kind != ProcessKind::kDaemon || !p.memlock.known() || p.of_several || !hands_on_its_limit(p.comm)) continue;
    if (!fits_host(p, incident.first)) continue;
    return LimitView{p.memlock->soft, p.memlock->hard, p.memlock.source, "the limit of " + p.comm, false, false, true};
  }
  for (const UnitLimit& unit : facts.units) {
    if (!starts_this_job(unit.unit, incident, run, facts) || (!unit.memlock.soft && !unit.memlock.hard)) continue;
    const auto soft = unit.memlock.soft ? unit.memlock.soft : unit.memlock.hard;
    return LimitView{soft, unit.memlock.hard, unit.source, "the limit of " + unit.unit, false, false, true};
  }
  return std::nullopt;
}

/// A line that names only the soft limit ("current: 64 kbytes"): the hard one, from whoever shows the same soft limit.
void complete_hard(LimitView& view, const Facts& facts) {
  for (const Process& p : facts.processes) {
    if (view.hard || !p.memlock.known() || p.of_several || p.memlock->soft != view.soft) continue;
    view.hard = p.memlock->hard;
  }
}

/// Another value printed just as namelessly in the same input: whose either is, nothing says.
bool contradicted(const Process& process, const Facts& facts) {
  if (!(process.where == Where{}) || process.kind != ProcessKind::kUnknown) return false;
  return std::ranges::any_of(facts.processes, [&process](const Process& p) {
    return p.kind == process.kind && p.where == process.where && p.target == process.target && p.memlock.known() &&
           p.memlock->soft && p.memlock->soft != process.memlock->soft &&
           input_of(p.memlock.source) == input_of(process.memlock.source);
  });
}

/// Files beside the job's log that show different limits and name nobody: neither is the job's, as far as is known.
bool contradicted_elsewhere(const Process& process, const logs::Incident& incident, const Facts& facts) {
  const auto nameless = [&incident](const Process& p) {
    return p.where == Where{} && p.kind == ProcessKind::kUnknown && p.target.empty() && p.memlock.known() &&
           p.memlock->soft && input_of(p.memlock.source) != incident.first.input;
  };
  if (!nameless(process)) return false;
  return std::ranges::any_of(facts.processes, [&](const Process& p) {
    return nameless(p) && p.memlock->soft != process.memlock->soft &&
           input_of(p.memlock.source) != input_of(process.memlock.source);
  });
}

/// A shell on the failing host tells more than one on a machine without a name.
std::pair<bool, std::int64_t> shell_rank(const Process& p, const logs::Incident& incident) {
  const bool named = !p.where.host.empty() && same_host(p.where.host, incident.first.shape.host);
  return {named, nearness(p.memlock.source, incident)};
}

}  // namespace

LimitView derive_limit(const logs::Incident& incident, const logs::RunContext& run, const Process* process,
                       const Facts& facts) {
  LimitView view;
  const auto from_event = [&view](const Event& e) {
    view.soft = Limit{*e.limit};
    view.source = {fmt::format("{}:{}", e.input, e.line), e.raw};
    view.from = e.library.empty() ? "the failing program printed it" : fmt::format("{} printed it", e.library);
    view.of_job = view.at_failure = true;
  };
  if (incident.first.limit) {
    from_event(incident.first);
    complete_hard(view, facts);
    return view;
  }
  for (const auto* list : {&incident.same, &incident.echoes}) {
    for (const Event& e : *list) {
      if (e.limit && logs::same_origin(incident.first, e)) {
        from_event(e);
        complete_hard(view, facts);
        return view;
      }
    }
  }
  const auto from_process = [&view](const Process& p, std::string from, bool of_job) {
    view.soft = p.memlock->soft;
    view.hard = p.memlock->hard;
    view.source = p.memlock.source;
    view.from = std::move(from);
    view.of_job = of_job;
  };
  if (process != nullptr && process->memlock.known()) {
    if (contradicted_elsewhere(*process, incident, facts)) return view;
    // "unlimited" printed without a name in a log of several hosts may be any rank's.
    const bool named = !process->where.host.empty() || process->where.pid || process->where.rank ||
                       process->kind == ProcessKind::kJob || process->kind == ProcessKind::kContainer;
    const bool alone = incident.hosts.size() <= 1 && !contradicted(*process, facts);
    from_process(*process, "the job's own output", named || alone);
    return view;
  }
  if (const auto inherited = inherited_limit(incident, run, facts)) return *inherited;
  const Process* shell = nullptr;
  for (const Process& p : facts.processes) {
    if (p.kind != ProcessKind::kShell || !p.memlock.known() || p.of_several || !fits_host(p, incident.first)) continue;
    if (shell == nullptr || shell_rank(p, incident) > shell_rank(*shell, incident)) shell = &p;
  }
  if (shell != nullptr) {
    from_process(*shell, "a shell, which may differ from the job", false);
    const bool shown = shell->caps.known() && shell->caps->effective;
    view.holder_capable = shown ? has_cap(*shell->caps->effective, kCapIpcLock)
                                : limits::is_root(*shell) && !in_container_log(incident, facts);
  }
  return view;
}

namespace {

/// `ulimit -l unlimited` that was not refused, between the reading of the limit and the failure.
void apply_settings(LimitView& view, const logs::Incident& incident, const Facts& facts) {
  if (!view.soft || view.at_failure) return;
  const auto read = line_in(view.source, incident.first.input);
  for (const LimitSetting& setting : facts.limit_settings) {
    const auto line = line_in(setting.source, incident.first.input);
    if (setting.refused || !setting.soft || !line || !read || *line < *read || *line > last_line(incident)) continue;
    view.soft = setting.value;
    view.source = setting.source;
  }
}

bool is_foreign(const std::string& fact_host, const std::string& host) {
  if (fact_host.empty() || host.empty()) return false;
  return !same_host(fact_host, host);
}

template <class T>
void drop_foreign(Fact<T>& fact, const std::string& host) {
  if (is_foreign(fact.source.host, host)) fact = {};
}

template <class Map>
void drop_foreign_of(Map& facts, const std::string& host) {
  for (auto& [name, fact] : facts) drop_foreign(fact, host);
}

/// The devices of `host`, and those of nobody in particular, by their names alone.
std::map<std::string, RdmaDevice> devices_of(const std::string& host, const std::map<std::string, RdmaDevice>& all) {
  std::map<std::string, RdmaDevice> own;
  for (const auto& [key, device] : all) {
    if (!is_foreign(device.host, host)) merge_device(own[device.name], device);
  }
  return own;
}

/// Several commands about one container tell of the same user's process in it: what one of them shows, all have.
/// (Whose limit it is, with_companion() decides.)
void join_container_records(std::vector<Process>& processes) {
  struct Known {
    Fact<CapabilitySets> caps;
    Fact<std::uint32_t> euid;
    std::string user;
    bool of_several_users = false;
  };
  std::map<std::string, Known> containers;
  const auto key_of = [](const Process& p) { return fmt::format("{}\n{}", p.target, p.where.host); };
  const auto joins = [](const Process& p) {
    return p.kind == ProcessKind::kContainer && !p.of_several && (!p.target.empty() || !p.where.host.empty());
  };
  for (const Process& p : processes) {
    if (!joins(p)) continue;
    Known& known = containers[key_of(p)];
    known.of_several_users |= !known.user.empty() && !p.user.empty() && known.user != p.user;
    if (known.user.empty()) known.user = p.user;
    if (!known.caps.known()) known.caps = p.caps;
    if (!known.euid.known()) known.euid = p.euid;
  }
  for (Process& p : processes) {
    if (!joins(p)) continue;
    const Known& known = containers[key_of(p)];
    if (known.of_several_users) continue;
    if (!p.caps.known()) p.caps = known.caps;
    if (!p.euid.known()) p.euid = known.euid;
  }
}

}  // namespace

Facts facts_of(const logs::Incident& incident, const Facts& facts) {
  const std::string host = names_container(incident.first) ? std::string() : incident.first.shape.host;
  Facts own = facts;
  own.devices = devices_of(host, facts.devices);
  join_container_records(own.processes);
  if (host.empty()) return own;
  std::erase_if(own.gpus, [&host](const Gpu& gpu) { return is_foreign(gpu.host, host); });
  drop_foreign(own.kernel, host);
  drop_foreign(own.arch, host);
  drop_foreign(own.distro, host);
  drop_foreign(own.cmdline, host);
  drop_foreign(own.nvidia_license, host);
  drop_foreign(own.rdma_present, host);
  drop_foreign(own.sshd_usepam, host);
  drop_foreign(own.modules_complete, host);
  drop_foreign_of(own.modules, host);
  drop_foreign_of(own.sysctl, host);
  drop_foreign_of(own.hugetlb_limit, host);
  std::erase_if(own.meminfo.bytes, [&own, &host](const auto& entry) {
    const auto source = own.meminfo.source.find(entry.first);
    return source != own.meminfo.source.end() && is_foreign(source->second.host, host);
  });
  const auto foreign = [&host](const auto& item) { return is_foreign(item.source.host, host); };
  std::erase_if(own.device_nodes, foreign);
  std::erase_if(own.limits_conf, foreign);
  std::erase_if(own.units, foreign);
  std::erase_if(own.limit_lines, foreign);
  std::erase_if(own.mappings, foreign);
  return own;
}

CapabilityView derive_capability(const Process* process, const Facts& facts) {
  CapabilityView view;
  if (process == nullptr) return view;
  view.usable = usable_capability(*process, facts);
  view.source = process->caps.source;
  if (view.usable == true) {
    view.why = "CAP_IPC_LOCK is effective, in the first user namespace";
  } else if (process->caps.known() && process->caps->effective && !has_cap(*process->caps->effective, kCapIpcLock)) {
    view.why = "CAP_IPC_LOCK is not in the effective set";
  } else if (process->initial_userns.value == false) {
    view.why = "the process is in a child user namespace, where the capability does not count";
    view.source = process->initial_userns.source;
  }
  return view;
}

namespace {

/// efa_mr.c, efa_mr_reg_impl(): what the domain has registered at that moment, queues and other domains not counted.
std::optional<std::uint64_t> efa_total(const Event& first) {
  constexpr std::string_view kLabel = "total mr reg size ";
  const auto at = first.library == "libfabric" ? first.raw.find(kLabel) : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  const std::string_view rest = std::string_view(first.raw).substr(at + kLabel.size());
  return parse_u64(rest.substr(0, rest.find_first_not_of("0123456789")));
}

}  // namespace

PinView derive_pin(const logs::Incident& incident, const logs::RunContext& run, const Facts& facts) {
  const Event& first = incident.first;
  if (const auto total = efa_total(first)) return {total, cite_source(first), true, true};
  for (const Process& p : facts.processes) {
    if (!p.vm_pin.known() || p.of_several || !p.where.pid || p.where.pid != first.shape.pid) continue;
    if (!fits_host(p, first)) continue;
    return {*p.vm_pin, p.vm_pin.source, run.frozen.contains({first.shape.host, *first.shape.pid}), false};
  }
  return {};
}

namespace {

/// `process`, or where it lacks what `has` asks for, another record of the same container: `exec X cat /proc/1/status`
/// and `exec X sh -c 'ulimit -l'` make one each.
template <class Has>
const Process* with_companion(const Process* process, const Facts& facts, Has has) {
  if (process == nullptr || has(*process) || process->kind != ProcessKind::kContainer) return process;
  const auto companion = std::ranges::find_if(facts.processes, [process, &has](const Process& p) {
    return p.kind == process->kind && p.target == process->target && p.where.host == process->where.host && has(p) &&
           (!p.target.empty() || !p.where.host.empty()) && !p.of_several;
  });
  return companion == facts.processes.end() ? process : &*companion;
}

}  // namespace

Situation incident_situation(const logs::Incident& incident, const logs::RunContext& run, const Facts& facts,
                             const Need& need) {
  Situation s;
  s.kind = SubjectKind::kIncident;
  s.incident = &incident;
  s.run = &run;
  s.facts = &facts;
  s.process = process_of_incident(incident, run, facts);
  const auto has_limit = [](const Process& p) { return p.memlock.known(); };
  const auto has_caps = [](const Process& p) { return p.caps.known(); };
  s.need = need;
  if (!s.need.bytes && incident.first.length) {
    s.need = {incident.first.length, fmt::format("{}:{}", incident.first.input, incident.first.line)};
  }
  s.limit = derive_limit(incident, run, with_companion(s.process, facts, has_limit), facts);
  apply_settings(s.limit, incident, facts);
  s.pin = derive_pin(incident, run, facts);
  s.ipc_lock = derive_capability(with_companion(s.process, facts, has_caps), facts);
  // UCX 1.14 and later print the hint only when the capability is not effective (uct/ib/base/ib_log.c).
  if (incident.first.limit_hint && !s.ipc_lock.usable) {
    s.ipc_lock = {false, "UCX prints this hint only without an effective CAP_IPC_LOCK", cite_source(incident.first)};
  }
  return s;
}

Situation process_situation(const Process& process, const Trail& trail, const Facts& facts, const Need& need,
                            bool daemon) {
  Situation s;
  s.kind = SubjectKind::kProcess;
  s.process = &process;
  s.trail = &trail;
  s.facts = &facts;
  s.is_daemon = daemon;
  s.need = need;
  if (process.memlock.known()) {
    s.limit = {
        process.memlock->soft, process.memlock->hard, process.memlock.source, process.memlock.source.path, true, false};
  }
  s.ipc_lock = derive_capability(&process, facts);
  return s;
}

Situation machine_situation(const Facts& facts, const Need& need) {
  Situation s;
  s.facts = &facts;
  s.need = need;
  return s;
}

}  // namespace pindown
