// SPDX-License-Identifier: Apache-2.0
// Which link gives a container its memlock limit: PD301, PD302, PD303, PD304 and PD308 (table: container.cc).
// A log shows the limit, seldom the link: a link is called proven only where the log shows it as well.
#include <fmt/format.h>

#include <algorithm>

#include "base/size.h"
#include "base/text.h"
#include "checks/container_rows.h"
#include "checks/limit_common.h"

namespace pindown::container {

using limits::Standing;
using logs::Kind;

namespace {

const logs::Event& first(const Situation& s) {
  return s.incident->first;
}

bool live(const Situation& s) {
  return s.kind == SubjectKind::kProcess && s.process != nullptr;
}

bool engine(const ContainerCommand& command) {
  return command.engine == "docker" || command.engine == "podman" || command.engine == "nerdctl";
}

bool is_podman(const ContainerCommand* run) {
  return run != nullptr && run->engine == "podman";
}

/// The line number of `source` if it is a line of `input`.
std::optional<std::uint64_t> line_in(const Source& source, std::string_view input) {
  std::string_view path = source.path;
  if (!consume(path, input) || !consume(path, ":")) return std::nullopt;
  return parse_u64(path);
}

bool root_user(std::string_view user) {
  return user.empty() || user == "0" || user == "root" || user.starts_with("0:");
}

/// Docker's name of the container, if the log's host name is one: hex digits only, so safe in a command.
std::string container_id(const Situation& s) {
  if (logs::looks_like_docker_id(first(s).shape.host)) return first(s).shape.host;
  for (const std::string& host : s.incident->hosts) {
    if (logs::looks_like_docker_id(host)) return host;
  }
  return {};
}

/// In a pod. Pods are told by their names too, and "gpu-worker-1" may be a node of a batch system as well: without the
/// framing of a container runtime such a system's own lines win.
bool in_pod(const Situation& s) {
  const bool by_command = std::ranges::any_of(
      s.facts->containers, [](const ContainerCommand& c) { return c.engine == "kubectl" || c.engine == "oc"; });
  if (!s.in_kubernetes() && !by_command) return false;
  const bool batch = s.under_slurm() || s.launched_by("pbs") || s.launched_by("pdsh") || s.launched_by("torque");
  return !batch || s.launched_by("cri");
}

/// In a container of docker, podman or nerdctl, as far as the log tells. enroot, pyxis and apptainer hand on the limit
/// of the Slurm job or shell: their causes are PD202 and PD203.
bool engine_container(const Situation& s) {
  if (in_pod(s)) return false;
  if (run_command(s) != nullptr || !container_id(s).empty()) return true;
  for (const char* name : {"pyxis", "enroot", "apptainer", "singularity"}) {
    if (s.launched_by(name)) return false;
  }
  return s.in_container() && !s.in_kubernetes();
}

/// LimitMEMLOCK alone is the hard limit and sets both.
std::optional<Limit> value_of(const UnitLimit& unit) {
  return unit.memlock.soft ? unit.memlock.soft : unit.memlock.hard;
}

const UnitLimit* unit_with_limit(const Situation& s, std::string_view name) {
  const UnitLimit* unit = limits::unit_limit(*s.facts, name);
  return unit != nullptr && value_of(*unit) ? unit : nullptr;
}

// containerd-shim is a child of PID 1 and stays in its daemon's cgroup, so a trail names it after the unit.
const TrailLink* shim_link(const Situation& s) {
  if (s.trail == nullptr) return nullptr;
  const Process* daemon = limits::daemon_named(s, "containerd");
  for (const TrailLink& link : s.trail->links) {
    const bool daemon_itself = daemon != nullptr && daemon->where.pid == link.pid;
    if (contains(link.name, "containerd-shim") || (link.name == "containerd.service" && !daemon_itself)) return &link;
  }
  return nullptr;
}

/// For a live process: found, or why not. The caller adds remedies to a finding.
Outcome judge_live(const Situation& s, int weight, std::string summary) {
  const limits::Judgement judged = limits::judge(s);
  switch (judged.answer) {
    case limits::Judgement::Answer::kUnknown:
      return unknown({"/proc/PID/limits, status and ns/user of the process"}, how_to_read(s));
    case limits::Judgement::Answer::kPasses:
      return ruled_out(s.limit_cleared() ? cleared_reason(s) : limit_words(s) + " are enough");
    default:
      return limits::limit_finding(s, judged.proven ? Certainty::kProven : Certainty::kLikely, weight,
                                   std::move(summary));
  }
}

Remedy run_ulimit(const Situation& s, std::string_view engine_name) {
  return {"container-run-ulimit",
          "start the container with an unlimited memlock of its own",
          {fmt::format("{} run --ulimit memlock=-1:-1 --device /dev/infiniband IMAGE", engine_name)},
          true,
          fmt::format("{} exec {} grep 'locked memory' /proc/1/limits", engine_name, limits::container_name(s))};
}

Remedy docker_default_ulimits() {
  return {"docker-default-ulimits",
          "or give every container of this Docker an unlimited memlock; the restart stops containers unless "
          "live-restore is on",
          {"mkdir -p /etc/docker", "test -s /etc/docker/daemon.json || echo '{}' > /etc/docker/daemon.json",
           "jq '.\"default-ulimits\".memlock = {\"Name\":\"memlock\",\"Soft\":-1,\"Hard\":-1}' /etc/docker/daemon.json "
           "> /etc/docker/daemon.json.new && mv /etc/docker/daemon.json.new /etc/docker/daemon.json",
           "systemctl restart docker"},
          true,
          "docker run --rm IMAGE grep 'locked memory' /proc/1/limits"};
}

Remedy crio_ulimits(const std::string& pod) {
  return {"crio-default-ulimits",
          "CRI-O: default_ulimits, restart, then delete the pod",
          {"mkdir -p /etc/crio/crio.conf.d",
           "printf '[crio.runtime]\\ndefault_ulimits = [\"memlock=-1:-1\"]\\n' > "
           "/etc/crio/crio.conf.d/90-pindown-memlock.conf",
           "systemctl restart crio", "kubectl delete pod " + pod},
          true,
          fmt::format("kubectl exec {} -- grep 'locked memory' /proc/1/limits", pod)};
}

std::vector<Remedy> pod_remedies(const Situation& s) {
  const std::string pod = limits::pod_argument(s);
  Remedy containerd =
      containerd_limit("delete the pod so that it gets a new shim; every pod of the node gets that limit");
  containerd.commands.push_back("kubectl delete pod " + pod);
  Remedy root = {"pod-root-ipc-lock",
                 "or run the container as root with securityContext.capabilities.add: [IPC_LOCK]",
                 {},
                 true,
                 fmt::format("kubectl exec {} -- grep CapEff /proc/1/status", pod)};
  return {std::move(containerd), crio_ulimits(pod), std::move(root)};
}

std::vector<Remedy> engine_remedies(const Situation& s, bool podman) {
  if (podman) return {run_ulimit(s, "podman")};
  return {run_ulimit(s, "docker"), docker_default_ulimits(), containerd_limit("restart the containers")};
}

}  // namespace

const ContainerCommand* run_command(const Situation& s) {
  const ContainerCommand* best = nullptr;
  std::uint64_t best_line = 0;
  for (const ContainerCommand& command : s.facts->containers) {
    if (!engine(command)) continue;
    if (best == nullptr) best = &command;
    const auto line = s.incident != nullptr ? line_in(command.source, first(s).input) : std::nullopt;
    if (line && *line <= first(s).line && *line >= best_line) {
      best = &command;
      best_line = *line;
    }
  }
  return best;
}

Boxed boxed(const Situation& s) {
  if (s.process == nullptr) return Boxed::kNo;
  const std::string& cgroup = s.process->cgroup;
  for (const char* word : {"kubepods", "crio-", "cri-containerd"}) {
    if (contains(cgroup, word)) return Boxed::kPod;
  }
  if (contains(cgroup, "libpod")) return Boxed::kPodman;
  if (contains(cgroup, "docker-") || contains(cgroup, "/docker/")) return Boxed::kEngine;
  if (shim_link(s) != nullptr) return Boxed::kEngine;
  return limits::link_named(s.trail, "conmon") >= 0 ? Boxed::kPodman : Boxed::kNo;
}

std::string cleared_reason(const Situation& s) {
  const std::string at = s.limit.source.path.empty() ? "" : fmt::format(" ({})", s.limit.source.path);
  if (s.soft() && s.soft()->is_unlimited()) return "the memlock limit is unlimited" + at;
  if (s.ipc_lock.usable.value_or(false)) return s.ipc_lock.why.empty() ? "CAP_IPC_LOCK is usable" : s.ipc_lock.why;
  if (s.soft()) return fmt::format("the limit of {} has room for what was asked for{}", format_limit(*s.soft()), at);
  return "the limit is shown not to be the cause";
}

std::string limit_words(const Situation& s) {
  return s.soft() ? format_limit(*s.soft()) : std::string("a low limit");
}

std::string pod_command(const Situation& s) {
  return fmt::format("kubectl exec {} -- grep -hE 'locked memory|Cap(Eff|Bnd)' /proc/1/limits /proc/1/status",
                     limits::pod_argument(s));
}

Remedy containerd_limit(std::string_view after) {
  Remedy remedy = limits::unit_infinity("containerd.service");
  remedy.id = "containerd-limit-infinity";
  remedy.title = fmt::format("raise the limit of containerd.service and restart it, then {}", after);
  return remedy;
}

Remedy user_hard_limit() {
  Remedy remedy = limits::limits_d();
  remedy.id = "user-hard-limit";
  remedy.title =
      "raise the hard limit of the user who runs the container, log out fully (loginctl terminate-user) and in again";
  remedy.commands.insert(
      remedy.commands.end(),
      {"mkdir -p /etc/systemd/system/user@.service.d",
       "printf '[Service]\\nLimitMEMLOCK=infinity\\n' > /etc/systemd/system/user@.service.d/90-pindown-memlock.conf",
       "systemctl daemon-reload"});
  return remedy;
}

// ----------------------------------------------------------------------------------------------------------------
// PD301
namespace {

Outcome daemon_inheritance(const Situation& s) {
  const std::string& name = s.process->comm;
  if (name != "containerd" && name != "dockerd" && name != "crio") return not_applicable();
  Outcome out =
      judge_live(s, 70,
                 fmt::format("containers started by {} get {} of locked memory unless its configuration raises it",
                             name, limit_words(s)));
  if (out.kind != Outcome::Kind::kFound) return out;
  out.certainty = Certainty::kLikely;  // daemon.json, crio.conf and base_runtime_spec are not read
  // Containers are containerd's children; dockerd's own limit reaches builds only, unless it runs its own containerd.
  if (name == "dockerd" && !out.severity) out.severity = Severity::kWarning;
  if (name == "crio") {
    out.remedies = {crio_ulimits("POD")};
  } else {
    out.remedies = {containerd_limit("restart the containers and delete the pods"), docker_default_ulimits()};
  }
  return out;
}

Outcome process_inheritance(const Situation& s) {
  const Boxed box = boxed(s);
  if (box != Boxed::kEngine && box != Boxed::kPodman) return not_applicable();
  const bool podman = box == Boxed::kPodman;
  Outcome out = judge_live(s, 70,
                           fmt::format("the container has {} of locked memory, what {} has", limit_words(s),
                                       podman ? "the shell or unit that called podman" : "the daemon that started it"));
  if (out.kind == Outcome::Kind::kFound) out.remedies = engine_remedies(s, podman);
  return out;
}

/// The daemon's limit, pasted, is the container's: nothing between them set another.
const UnitLimit* same_as_daemon(const Situation& s) {
  for (const char* name : {"containerd.service", "docker.service"}) {
    const UnitLimit* unit = unit_with_limit(s, name);
    if (unit != nullptr && s.soft() && *value_of(*unit) == *s.soft()) return unit;
  }
  return nullptr;
}

Outcome inheritance_candidate(const Situation& s, const ContainerCommand* run, int weight, std::string why) {
  const std::string id = container_id(s);
  return candidate(weight, std::move(why),
                   fmt::format("{} exec {} grep -hE 'locked memory|Cap(Eff|Bnd)' /proc/1/limits /proc/1/status",
                               is_podman(run) ? "podman" : "docker", id.empty() ? "CONTAINER" : id));
}

Outcome inheritance_found(const Situation& s, const ContainerCommand* run, Standing standing) {
  const bool podman = is_podman(run);
  const UnitLimit* unit = podman ? nullptr : same_as_daemon(s);
  const bool link_shown = run != nullptr && unit != nullptr && standing == Standing::kProven;
  Outcome out = limits::limit_finding(
      s, link_shown ? Certainty::kProven : Certainty::kLikely, 70,
      fmt::format("the container runs under {} of locked memory{}", limit_words(s),
                  podman ? ": podman inherits its caller's limit" : ", its runtime daemon's limit"));
  if (run != nullptr) out.evidence.push_back(cite(run->source, "no --ulimit memlock"));
  if (unit != nullptr) out.evidence.push_back(cite(unit->source, unit->unit + " has the same limit"));
  out.remedies = engine_remedies(s, podman);
  return out;
}

/// What the run line itself says about the limit or the capability; nothing if it leaves both open.
std::optional<Outcome> judge_run_line(const Situation& s, const ContainerCommand& run, Standing standing) {
  if (run.ulimit_memlock && run.ulimit_memlock->soft) {
    return ruled_out(fmt::format("the run command asks for {} itself ({})", format_limit(*run.ulimit_memlock->soft),
                                 run.source.path));
  }
  const bool capable = (run.privileged || run.ipc_lock) && root_user(run.user);
  if (!capable || first(s).limit_hint || standing == Standing::kProven) return std::nullopt;
  return inheritance_candidate(s, &run, 40, "IPC_LOCK is granted, which counts only if the image's user is root");
}

}  // namespace

Outcome container_inherits(const Situation& s) {
  if (live(s)) return s.is_daemon ? daemon_inheritance(s) : process_inheritance(s);
  const Standing standing = limits::standing(s);
  if (s.incident == nullptr || standing == Standing::kNone || !engine_container(s)) return not_applicable();
  const ContainerCommand* run = run_command(s);
  if (standing == Standing::kCleared) return ruled_out(cleared_reason(s));
  if (run != nullptr) {
    if (auto decided = judge_run_line(s, *run, standing)) return *decided;
  }
  if (limits::guilty(standing)) return inheritance_found(s, run, standing);
  return inheritance_candidate(s, run, limits::charged_call(s) ? 60 : 45,
                               "a container has its runtime daemon's limit, commonly 8 MiB or 64 KiB");
}

// ----------------------------------------------------------------------------------------------------------------
// PD302
namespace {

Outcome wrong_unit_found(const Situation& s, int weight, Evidence docker) {
  Outcome out = limits::limit_finding(
      s, Certainty::kLikely, weight,
      fmt::format("docker.service's limit was raised, but containerd starts the containers: they get {}",
                  limit_words(s)),
      {std::move(docker)});
  out.remedies = {containerd_limit("restart the containers"), docker_default_ulimits()};
  return out;
}

bool live_short(const Situation& s) {
  const auto answer = limits::judge(s).answer;
  return answer == limits::Judgement::Answer::kLow || answer == limits::Judgement::Answer::kTight;
}

Outcome wrong_unit_live(const Situation& s) {
  if (s.is_daemon || boxed(s) != Boxed::kEngine || !live_short(s)) return not_applicable();
  const Process* dockerd = limits::daemon_named(s, "dockerd");
  const Process* containerd = limits::daemon_named(s, "containerd");
  if (dockerd == nullptr || containerd == nullptr) return not_applicable();
  const Limit started_with = *containerd->memlock->soft;
  if (started_with > *s.soft() || *dockerd->memlock->soft <= started_with) return not_applicable();
  return wrong_unit_found(s, 76, cite(dockerd->memlock.source, "dockerd"));
}

}  // namespace

Outcome wrong_unit(const Situation& s) {
  if (live(s)) return wrong_unit_live(s);
  const UnitLimit* docker = unit_with_limit(s, "docker.service");
  const Standing standing = limits::standing(s);
  if (docker == nullptr || s.incident == nullptr || standing == Standing::kNone || in_pod(s)) return not_applicable();
  const Limit raised = *value_of(*docker);
  if (!limits::would_do(raised, s)) {
    return ruled_out(fmt::format("docker.service itself has {} ({})", format_limit(raised), docker->source.path));
  }
  if (standing == Standing::kCleared) return ruled_out(cleared_reason(s));
  const UnitLimit* containerd = unit_with_limit(s, "containerd.service");
  if (containerd != nullptr && limits::would_do(*value_of(*containerd), s)) {
    return ruled_out(fmt::format("containerd.service has {} too ({})", format_limit(*value_of(*containerd)),
                                 containerd->source.path));
  }
  if (!s.soft() && containerd == nullptr) {
    return candidate(58, "docker.service's limit was raised, but containerd starts the containers",
                     "systemctl show containerd -p LimitMEMLOCK -p LimitMEMLOCKSoft");
  }
  if (containerd == nullptr && !limits::guilty(standing)) return not_applicable();
  Outcome out = wrong_unit_found(s, 75, cite(docker->source, "reaches dockerd and builds, not containers"));
  if (containerd != nullptr) out.evidence.push_back(cite(containerd->source, "this one counts"));
  return out;
}

// ----------------------------------------------------------------------------------------------------------------
// PD303

Outcome ulimit_refused(const Situation& s) {
  if (s.incident == nullptr || s.failure() != Kind::kSetrlimitRefused) return not_applicable();
  const ContainerCommand* run = run_command(s);
  Outcome out = found(Certainty::kProven, 95,
                      "the container runtime may not raise RLIMIT_MEMLOCK as asked, so the container does not start",
                      {s.failure_evidence()});
  if (run != nullptr) out.evidence.push_back(cite(run->source, "asks for more than the hard limit of its caller"));
  out.severity = Severity::kError;
  Remedy outer = {"outer-runtime-limit",
                  "in a container or CI job: raise the limit of the outer container or of its daemon",
                  {"docker run --ulimit memlock=-1:-1 OUTER_IMAGE"},
                  true,
                  "grep 'locked memory' /proc/self/limits"};
  const bool rootless = first(s).library == "crun" || is_podman(run);
  out.remedies = {user_hard_limit(), std::move(outer)};
  if (!rootless) std::swap(out.remedies.front(), out.remedies.back());
  return out;
}

// ----------------------------------------------------------------------------------------------------------------
// PD304

Outcome pod_route(const Situation& s) {
  if (live(s)) {
    if (s.is_daemon || boxed(s) != Boxed::kPod) return not_applicable();
    Outcome out =
        judge_live(s, 65, fmt::format("the pod may lock {} only and has no usable CAP_IPC_LOCK", limit_words(s)));
    if (out.kind == Outcome::Kind::kFound) out.remedies = pod_remedies(s);
    return out;
  }
  const Standing standing = limits::standing(s);
  const bool asked = s.incident != nullptr && standing != Standing::kNone;
  if (asked && standing == Standing::kPossible && s.pod_like_name()) {
    return candidate(45,
                     fmt::format("{} looks like the name of a pod", limits::safe_word(first(s).shape.host, "the host")),
                     pod_command(s));
  }
  if (!asked || !in_pod(s)) return not_applicable();
  if (standing == Standing::kCleared) return ruled_out(cleared_reason(s));
  if (!limits::guilty(standing)) {
    return candidate(limits::charged_call(s) ? 62 : 45,
                     "a pod has the limit of its node's container runtime, commonly 8 MiB or 64 KiB", pod_command(s));
  }
  Outcome out = limits::limit_finding(
      s, Certainty::kLikely, 65,
      fmt::format("the pod may lock {} only: Kubernetes hands on its container runtime's limit", limit_words(s)));
  out.remedies = pod_remedies(s);
  return out;
}

// ----------------------------------------------------------------------------------------------------------------
// PD308
namespace {

Outcome shim_found(const Situation& s, int weight, Limit now, Evidence daemon) {
  Outcome out = limits::limit_finding(
      s, Certainty::kLikely, weight,
      fmt::format("containerd now has {}, the container still {}: its shim is older than the change", format_limit(now),
                  limit_words(s)),
      {std::move(daemon)});
  Remedy recreate = {"recreate-container",
                     "delete the pod, or restart the Docker container: a new shim takes the new limit",
                     {"kubectl delete pod " + limits::pod_argument(s), "docker restart " + limits::container_name(s)},
                     true,
                     fmt::format("kubectl exec {} -- grep 'locked memory' /proc/1/limits", limits::pod_argument(s))};
  out.remedies = {std::move(recreate), limits::prlimit_now(s)};
  return out;
}

Outcome shim_live(const Situation& s) {
  const TrailLink* shim = s.is_daemon ? nullptr : shim_link(s);
  const Process* containerd = limits::daemon_named(s, "containerd");
  if (shim == nullptr || containerd == nullptr || !shim->soft) return not_applicable();
  const Limit now = *containerd->memlock->soft;
  if (*shim->soft >= now) {
    return ruled_out(
        fmt::format("the shim (pid {}) has containerd's present limit, {}", shim->pid, format_limit(*shim->soft)));
  }
  if (!live_short(s) || *s.soft() >= now) return not_applicable();
  Outcome out = shim_found(s, 82, now, cite(containerd->memlock.source, "containerd now"));
  out.evidence.push_back(limits::cite_link(*shim, "the shim"));
  return out;
}

}  // namespace

Outcome shim_older(const Situation& s) {
  if (live(s)) return shim_live(s);
  const Standing standing = limits::standing(s);
  const UnitLimit* unit = unit_with_limit(s, "containerd.service");
  if (s.incident == nullptr || standing == Standing::kNone || unit == nullptr) return not_applicable();
  const Limit now = *value_of(*unit);
  if (!limits::would_do(now, s)) {
    return ruled_out(fmt::format("containerd.service itself has {} ({})", format_limit(now), unit->source.path));
  }
  if (standing == Standing::kCleared) return ruled_out(cleared_reason(s));
  if (!s.soft()) {
    return candidate(
        58, fmt::format("containerd.service has {}; a container started before the change has not", format_limit(now)),
        "grep 'locked memory' /proc/$(pidof -s containerd-shim-runc-v2)/limits");
  }
  if (*s.soft() >= now || !limits::guilty(standing)) return not_applicable();
  return shim_found(s, 76, now, cite(unit->source, "the unit now"));
}

}  // namespace pindown::container
