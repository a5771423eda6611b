// SPDX-License-Identifier: Apache-2.0
// The device nodes of RDMA: PD309 (missing or blocked) and PD310 (there, but not for this process). Table:
// container.cc. Must not: claim ENOMEM of open, which is UAR space (PD505).
#include <fmt/format.h>

#include <cerrno>

#include "base/text.h"
#include "checks/container_rows.h"
#include "checks/limit_common.h"
#include "checks/look.h"

namespace pindown::container {

using logs::Kind;

namespace {

const logs::Event& first(const Situation& s) {
  return s.incident->first;
}

const DeviceNode* missing_node(const Situation& s) {
  for (const DeviceNode& node : s.facts->device_nodes) {
    if (contains(node.path, "infiniband") && icontains(node.error, "no such file")) return &node;
  }
  return nullptr;
}

/// A uverbs node that everybody may open, or one that not everybody may. umad and issm are for root only by design.
const DeviceNode* uverbs_node(const Situation& s, bool open_to_all) {
  for (const DeviceNode& node : s.facts->device_nodes) {
    if (!contains(node.path, "uverbs") || node.mode.size() < 10) continue;
    if ((node.mode[7] == 'r' && node.mode[8] == 'w') == open_to_all) return &node;
  }
  return nullptr;
}

bool uar_exhausted(const Situation& s) {
  return look::kernel_line(s, {"ALLOC_UAR", "failed"}).has_value();
}

std::vector<Remedy> device_remedies(const Situation& s) {
  const bool pod = s.in_kubernetes() || (s.pod_like_name() && !s.in_container());
  Remedy docker = {"run-with-device",
                   "pass the device nodes to the container",
                   {"docker run --device /dev/infiniband --ulimit memlock=-1:-1 IMAGE"},
                   true,
                   fmt::format("docker exec {} ls -l /dev/infiniband", limits::container_name(s))};
  Remedy plugin = {"request-rdma-device",
                   "request the resource of the RDMA device plugin in the pod's limits; its name on your nodes:",
                   {"kubectl describe node NODE | grep -iE 'rdma|hca|infiniband'"},
                   true,
                   fmt::format("kubectl exec {} -- ls -l /dev/infiniband", limits::pod_argument(s))};
  Remedy host = {"load-ib-uverbs",
                 "if the host has no /dev/infiniband either: load the verbs modules",
                 {"modprobe ib_uverbs", "modprobe rdma_ucm"},
                 false,
                 "ls -l /dev/infiniband"};
  return {pod ? std::move(plugin) : std::move(docker), std::move(host)};
}

Outcome device_found(const Situation& s, Certainty certainty, int weight, std::string summary,
                     std::vector<Evidence> evidence) {
  Outcome out = found(certainty, weight, std::move(summary), std::move(evidence));
  if (s.run != nullptr) {
    for (const logs::Event& note : s.run->notes) {
      if (contains(note.raw, "No device found")) out.evidence.push_back(cite(note));
    }
  }
  out.remedies = device_remedies(s);
  return look::judged(s, std::move(out));
}

}  // namespace

// ----------------------------------------------------------------------------------------------------------------
// PD309
namespace {

/// PD505, PD508, PD710 and PD310 own these errnos of open.
bool errno_of_another_cause(const Situation& s) {
  for (const int number : {ENOMEM, EAGAIN, EMFILE, ENFILE, EACCES}) {
    if (s.has_errno(number)) return true;
  }
  return false;
}

/// A run that RDMA was asked of, and that went on without it because there is no node where it ran.
std::optional<Outcome> run_without_node(const Situation& s, const DeviceNode* missing) {
  if (missing == nullptr || s.run == nullptr || s.run->net_ib || !s.run->socket_transport) return std::nullopt;
  if (!look::rdma_wanted(s) || !look::told(s, "NET/IB : No device found")) return std::nullopt;
  Outcome out = device_found(s, Certainty::kLikely, 80,
                             "RDMA was asked for, but there is no /dev/infiniband node where the job runs: it went on "
                             "over sockets",
                             {cite(missing->source)});
  if (const auto hca = look::variable(s, "NCCL_IB_HCA")) out.evidence.push_back(hca->evidence);
  return look::at_severity(std::move(out), Severity::kWarning);
}

Outcome device_on_machine(const Situation& s) {
  const DeviceNode* missing = missing_node(s);
  if (auto found_in_run = run_without_node(s, missing)) return *found_in_run;
  if (missing == nullptr || s.facts->rdma_present.value != true) return not_applicable();
  return look::at_severity(
      device_found(s, Certainty::kProven, 70, "the kernel has an RDMA device, but there is no node for it here",
                   {cite(missing->source)}),
      Severity::kWarning);
}

/// What a run line says about the nodes; nothing without one.
std::optional<Outcome> device_by_command(const Situation& s) {
  const ContainerCommand* run = run_command(s);
  if (run == nullptr) return std::nullopt;
  if (!run->infiniband_device && !run->privileged) {
    return device_found(s, Certainty::kLikely, 75, "the container was started without the RDMA device",
                        {s.failure_evidence(), cite(run->source, "no --device /dev/infiniband")});
  }
  if (s.failure() != Kind::kOpenDevice)
    return ruled_out(fmt::format("the run command passes it ({})", run->source.path));
  return candidate(35, "the run command passes the device, yet opening it fails",
                   fmt::format("{} exec {} ls -l /dev/infiniband", limits::safe_word(run->engine, "docker"),
                               limits::container_name(s)));
}

Outcome device_outside_container(const Situation& s) {
  if (s.has_errno(EPERM)) return not_applicable();
  if (const DeviceNode* node = uverbs_node(s, true)) {
    return ruled_out(fmt::format("{} is there, mode {} ({})", node->path, node->mode, node->source.path));
  }
  return candidate(45, "the device node may be missing where the job runs", "ls -l /dev/infiniband");
}

/// A listing of nodes in a log may be the host's, so it does not clear a container.
Outcome device_in_container(const Situation& s) {
  if (s.failure() != Kind::kOpenDevice) {
    return candidate(45, "a driver without its device node reports the same", "ls -l /dev/infiniband");
  }
  const bool blocked = s.has_errno(EPERM);
  return device_found(s, Certainty::kLikely, blocked ? 76 : 66,
                      blocked ? "the container's device cgroup blocks the RDMA device"
                              : "the RDMA device is visible in the container but cannot be opened there",
                      {s.failure_evidence()});
}

}  // namespace

Outcome device_absent(const Situation& s) {
  if (s.kind == SubjectKind::kMachine) return device_on_machine(s);
  if (!look::first_is(s, {Kind::kOpenDevice, Kind::kDriverMissing})) return not_applicable();
  if (errno_of_another_cause(s) || uar_exhausted(s) || contains(first(s).verb, "devx")) return not_applicable();
  if (const DeviceNode* missing = missing_node(s)) {
    return device_found(s, Certainty::kProven, 85, "there is no /dev/infiniband node where the job runs",
                        {s.failure_evidence(), cite(missing->source)});
  }
  if (first(s).library == "docker") {
    return device_found(s, Certainty::kLikely, 80, "the host has no such device node, so the container cannot get it",
                        {s.failure_evidence()});
  }
  if (auto decided = device_by_command(s)) return *decided;
  return s.in_container() ? device_in_container(s) : device_outside_container(s);
}

// ----------------------------------------------------------------------------------------------------------------
// PD310
namespace {

bool refused(const Situation& s) {
  return s.has_errno(EACCES) || s.has_errno(EPERM);
}

/// The profile of 'apparmor="DENIED" … profile="docker-ml"', or SELinux's context; empty without one.
std::string denying_profile(std::string_view line) {
  for (const std::string_view lead : {"profile=\"", "scontext="}) {
    const auto at = line.find(lead);
    if (at == std::string_view::npos) continue;
    line = line.substr(at + lead.size(), 120);
    return escape(line.substr(0, line.find_first_of("\" ")), 80);
  }
  return {};
}

/// The denial is in the input: the policy that denies is what to change, the nodes' mode is not.
Outcome policy_found(const Situation& s, const Evidence& denial) {
  const std::string profile = denying_profile(denial.text);
  const bool apparmor = icontains(denial.text, "apparmor");
  Outcome out =
      found(Certainty::kLikely, 88,
            fmt::format("{} denies access to the RDMA device{}", apparmor ? "AppArmor" : "the security policy",
                        profile.empty() ? "" : " (" + profile + ")"),
            {s.failure_evidence(), denial});
  Remedy allow = {"lsm-policy", "", {}, true, "ibv_devinfo   # in the job"};
  if (apparmor) {
    allow.title = fmt::format("allow the nodes in the AppArmor profile{}, then load it again: /dev/infiniband/* rw,",
                              profile.empty() ? "" : " " + profile);
    allow.commands = {fmt::format("grep -rlw '{}' /etc/apparmor.d   # its file", limits::safe_word(profile, "PROFILE")),
                      "apparmor_parser -r FILE"};
  } else {
    allow.title = "allow it in the policy of this job: make a module of the denials and read it before it is loaded";
    allow.commands = {"ausearch -m avc -ts recent | grep -E 'uverbs|infiniband' | audit2allow -m rdma"};
  }
  out.remedies = {std::move(allow)};
  return look::judged(s, std::move(out));
}

Outcome privilege_found(const Situation& s, int weight, std::string summary,
                        std::optional<Evidence> because = std::nullopt) {
  Outcome out = found(Certainty::kLikely, weight, std::move(summary), {s.failure_evidence()});
  if (because) out.evidence.push_back(*because);
  Remedy mode = {"uverbs-mode",
                 "give the nodes back their mode, which the kernel makes 0666",
                 {"chmod 0666 /dev/infiniband/uverbs* /dev/infiniband/rdma_cm"},
                 false,
                 "ls -l /dev/infiniband"};
  Remedy policy = {"lsm-policy",
                   "if SELinux or AppArmor denies it: see the denial, then allow it in the policy of this job",
                   {"ausearch -m avc -ts recent | grep -E 'uverbs|infiniband'", "dmesg | grep 'apparmor=.DENIED'"},
                   true,
                   "ibv_devinfo"};
  Remedy raw = {"grant-net-raw",
                "DEVX and raw queues: give the process CAP_NET_RAW (docker: --cap-add NET_RAW)",
                {"docker run --cap-add NET_RAW --device /dev/infiniband IMAGE"},
                true,
                "grep CapEff /proc/PID/status"};
  if (s.in_kubernetes()) {
    raw.title =
        "DEVX and raw queues: give the container CAP_NET_RAW, and let it run as root (securityContext of the pod)";
    raw.commands = {"# securityContext: {runAsUser: 0, capabilities: {add: [\"NET_RAW\"]}}"};
  }
  const bool opening = s.failure() == Kind::kOpenDevice && !contains(first(s).verb, "devx");
  out.remedies = {opening ? std::move(mode) : std::move(raw), std::move(policy)};
  return look::judged(s, std::move(out));
}

/// EPERM of a registration: with a limit other than 0 it cannot be can_do_mlock() (mm/mlock.c), so something else
/// forbids.
Outcome refused_registration(const Situation& s) {
  if (s.soft() && s.soft()->bytes == 0) return not_applicable();  // PD110
  if (contains(first(s).verb, "devx")) {
    return privilege_found(s, 75, "the process may not use DEVX, which the library needs here");
  }
  if ((s.soft() && s.limit.of_job) || s.has_errno(EACCES)) {
    return privilege_found(s, 60, "the call was refused for want of privilege, not of memory");
  }
  return candidate(45, "EPERM is a missing privilege, or a memlock limit of 0 (PD110)",
                   "grep 'locked memory' /proc/PID/limits");
}

Outcome refused_open(const Situation& s) {
  const DeviceNode* closed = uverbs_node(s, false);
  const bool root = s.process != nullptr && s.process->euid && *s.process->euid == 0;
  if (closed != nullptr && !root && (refused(s) || s.no_errno())) {
    return privilege_found(s, refused(s) ? 85 : 70,
                           fmt::format("{} is not open to this user ({})", closed->path, closed->mode),
                           cite(closed->source, "the kernel makes it 0666"));
  }
  if (refused(s)) {
    // A device cgroup says EPERM, file modes and LSMs say EACCES: in a container the former is PD309's first.
    const bool cgroup_likelier = s.has_errno(EPERM) && s.in_container();
    return privilege_found(s, cgroup_likelier ? 70 : 75, "the process may not open the RDMA device");
  }
  if (!s.no_errno() || uar_exhausted(s)) return not_applicable();
  if (const DeviceNode* node = uverbs_node(s, true); node != nullptr && !s.in_container()) {
    return ruled_out(fmt::format("{} is open to everyone, mode {} ({})", node->path, node->mode, node->source.path));
  }
  return candidate(contains(first(s).verb, "devx") ? 50 : 42,
                   "the line has no errno; a missing privilege looks the same", "ls -l /dev/infiniband; ibv_devinfo");
}

}  // namespace

Outcome privilege_denied(const Situation& s) {
  const bool open = look::first_is(s, {Kind::kOpenDevice});
  if (!open && !look::first_is(s, {Kind::kRegMr, Kind::kCreateQueue, Kind::kAllocPd})) return not_applicable();
  if (!open && !refused(s)) return not_applicable();
  if (refused(s) || s.no_errno() || s.has_errno(ENOENT)) {
    auto denial = look::kernel_line(s, {"denied", "uverbs"});
    if (!denial) denial = look::kernel_line(s, {"denied", "infiniband"});
    if (denial) return policy_found(s, denial->evidence);
  }
  return open ? refused_open(s) : refused_registration(s);
}

}  // namespace pindown::container
