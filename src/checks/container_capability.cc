// SPDX-License-Identifier: Apache-2.0
// CAP_IPC_LOCK granted but of no use: PD305 (not effective), PD306 (user namespace), PD307 (admission), PD311 (LSM).
// Table: container.cc.
#include <fmt/format.h>

#include "base/text.h"
#include "checks/container_rows.h"
#include "checks/limit_common.h"
#include "checks/look.h"

namespace pindown::container {

using limits::Standing;

namespace {

constexpr int kCapSysAdmin = 21;  // capabilities(7); no runtime grants it by default

bool live(const Situation& s) {
  return s.kind == SubjectKind::kProcess && s.process != nullptr && !s.is_daemon;
}

/// The limit could be what refused, or would be: the question every capability cause begins with.
bool limit_asked(const Situation& s) {
  if (s.kind == SubjectKind::kProcess) return live(s);
  return s.incident != nullptr && limits::standing(s) != Standing::kNone;
}

/// A live process with a low limit is proven to lack a way; a log's limit must be shown to have refused.
Certainty certainty(const Situation& s) {
  return live(s) || limits::standing(s) == Standing::kProven ? Certainty::kProven : Certainty::kLikely;
}

/// What a live process has is enough (then nobody asks for the capability).
bool live_and_enough(const Situation& s) {
  if (!live(s)) return false;
  const auto answer = limits::judge(s).answer;
  return answer != limits::Judgement::Answer::kLow && answer != limits::Judgement::Answer::kTight;
}

bool unlimited(const Situation& s) {
  return s.soft() && s.soft()->is_unlimited();
}

/// Runtimes cut the bounding set down, and so does a unit (CapabilityBoundingSet=, ProtectKernelModules=): it tells of
/// a container only where nothing speaks of a service.
bool cut_down_by_runtime(const Situation& s) {
  if (has_cap(*s.process->caps->bounding, kCapSysAdmin)) return false;
  return !s.launched_by("journald") && limits::service_of(s.process->cgroup).empty();
}

/// IPC_LOCK may be acquired but is not held. On a bare host every user's bounding set has it, which means nothing; in a
/// container it means that somebody granted the capability. Of a live process its cgroup and ancestors tell which it
/// is.
bool bounding_only(const Situation& s) {
  const CapabilitySets& caps = *s.process->caps;
  if (!caps.bounding || !caps.effective) return false;
  if (!has_cap(*caps.bounding, kCapIpcLock) || has_cap(*caps.effective, kCapIpcLock)) return false;
  if (s.process->euid && *s.process->euid == 0) return false;
  if (limits::containerised(s)) return true;
  return live(s) ? boxed(s) != Boxed::kNo : cut_down_by_runtime(s);
}

std::string user_words(const Process& process) {
  if (process.euid) return fmt::format("uid {}", *process.euid);
  return limits::plain(process.user, 30);
}

std::vector<Remedy> not_effective_remedies() {
  Remedy root = {"run-as-root",
                 "run the container as root (runAsUser: 0) with IPC_LOCK added",
                 {},
                 true,
                 "grep CapEff /proc/self/status"};
  Remedy file = {
      "file-capability",
      "or give the interpreter the capability in the image; keep IPC_LOCK added and allowPrivilegeEscalation true",
      {"setcap cap_ipc_lock+ep \"$(readlink -f \"$(command -v python3)\")\""},
      true,
      "getcap \"$(readlink -f \"$(command -v python3)\")\""};
  return {std::move(root), containerd_limit("delete the pod or restart the container"), std::move(file)};
}

}  // namespace

// ----------------------------------------------------------------------------------------------------------------
// PD305

Outcome ipc_lock_not_effective(const Situation& s) {
  if (!limit_asked(s) || s.process == nullptr || !s.process->caps) return not_applicable();
  if (!bounding_only(s)) {
    const auto& effective = s.process->caps->effective;
    if (!effective || !has_cap(*effective, kCapIpcLock)) return not_applicable();
    return ruled_out(fmt::format("IPC_LOCK is effective ({})", s.process->caps.source.path));
  }
  if (unlimited(s) || s.limit_cleared()) return ruled_out(cleared_reason(s));
  if (live_and_enough(s)) return not_applicable();
  const bool user_known = s.process->euid || !s.process->user.empty();
  if (!user_known && !live(s) && !limits::guilty(limits::standing(s))) {
    return candidate(60, "IPC_LOCK is granted but not effective in this process; its limit is not shown",
                     limits::decide_limit(s));
  }
  Outcome out = limits::limit_finding(
      s, certainty(s), 85,
      user_known ? fmt::format("IPC_LOCK is granted but not effective: the process runs as {}", user_words(*s.process))
                 : std::string("IPC_LOCK is granted but not effective in this process"),
      {cite(s.process->caps.source, "bit 14 (0x4000) only in the bounding set")});
  out.remedies = not_effective_remedies();
  return out;
}

// ----------------------------------------------------------------------------------------------------------------
// PD306
namespace {

/// Nothing says which user namespace it is.
Outcome namespace_unknown(const Situation& s) {
  if (live(s)) return unknown({"/proc/PID/ns/user", "/proc/PID/uid_map"}, how_to_read(s));
  if (!limits::capability_open(s)) return not_applicable();
  return candidate(s.soft() ? 65 : 55,
                   "IPC_LOCK is held; it counts only in the first user namespace (uid_map 0 0 4294967295)",
                   "cat /proc/PID/uid_map");
}

}  // namespace

Outcome user_namespace(const Situation& s) {
  if (!limit_asked(s) || s.process == nullptr || !s.process->caps || !s.process->caps->effective)
    return not_applicable();
  if (!has_cap(*s.process->caps->effective, kCapIpcLock)) return not_applicable();
  const Fact<bool>& initial = s.process->initial_userns;
  if (initial && *initial) {
    return ruled_out(fmt::format("the process is in the first user namespace ({})", initial.source.path));
  }
  const bool of_subject = live(s) || s.limit.of_job;
  if (unlimited(s) && of_subject) return ruled_out(cleared_reason(s));
  if (!initial) return namespace_unknown(s);
  if (live_and_enough(s)) return not_applicable();
  if (unlimited(s)) {
    return candidate(60, "CAP_IPC_LOCK of this user namespace does not count; the limit seen is a shell's",
                     limits::decide_limit(s));
  }
  Outcome out = limits::limit_finding(
      s, certainty(s), 88,
      fmt::format("CAP_IPC_LOCK is held in a user namespace of its own, where it does not count; the limit is {}",
                  s.soft() ? limit_words(s) : "not known"),
      {cite(s.process->caps.source, "bit 14 is set"), cite(initial.source, "not the first user namespace")});
  out.remedies = {user_hard_limit(), containerd_limit("delete the pod; or leave out hostUsers: false")};
  return out;
}

// ----------------------------------------------------------------------------------------------------------------
// PD307

Outcome admission_forbids(const Situation& s) {
  if (!look::first_is(s, {logs::Kind::kContainerRefused})) return not_applicable();
  const std::string& line = s.incident->first.raw;
  const bool named = icontains(line, "IPC_LOCK");
  if (!named && !icontains(line, "capabilit") && !icontains(line, "privileged")) {
    return candidate(50, "admission refuses the pod; the line does not say that IPC_LOCK is why",
                     "kubectl get events --field-selector reason=FailedCreate");
  }
  Outcome out = found(named ? Certainty::kProven : Certainty::kLikely, named ? 95 : 72,
                      named ? "admission refuses the pod because it asks for IPC_LOCK"
                            : "admission refuses the pod for the privileges it asks for",
                      {s.failure_evidence()});
  Remedy label = {"namespace-privileged",
                  "let the namespace run privileged pods (Pod Security)",
                  {fmt::format("kubectl label --overwrite namespace {} pod-security.kubernetes.io/enforce=privileged",
                               limits::kube_namespace(s))},
                  true,
                  fmt::format("kubectl get namespace {} --show-labels", limits::kube_namespace(s))};
  Remedy scc = {"openshift-scc",
                "OpenShift: bind the service account to an SCC with allowedCapabilities: [IPC_LOCK]",
                {"oc adm policy add-scc-to-user SCC -z SERVICEACCOUNT -n " + limits::kube_namespace(s)},
                true,
                fmt::format("oc get pod {} -o yaml | grep openshift.io/scc", limits::pod_argument(s))};
  out.remedies = {std::move(label), std::move(scc),
                  containerd_limit("take IPC_LOCK out of the manifest: the limit is enough")};
  if (icontains(line, "security context constraint")) std::swap(out.remedies[0], out.remedies[1]);
  return look::judged(s, std::move(out));
}

// ----------------------------------------------------------------------------------------------------------------
// PD311

Outcome lsm_denies(const Situation& s) {
  if (s.kind == SubjectKind::kProcess || (s.incident != nullptr && !limit_asked(s))) return not_applicable();
  // SELinux: "avc: denied { ipc_lock } … capability=14"; AppArmor: apparmor="DENIED" … capname="ipc_lock".
  const auto line = look::kernel_line(s, {"denied", "ipc_lock"});
  if (!line) return not_applicable();
  if (unlimited(s)) return ruled_out(cleared_reason(s));
  const bool apparmor = icontains(line->text, "apparmor");
  Outcome out =
      found(Certainty::kLikely, 85,
            fmt::format("{} denies CAP_IPC_LOCK, so the memlock limit counts", apparmor ? "AppArmor" : "SELinux"),
            {line->evidence});
  if (s.incident != nullptr) out.evidence.push_back(s.failure_evidence());
  if (s.incident == nullptr) out.severity = Severity::kWarning;  // whose denial it was is not known
  Remedy profile = {"apparmor-allow-ipc-lock",
                    "add `capability ipc_lock,` to the profile the line names and reload it",
                    {"apparmor_parser -r /etc/apparmor.d/PROFILE"},
                    true,
                    "aa-status"};
  Remedy module = {
      "selinux-allow-ipc-lock",
      "review the denial, then allow it for this domain",
      {"ausearch -m avc -ts recent | grep ipc_lock | audit2allow -M rdma_ipc_lock", "semodule -i rdma_ipc_lock.pp"},
      true,
      "semodule -l | grep rdma_ipc_lock"};
  out.remedies = {apparmor ? std::move(profile) : std::move(module),
                  containerd_limit("restart the container: an unlimited limit needs no capability")};
  return look::judged(s, std::move(out));
}

}  // namespace pindown::container
