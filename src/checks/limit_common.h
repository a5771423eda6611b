// SPDX-License-Identifier: Apache-2.0
// What the checks about the locked-memory limit (PD1xx, PD2xx) share: how far the limit is suspected, who stands on the
// way from PID 1, the words for need against have, the command that decides, and the remedies. Entry point: standing.
// Must not: know a code, or decide which link set the limit.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checks/check.h"

namespace pindown::limits {

/// How far the limit is suspected of the failure, or of what the live process will meet.
enum class Standing {
  kNone,      // not a question here, or nothing known
  kCleared,   // shown not to be the limit
  kPossible,  // ENOMEM may be the limit; its value is not known
  kLikely,
  kProven,
};
Standing standing(const Situation& s);
/// kLikely or kProven.
bool guilty(Standing standing);
Certainty certainty_of(Standing standing);

/// A live process or daemon against --need or the default policy (product.md "What is enough").
struct Judgement {
  enum class Answer { kUnknown, kPasses, kTight, kLow } answer = Answer::kUnknown;
  bool proven = false;  // against a need that was stated, not against the policy
};
Judgement judge(const Situation& s);
/// The policy for one value: 2 GiB and more pass, from 64 MiB on it is tight.
Judgement::Answer policy(Limit soft);
/// `limit` would do for this situation: its need if known, else the policy.
bool would_do(Limit limit, const Situation& s);

/// The failing call goes through ib_umem_get(): a buffer without on-demand paging, or a queue of a device that keeps
/// its queues in the process's memory. A protection domain has none.
bool charged_call(const Situation& s);
/// CAP_IPC_LOCK is effective, but nothing says in which user namespace: whether the limit applies is open.
bool capability_open(const Situation& s);
bool is_root(const Process& p);
/// The container was started with IPC_LOCK or --privileged and runs as root: as far as is known the capability is
/// effective, and the limit of no account.
bool granted_in_container(const Situation& s);  // by its effective uid, else by the user's name as it was shown
/// The command that shows whether a rank has the capability.
std::string decide_capability();
/// The job ran as root, outside a container as far as is seen, and its capabilities were not shown: the host's root has
/// CAP_IPC_LOCK unless something took it, and then no limit stops it.
bool root_passes(const Situation& s);
/// The limit is the likely or proven cause of this failure.
bool blamed(const Situation& s);
bool names_limit(const Situation& s);  // the line itself says the limit is too low

/// A finding about the limit: severity as the situation asks (warning where the job went on; note or error for a
/// daemon), with the failing line and the limit's line before `more`.
Outcome limit_finding(const Situation& s, Certainty certainty, int weight, std::string summary,
                      std::vector<Evidence> more = {});

std::string need_against_have(const Situation& s);  // "ibv_reg_mr asked for 4.6 MiB; the limit is 8 MiB"
std::string subject_name(const Situation& s);       // "pid 4242 python3", "the job"
/// The one command that shows the limit where it counts, in the words of the launcher.
std::string decide_limit(const Situation& s);

bool containerised(const Situation& s);
/// Slurm's own lines, a step daemon on the trail, or numbers before the lines, which may be srun's task labels or not:
/// enough to offer Slurm's remedies too, not to name its daemon.
bool maybe_slurm(const Situation& s);
bool over_ssh(const Situation& s);  // ranks are started by ssh: mpirun, pdsh, deepspeed, or an sshd on the trail
/// limits.conf can govern this job: a session opened by PAM, not a container, batch system or service.
bool session_by_pam(const Situation& s);
/// A pasted shell whose soft limit would do; nullptr if none.
const Process* good_shell(const Situation& s);
const UnitLimit* unit_limit(const Facts& facts, std::string_view unit);
/// The limit of `p` was read on a machine that is none of the failing job's.
bool on_other_host(const Situation& s, const Process& p);
/// A pasted or live process of that name, on the failure's machine as far as that is known, not inside a container.
const Process* daemon_named(const Situation& s, std::string_view comm);
/// The daemon of another machine, where the one of the failure's was not shown.
const Process* daemon_elsewhere(const Situation& s, std::string_view comm);

struct Distro {
  enum class Kind { kUnknown, kDebian, kUbuntu, kOther } kind = Kind::kUnknown;
  int major = 0;
  int minor = 0;
  bool debian_family() const { return kind == Kind::kDebian || kind == Kind::kUbuntu; }
  /// pam_limits before 1.7.0-1 resets every session to the limits of PID 1.
  bool pam_resets() const;
};
Distro distro_of(const Facts& facts);

/// "ray.service" of "/system.slice/ray.service/x"; "user@1000.service" for anything below a user manager; empty for
/// sessions, containers and the unknown.
std::string service_of(std::string_view cgroup);
/// "8 MiB is the default of …" if `limit` is one; empty otherwise.
std::string default_origin(Limit limit, const Facts& facts);

// Trail: links are PID 1 first, the subject last.
bool is_named(const TrailLink& link, std::string_view name);
int link_named(const Trail* trail, std::string_view name);  // the one nearest to the subject, or -1
/// sshd as the listener: the trail names it by its unit (ssh.service on Debian) or "sshd"; -1 if no sshd is on the way.
int sshd_listener(const Trail* trail);
/// Where the subject's session begins: the link that has the limits PAM gave it. su, sudo, runuser and login open it
/// for themselves, sshd and cron for a child; -1 if none of them is above the subject.
int session_link(const Trail* trail);
/// The subject has exactly the soft limit of the listener: PAM changed nothing.
bool same_as_sshd(const Situation& s);
/// PID 1 or a user's systemd: what it starts is a service or a session, not a lowering by hand.
bool is_manager(const TrailLink& link);
Evidence cite_link(const TrailLink& link, std::string note = {});

/// `text` if it is safe as one word of a command (unit, user or container name), else `otherwise`.
std::string safe_word(std::string_view text, std::string_view otherwise);
/// The pod or container of the failure where its own lines name it, else POD or CONTAINER.
std::string pod_name(const Situation& s);
/// The one namespace that the commands beside the failure name, else NAMESPACE.
std::string kube_namespace(const Situation& s);
/// The pod as kubectl takes it: "-n NAMESPACE POD" where the commands beside the failure needed a namespace.
std::string pod_argument(const Situation& s);
std::string container_name(const Situation& s);
std::string plain(std::string_view text, std::size_t columns = 60);  // escaped and shortened, for summaries

Remedy limits_d();  // `*` and root lines for pam_limits
/// Not a fix itself: which of the fixes it is, when nothing shows what started the job.
/// What lets a login or ssh session have more; where the lines shown do that already, how to find why they do not
/// count.
Remedy session_limit(const Situation& s);
Remedy by_what_starts_it(const Situation& s);
Remedy unit_infinity(std::string_view unit);  // drop-in, reload, restart
/// For the live process; after a failure in a log, for what starts the next one (the unit, where one is named).
Remedy prlimit_now(const Situation& s, bool soft_only = false, std::string_view unit = {});
Remedy soft_to_hard(std::optional<Limit> hard);
/// With what slurm.conf has already, where that is shown: the two parameters exclude each other, and each is a list.
Remedy slurm_no_propagation(const Situation& s);
Remedy slurm_no_propagation_now();

}  // namespace pindown::limits
