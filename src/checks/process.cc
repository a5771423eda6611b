// SPDX-License-Identifier: Apache-2.0
// PD101, PD107, PD109 to PD113: the limit of the process itself, and who lowered or never raised it. Rows: login.cc.
// Must not: decide between PD101 and the code of the link; diagnose.cc does.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/errno_name.h"
#include "base/text.h"
#include "checks/limit_common.h"
#include "checks/login_rows.h"
#include "checks/look.h"
#include "model/trail.h"

namespace pindown::login {
namespace {

using limits::Standing;

constexpr std::uint64_t kAbsurd = 1ULL << 46;  // 64 TiB: a wrong length, not a buffer

bool is_container_runtime(std::string_view comm) {
  for (const std::string_view name :
       {"containerd", "dockerd", "crio", "conmon", "containerd-shim", "podman", "kubelet"}) {
    if (comm == name) return true;
  }
  return false;
}

std::string cleared_why(const Situation& s) {
  const std::string at = s.limit.source.path.empty() ? "" : " (" + limits::plain(s.limit.source.path) + ")";
  if (s.soft() && s.soft()->is_unlimited()) return "the locked-memory limit is unlimited" + at;
  if (s.ipc_lock.usable == true) return limits::plain(s.ipc_lock.why, 120);
  if (s.pinned_fits() == true) return limits::need_against_have(s) + ": it had room" + at;
  return limits::need_against_have(s) + at;
}

/// Calls and errnos the limit check cannot have answered; empty if it can.
std::string not_the_limit_check(const Situation& s) {
  using logs::Kind;
  if (s.failure() == Kind::kRegDmabuf) return "dma-buf registrations are never charged to the limit (umem_dmabuf.c)";
  if (s.failure() == Kind::kOpenDevice && s.has_errno(ENOMEM)) return "opening a device locks no memory of the process";
  if (s.failure() == Kind::kRegMr && look::on_demand(s.incident->first) && !s.incident->first.limit_hint) {
    return "the access flags ask for on-demand paging, which is never charged to the limit";
  }
  if (s.queue() && !limits::charged_call(s)) return "this device keeps its queues in memory of the kernel";
  if (!limits::charged_call(s) || s.enomem_possible()) return {};
  if (!s.incident->first.error) return {};
  const int error = *s.incident->first.error;
  if (error == EPERM && (!s.soft() || s.soft()->bytes == 0)) return {};  // PD110
  const std::string name(errno_name(error));
  if (error == EFAULT) return "errno EFAULT: the address is looked at only after the limit check has passed";
  return fmt::format("errno {}: the limit check answers ENOMEM (EPERM at a limit of 0)",
                     name.empty() ? std::to_string(error) : name);
}

/// UCX 1.10 and newer add "Please set max locked memory" to ENOMEM of a registration; its absence speaks against the
/// limit. A queue's line without the device in front, "ibv_create_cq(cqe=4096) failed", is of 1.12 or older: it has
/// none.
bool ucx_without_hint(const Situation& s) {
  const logs::Event& first = s.incident->first;
  if (first.kind != logs::Kind::kRegMr && first.device.empty()) return false;
  return first.library == "ucx" && !first.verb.empty() && s.has_errno(ENOMEM) && !first.limit_hint && !first.limit;
}

/// A run line of the log asks for an unlimited limit.
bool asked_for_unlimited(const Situation& s) {
  return std::ranges::any_of(s.facts->containers, [](const ContainerCommand& run) {
    return run.ulimit_memlock && run.ulimit_memlock->soft && run.ulimit_memlock->soft->is_unlimited();
  });
}

/// Suspected, though something seen speaks against it; nothing if nothing does.
std::optional<Outcome> weak_candidate(const Situation& s) {
  const std::string have = s.soft() ? format_limit(*s.soft()) : std::string("not known");
  if (limits::capability_open(s)) {
    return candidate(
        40, fmt::format("the limit is {}, but CAP_IPC_LOCK is effective: it applies in a user namespace only", have),
        "cat /proc/PID/uid_map");
  }
  if (look::on_demand(s.incident->first)) {
    return candidate(25, "UCX names the limit, yet on-demand paging (access 0x40) is not charged to it",
                     limits::decide_limit(s));
  }
  if (s.limit_unlikely()) {
    return candidate(30, "the limit seen is unlimited; the job's own may differ", limits::decide_limit(s));
  }
  if (s.pinned_fits() == true && !s.pin.part) {
    return candidate(25, "what is pinned now and the request fit the limit; at the failure it may have been more",
                     s.incident->first.library == "ucx"
                         ? "export UCX_HANDLE_ERRORS=freeze  # run again; as it stands: grep VmPin /proc/PID/status"
                         : "grep -E 'VmPin|CapEff' /proc/PID/status  # PID of a rank, just before it fails");
  }
  if (asked_for_unlimited(s)) {
    return candidate(30, "the run command asks for an unlimited limit; whether the job has it is not shown",
                     limits::decide_limit(s));
  }
  if (limits::names_limit(s)) {
    return candidate(40, fmt::format("the library blames the limit, which is {}", have), limits::decide_limit(s));
  }
  return std::nullopt;
}

Outcome limit_candidate(const Situation& s) {
  int weight = 50;
  std::string why = s.no_errno() ? "the line has no errno; the limit check is the most common reason for it"
                                 : "ENOMEM is what the limit check answers; the limit in force is not shown";
  if (s.failure() == logs::Kind::kLibraryError) {
    const std::string& library = s.incident->first.library;
    if (library == "nixl" || library == "ucx") {  // NCCL has no part in it
      return candidate(20, "the library names no call; the UCX ERROR line above it does",
                       "export UCX_LOG_LEVEL=info  # in the job's environment, then run it again");
    }
    return candidate(20, "the library names no call; registration is one of many that may have failed",
                     "export NCCL_DEBUG=INFO  # in the job's environment, then run it again");
  }
  if (auto weak = weak_candidate(s)) return *weak;
  if (limits::root_passes(s) && s.soft()) {
    return candidate(40, fmt::format("the limit is {}, but root usually has CAP_IPC_LOCK", format_limit(*s.soft())),
                     limits::decide_capability());
  }
  std::string decide = limits::decide_limit(s);
  if (s.limit.of_job && s.soft() && !s.no_errno()) {
    why = fmt::format("ENOMEM is what the limit check answers; the limit is {}: what was pinned before decides",
                      format_limit(*s.soft()));
    decide = "grep -E 'VmPin|CapEff' /proc/PID/status  # PID of a rank, just before it fails";
  }
  if (s.failure() == logs::Kind::kAllocPd || look::gpu_buffer(s)) weight = 35;
  if (weight == 50 && (limits::containerised(s) || s.under_slurm()))
    weight = 45;  // those links have codes of their own
  if (ucx_without_hint(s)) {
    weight = 25;
    why = "ENOMEM may be the limit, although UCX would usually have said so";
  }
  return candidate(weight, why, decide);
}

Remedy container_ulimit(const Situation& s) {
  Remedy r;
  r.id = "container-ulimit";
  r.title = "start the container with an unlimited memlock";
  r.commands = {"docker run --ulimit memlock=-1:-1 IMAGE"};
  r.verify = fmt::format("docker exec {} grep 'locked memory' /proc/1/limits", limits::container_name(s));
  return r;
}

/// The job is seen to come from a session that PAM opened, or the limit is seen in a shell it was typed in.
bool session_shown(const Situation& s) {
  if (!limits::session_by_pam(s)) return false;
  if (s.kind == SubjectKind::kProcess || limits::over_ssh(s)) return true;
  if (limits::maybe_slurm(s)) return false;
  return std::ranges::any_of(s.facts->processes, [&s](const Process& p) {
    return p.kind == ProcessKind::kShell && p.memlock && p.memlock->soft == s.soft();
  });
}

std::vector<Remedy> limit_remedies(const Situation& s) {
  if (s.is_daemon) {
    const std::string service = limits::service_of(s.process->cgroup);
    const std::string unit = service.empty() ? s.process->comm + ".service" : service;
    return {limits::unit_infinity(unit), limits::prlimit_now(s)};
  }
  if (s.under_slurm()) return {limits::slurm_no_propagation(s), limits::unit_infinity("slurmd.service")};
  if (limits::containerised(s)) return {container_ulimit(s), limits::prlimit_now(s)};
  if (session_shown(s)) return {limits::session_limit(s), limits::prlimit_now(s)};
  if (s.launched_by("journald")) return {limits::unit_infinity(""), limits::prlimit_now(s)};
  Remedy session = limits::session_limit(s);
  session.title = "a login or ssh session: " + session.title;
  if (!limits::maybe_slurm(s)) return {limits::by_what_starts_it(s), session, limits::prlimit_now(s)};
  Remedy slurmd = limits::unit_infinity("slurmd.service");
  slurmd.title = "a job under Slurm (srun puts such numbers before the lines): " + slurmd.title;
  return {limits::by_what_starts_it(s), slurmd, limits::slurm_no_propagation(s), session};
}

Outcome too_low_found(const Situation& s, Standing standing) {
  const std::string need = limits::need_against_have(s);
  const std::string summary = s.incident ? "the locked-memory limit is too low: " + need : need;
  Outcome out = limits::limit_finding(s, limits::certainty_of(standing), 55, summary);
  out.remedies = limit_remedies(s);
  return out;
}

Outcome unreadable(const Situation& s) {
  const std::int64_t pid = s.process->where.pid.value_or(0);
  std::vector<std::string> missing;
  if (!s.soft()) missing.push_back(fmt::format("/proc/{}/limits", pid));
  if (s.soft() && !s.ipc_lock.usable) {
    missing.push_back(fmt::format("/proc/{}/status", pid));
    missing.push_back(fmt::format("/proc/{}/ns/user", pid));
  }
  if (missing.empty()) return not_applicable();
  return unknown(std::move(missing), how_to_read(s));
}

Outcome too_low_live(const Situation& s) {
  if (s.is_daemon && is_container_runtime(s.process->comm)) return not_applicable();  // PD301
  const Standing standing = limits::standing(s);
  if (standing == Standing::kNone) return unreadable(s);
  if (standing == Standing::kCleared) return ruled_out(cleared_why(s));
  return too_low_found(s, standing);
}

const TrailLink& link_at(const Trail& trail, int i) {
  return trail.links[static_cast<std::size_t>(i)];
}

/// Links that have codes of their own: Slurm's step daemon, container runtimes.
bool other_family(const Trail& trail, int i) {
  for (const int at : {i - 1, i}) {
    for (const char* name :
         {"slurmstepd", "slurmd", "containerd", "dockerd", "docker", "conmon", "runc", "crun", "docker-init"}) {
      if (limits::is_named(link_at(trail, at), name)) return true;
    }
  }
  return false;
}

std::string lowered_how(const TrailLink& link) {
  for (const char* name : {"sshd", "login", "su", "cron", "crond", "atd"}) {
    if (limits::is_named(link, name)) return "pam_limits lowered it when the session was opened";
  }
  if (limits::is_named(link, "sudo")) return "pam_limits or sudoers rlimit_memlock lowered it";
  return "a ulimit, prlimit or setrlimit lowered it there";
}

Remedy drop_ulimit() {
  Remedy r;
  r.id = "remove-ulimit-line";
  r.title = "remove the command that lowers it, or let it say unlimited";
  r.commands = {
      "grep -nsE 'ulimit.*-[SH]*l|limit +memorylocked' ~/.bashrc ~/.bash_profile ~/.profile ~/.cshrc /etc/profile "
      "/etc/profile.d/* /etc/bash.bashrc /etc/bashrc",
      "grep -rns rlimit_memlock /etc/sudoers /etc/sudoers.d/"};
  r.verify = "ulimit -Sl; ulimit -Hl  # in a new session";
  return r;
}

Remedy service_ulimit(const std::string& unit) {
  const std::string name = limits::safe_word(unit, "UNIT");
  Remedy r;
  r.id = "remove-ulimit-line";
  r.title = "remove the ulimit (or setrlimit) in what the service runs, restart it";
  r.commands = {
      fmt::format(
          "systemctl show -p NeedDaemonReload {}   # yes: systemd has not read the unit; then daemon-reload first",
          name),
      fmt::format("systemctl cat {} | grep -E '^Exec'   # then look for ulimit in that script", name),
      fmt::format("systemctl restart {}", name)};
  r.verify = fmt::format("grep 'locked memory' /proc/$(systemctl show -p MainPID --value {})/limits", name);
  return r;
}

/// The unit that `link` is the first process of, where that is the subject's own and its limit was read. A user
/// manager's unit has another file than the system's of the same name.
const UnitLimit* own_unit(const Situation& s, const TrailLink& link) {
  if (contains(s.process->cgroup, "/user@")) return nullptr;
  const UnitLimit* unit = limits::unit_limit(*s.facts, limits::service_of(s.process->cgroup));
  return unit != nullptr && unit->memlock.soft && link.name == unit->unit ? unit : nullptr;
}

/// The first process of a service has less than its unit says, although the files of the unit are older than its start.
/// (systemd may still not have read them: a restart without daemon-reload.)
Outcome lowered_by_service(const Situation& s, int at) {
  const TrailLink& link = link_at(*s.trail, at);
  const UnitLimit* unit = own_unit(s, link);
  if (unit == nullptr || !link.soft || unit->newer_than_service != false) return not_applicable();
  if (*link.soft >= *unit->memlock.soft || !limits::would_do(*unit->memlock.soft, s)) return not_applicable();
  const std::string summary =
      fmt::format("{} is given {} by its unit and has {}: its program, or a script that starts it, lowered the limit",
                  limits::plain(link.name, 40), format_limit(*unit->memlock.soft), format_limit(*link.soft));
  Outcome out = limits::limit_finding(
      s, Certainty::kLikely, 78, summary,
      {cite(unit->source, "the unit, older than the start"), limits::cite_link(link, "its process has")});
  out.remedies = {service_ulimit(link.name), limits::prlimit_now(s)};
  return out;
}

/// Where it was lowered; with a need given, where from enough to too little: the other steps are not to blame.
int deciding_drop(const Situation& s) {
  if (!s.trail || !s.need.bytes) return s.trail ? lowered_at(*s.trail) : -1;
  for (int i = static_cast<int>(s.trail->links.size()) - 1; i > 0; --i) {
    const auto& above = link_at(*s.trail, i - 1).soft;
    const auto& here = link_at(*s.trail, i).soft;
    if (above && here && *here < *above && limits::would_do(*above, s) && !limits::would_do(*here, s)) return i;
  }
  return -1;
}

Outcome lowered_on_trail(const Situation& s) {
  const int i = deciding_drop(s);
  if (i <= 0 || other_family(*s.trail, i)) return not_applicable();
  if (limits::is_manager(link_at(*s.trail, i - 1))) return lowered_by_service(s, i);
  const TrailLink& link = link_at(*s.trail, i);
  const TrailLink& parent = link_at(*s.trail, i - 1);
  if (!link.soft || pam_resets_to_pid1(s).kind == Outcome::Kind::kFound) return not_applicable();
  // The process lowered its own soft limit: what it can do about it is PD107.
  const bool itself = static_cast<std::size_t>(i) + 1 == s.trail->links.size();
  if (itself && s.limit.hard && limits::would_do(*s.limit.hard, s)) return not_applicable();
  const std::string above = parent.soft ? format_limit(*parent.soft) : "more";
  const std::string summary = fmt::format("lowered from {} to {} at pid {} {}: {}", above, format_limit(*link.soft),
                                          link.pid, limits::plain(link.name, 24), lowered_how(link));
  // That PAM did it says little: which line of limits.conf, is for PD104 to PD109 to say.
  const bool by_pam = i == limits::session_link(s.trail);
  Outcome out = limits::limit_finding(s, by_pam ? Certainty::kLikely : Certainty::kProven, by_pam ? 56 : 78, summary,
                                      {limits::cite_link(parent, "above"), limits::cite_link(link, "lowered here")});
  if (by_pam && s.session != nullptr && s.session->soft == s.soft())
    out.evidence.push_back({s.session->decided_by.source, s.session->decided_by.text, "decides"});
  out.remedies = {by_pam ? limits::limits_d() : drop_ulimit(), limits::prlimit_now(s)};
  return out;
}

/// Every place where a log may hold a command about the limit.
std::vector<Evidence> shown_lines(const Situation& s) {
  std::vector<Evidence> lines;
  const auto add = [&lines](const Source& source) {
    if (!source.text.empty() && lines.size() < 128) lines.push_back(cite(source));
  };
  add(s.limit.source);
  for (const Process& p : s.facts->processes) add(p.memlock.source);
  if (s.run) {
    for (const logs::Event& note : s.run->notes) lines.push_back(cite(note));
  }
  return lines;
}

/// A start-up file, a job script or sudoers, as somebody shows it, sets just the limit that the job has.
Outcome lowered_in_file(const Situation& s) {
  for (const LimitSetting& line : s.facts->limit_lines) {
    if (!line.soft || !s.soft() || *s.soft() != line.value || limits::would_do(line.value, s)) continue;
    const bool sudoers = contains(line.source.text, "rlimit_memlock");
    const std::string summary = fmt::format("{} sets the limit to {}: {}", sudoers ? "sudoers" : "a file that is shown",
                                            format_limit(line.value), limits::need_against_have(s));
    Outcome out = limits::limit_finding(s, Certainty::kLikely, 78, summary, {cite(line.source)});
    out.remedies = {drop_ulimit(), limits::prlimit_now(s)};
    return out;
  }
  return not_applicable();
}

Outcome lowered_in_log(const Situation& s, Standing standing) {
  if (!s.incident || standing == Standing::kNone || standing == Standing::kCleared) return not_applicable();
  for (const Evidence& line : shown_lines(s)) {
    const auto set = ulimit_command(line.text);
    if (!set || limits::would_do(*set, s)) continue;
    if (s.soft() && *s.soft() != *set) continue;  // the job has another value
    const std::string summary =
        fmt::format("a script sets the limit to {} itself: {}", format_limit(*set), limits::need_against_have(s));
    Outcome out = limits::limit_finding(s, Certainty::kLikely, 78, summary, {line});
    out.remedies = {drop_ulimit(), limits::prlimit_now(s)};
    return out;
  }
  return lowered_in_file(s);
}

/// The limit came with the session or from PID 1, and nothing between changed it.
bool nobody_changed_it(const Situation& s) {
  const int at = s.trail ? set_at(*s.trail) : -1;
  if (at < 0) return false;
  if (at == 0) return true;
  const TrailLink& link = link_at(*s.trail, at);
  if (link.pid == 1) return true;
  if (limits::is_manager(link_at(*s.trail, at - 1))) return true;
  return limits::is_named(link, "sshd") || limits::is_named(link, "login");  // pam_limits of old Debian: PID 1's value
}

/// A line of a unit has just this value: sshd's or getty's LimitMEMLOCK, which the session kept.
bool a_unit_gives_it(const Situation& s) {
  return std::ranges::any_of(s.facts->units, [&s](const UnitLimit& each) { return each.memlock.soft == s.soft(); });
}

Outcome unconfigured_live(const Situation& s, const std::string& origin) {
  if (s.is_daemon || !limits::session_by_pam(s) || !nobody_changed_it(s) || !s.facts->limits_conf.empty() ||
      a_unit_gives_it(s)) {
    return not_applicable();
  }
  if (!s.facts->limits_conf_unread.empty())
    return unknown({limits::plain(s.facts->limits_conf_unread, 200)}, "run as root");
  const std::string summary =
      fmt::format("nobody set a limit for this session: {}; {}", origin, limits::need_against_have(s));
  std::vector<Evidence> more;
  if (const int at = set_at(*s.trail); at >= 0) more.push_back(limits::cite_link(link_at(*s.trail, at), "set here"));
  Outcome out = limits::limit_finding(s, Certainty::kLikely, 60, summary, std::move(more));
  out.remedies = {limits::limits_d(), limits::prlimit_now(s)};
  return out;
}

Outcome zero_incident(const Situation& s) {
  if (!limits::charged_call(s) || !s.has_errno(EPERM)) return not_applicable();
  if (s.ipc_lock.usable == true) return ruled_out(cleared_why(s));
  if (!s.soft()) {
    return candidate(55, "EPERM is what the limit check answers when the limit is 0", limits::decide_limit(s));
  }
  if (s.soft()->bytes != 0) {
    if (!s.limit.of_job)
      return candidate(55, "EPERM is the answer at a limit of 0; the limit seen is a shell's, not the job's",
                       limits::decide_limit(s));
    return ruled_out(fmt::format("the limit is {}; EPERM comes from it only at 0", format_limit(*s.soft())));
  }
  if (limits::capability_open(s)) {
    return candidate(50, "the limit is 0, but CAP_IPC_LOCK is effective: it applies in a user namespace only",
                     "cat /proc/PID/uid_map");
  }
  const Certainty certainty = s.limit.of_job ? Certainty::kProven : Certainty::kLikely;
  Outcome out =
      limits::limit_finding(s, certainty, 85, "the locked-memory limit is 0: every registration is answered EPERM");
  out.remedies = limit_remedies(s);
  return out;
}

Outcome zero_live(const Situation& s) {
  if (!s.soft() || s.soft()->bytes != 0) return not_applicable();
  if (!s.is_daemon && s.ipc_lock.usable == true) return ruled_out(cleared_why(s));
  if (!s.is_daemon && !s.ipc_lock.usable) return unreadable(s);
  if (s.is_daemon && is_container_runtime(s.process->comm)) return not_applicable();
  const std::string who = s.is_daemon ? "what " + limits::subject_name(s) + " starts" : limits::subject_name(s);
  Outcome out = limits::limit_finding(s, s.is_daemon ? Certainty::kLikely : Certainty::kProven, 85,
                                      fmt::format("{} may lock nothing: the limit is 0", who));
  out.remedies = limit_remedies(s);
  return out;
}

/// The number behind "-l", "-Sl" … in the words after "ulimit".
std::optional<Limit> limit_argument(const std::vector<std::string_view>& words, std::size_t at) {
  bool memlock = false;
  for (; at < words.size() && words[at].starts_with('-'); ++at) {
    const std::string_view option = words[at].substr(1);
    if (option.empty() || option.find_first_not_of("SHl") != std::string_view::npos) return std::nullopt;
    memlock = memlock || contains(option, "l");
  }
  if (!memlock || at >= words.size()) return std::nullopt;
  std::string_view value = words[at];
  while (!value.empty() && (value.back() == ';' || value.back() == '&')) value.remove_suffix(1);
  if (value == "unlimited") return Limit::unlimited();
  const auto kib = parse_u64(value);
  return kib ? std::optional(Limit::of_kib(*kib)) : std::nullopt;
}

Remedy from_new_session(std::string title) {
  return {"restart-from-new-session",
          std::move(title),
          {"ps -o pid,ppid,lstart,args --forest -u \"$USER\""},
          true,
          "grep 'locked memory' /proc/PID/limits"};
}

/// A session that is opened now would get enough; this one got less when it was opened, and keeps it.
Outcome session_older_than_fix(const Situation& s) {
  const Standing standing = limits::standing(s);
  const int opened = limits::session_link(s.trail);
  if (!limits::guilty(standing) || opened < 0) return not_applicable();
  const Prediction& now = *s.session;
  if (now.refused || !now.soft || !limits::would_do(*now.soft, s)) return not_applicable();
  const TrailLink& session = link_at(*s.trail, opened);
  // Lowered within the session: no new one would be better.
  if (session.soft != s.soft()) return not_applicable();
  std::vector<Evidence> evidence = {limits::cite_link(session, "as it was opened")};
  evidence.push_back({now.decided_by.source, now.decided_by.text, "counts for new sessions"});
  Outcome out =
      limits::limit_finding(s, Certainty::kLikely, 80,
                            fmt::format("a session opened now would get {}; this one, opened before, still has {}",
                                        format_limit(*now.soft), format_limit(*s.soft())),
                            std::move(evidence));
  out.remedies = {
      from_new_session("log in again and start the job there; tmux, ssh masters, jupyter and ray keep the old limit"),
      limits::prlimit_now(s)};
  return out;
}

/// The unit gives enough by now; the service was started before that was written.
Outcome service_older_than_fix(const Situation& s) {
  const int at = s.trail ? set_at(*s.trail) : -1;
  if (!limits::guilty(limits::standing(s)) || at <= 0 || limits::session_link(s.trail) >= 0) return not_applicable();
  const TrailLink& link = link_at(*s.trail, at);
  const UnitLimit* unit = own_unit(s, link);
  if (unit == nullptr || !limits::is_manager(link_at(*s.trail, at - 1))) return not_applicable();
  if (unit->newer_than_service != true || !limits::would_do(*unit->memlock.soft, s)) return not_applicable();
  const std::string name = limits::safe_word(unit->unit, "UNIT");
  Outcome out = limits::limit_finding(
      s, Certainty::kLikely, 80,
      fmt::format("{} is given {} by {} now; it was started before that was written and still has {}",
                  limits::plain(link.name, 40), format_limit(*unit->memlock.soft),
                  contains(unit->source.text, "DefaultLimitMEMLOCK") ? "systemd's default" : "its unit",
                  format_limit(*link.soft)),
      {limits::cite_link(link, "as it was started"), cite(unit->source, "counts from the next start on")});
  out.remedies = {{"restart-service",
                   "load the unit again and restart the service",
                   {"systemctl daemon-reload", "systemctl restart " + name},
                   true,
                   fmt::format("grep 'locked memory' /proc/$(systemctl show -p MainPID --value {})/limits", name)},
                  limits::prlimit_now(s, false, unit->unit)};
  return out;
}

}  // namespace

std::optional<Limit> ulimit_command(std::string_view text) {
  const auto words = split_blanks(text.substr(0, 4096));
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != "ulimit") continue;
    if (const auto limit = limit_argument(words, i + 1)) return limit;
  }
  return std::nullopt;
}

Outcome memlock_too_low(const Situation& s) {
  if (s.kind == SubjectKind::kProcess && s.process) return too_low_live(s);
  if (s.kind != SubjectKind::kIncident || !s.incident) return not_applicable();
  if (const std::string why = not_the_limit_check(s); !why.empty()) return ruled_out(why);
  switch (const Standing standing = limits::standing(s); standing) {
    case Standing::kCleared:
      return ruled_out(cleared_why(s));
    case Standing::kPossible:
      return limit_candidate(s);
    case Standing::kLikely:
    case Standing::kProven:
      return too_low_found(s, standing);
    case Standing::kNone:
      break;
  }
  return not_applicable();
}

Outcome soft_below_hard(const Situation& s) {
  const Standing standing = limits::standing(s);
  if (!limits::guilty(standing) || s.is_daemon || !s.soft() || !s.limit.hard) return not_applicable();
  // A shell's two numbers are as good a sign as its one: PD101 would be likely from them as well.
  const bool of_subject = s.kind == SubjectKind::kProcess || !s.limit.inherited;
  if (!of_subject || *s.limit.hard <= *s.soft() || !limits::would_do(*s.limit.hard, s)) return not_applicable();
  const std::string summary = fmt::format("the hard limit ({}) would do, the soft limit ({}) is what counts",
                                          format_limit(*s.limit.hard), format_limit(*s.soft()));
  Outcome out = limits::limit_finding(s, limits::certainty_of(standing), 65, summary);
  if (s.incident && limits::over_ssh(s)) {
    // A script on the node of mpirun raises nothing where the ranks are.
    Remedy on_node = limits::limits_d();
    on_node.title += ", on the node of the rank";
    out.remedies = {std::move(on_node), limits::prlimit_now(s, true)};
  } else {
    out.remedies = {limits::soft_to_hard(s.limit.hard), limits::prlimit_now(s, true)};
  }
  return out;
}

Outcome process_older_than_fix(const Situation& s) {
  if (s.kind == SubjectKind::kProcess && s.session != nullptr) return session_older_than_fix(s);
  if (s.kind == SubjectKind::kProcess && s.process) return service_older_than_fix(s);
  const Standing standing = limits::standing(s);
  if (!s.incident || !limits::guilty(standing) || !limits::session_by_pam(s) || !s.limit.of_job)
    return not_applicable();
  const Process* shell = limits::good_shell(s);
  if (!shell) return not_applicable();
  const bool configured = std::any_of(s.facts->limits_conf.begin(), s.facts->limits_conf.end(), [](const auto& line) {
    return iequals(line.item, "memlock") && (line.type == "-" || iequals(line.type, "soft")) &&
           (iequals(line.value, "unlimited") || iequals(line.value, "infinity") || line.value == "-1");
  });
  if (!configured) {
    return candidate(
        35, "a fresh shell has enough, the job does not; it may have been started before the fix",
        "ps -o lstart= -p PID; ls -l --time-style=full-iso /etc/security/limits.conf /etc/security/limits.d/");
  }
  const std::string summary = fmt::format(
      "configuration and a fresh shell allow {}, this job still has {}: it, or what started it, is older than the fix",
      format_limit(*shell->memlock->soft), s.soft() ? format_limit(*s.soft()) : "less");
  Outcome out =
      limits::limit_finding(s, Certainty::kLikely, 66, summary,
                            {cite(shell->memlock.source, "a fresh shell"), cite(s.facts->limits_conf.front().source)});
  out.remedies = {from_new_session("restart what starts the job (ray, jupyter, tmux, ssh master) from a new login")};
  return out;
}

Outcome memlock_zero(const Situation& s) {
  if (s.kind == SubjectKind::kIncident && s.incident) return zero_incident(s);
  if (s.kind == SubjectKind::kProcess && s.process) return zero_live(s);
  return not_applicable();
}

Outcome limit_divided_by_devices(const Situation& s) {
  if (!s.incident || !s.run || !limits::charged_call(s) || !s.enomem_possible() || s.limit_cleared())
    return not_applicable();
  const auto& length = s.incident->first.length;
  if (!length || !s.soft() || s.soft()->is_unlimited() || s.run->devices.size() < 2) return not_applicable();
  const std::uint64_t devices = std::min<std::size_t>(s.run->devices.size(), 64);
  const std::uint64_t pages = pages_at_least(*length);  // at most 2^34 below, so the product cannot overflow
  if (*length > kAbsurd || pages > s.soft()->pages() || pages * devices <= s.soft()->pages()) return not_applicable();
  const std::string sum =
      fmt::format("{} on {} devices is charged {} times: {} against a limit of {}", format_size(*length), devices,
                  devices, format_size(pages * devices << 12), format_limit(*s.soft()));
  if (!s.limit.of_job) return candidate(45, sum, limits::decide_limit(s));
  Outcome out = limits::limit_finding(s, Certainty::kLikely, 68, sum);
  out.remedies = limit_remedies(s);
  return out;
}

Outcome no_limit_configured(const Situation& s) {
  const Standing standing = limits::standing(s);
  if (!limits::guilty(standing) || !s.soft()) return not_applicable();
  const std::string origin = limits::default_origin(*s.soft(), *s.facts);
  if (origin.empty()) return not_applicable();
  if (s.kind == SubjectKind::kProcess) return unconfigured_live(s, origin);
  if (!limits::session_by_pam(s) || !s.facts->limits_conf.empty()) return not_applicable();
  return candidate(30, origin + "; perhaps nobody set anything",
                   "grep -rn memlock /etc/security/limits.conf /etc/security/limits.d/");
}

Outcome lowered_by_ancestor(const Situation& s) {
  const Standing standing = limits::standing(s);
  if (s.kind == SubjectKind::kProcess && limits::guilty(standing) && !s.is_daemon) return lowered_on_trail(s);
  return lowered_in_log(s, standing);
}

}  // namespace pindown::login
