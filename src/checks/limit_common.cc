// SPDX-License-Identifier: Apache-2.0
// See limit_common.h. Need, trail and origin of the locked-memory limit in words and commands. Pure.
#include "checks/limit_common.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/errno_name.h"
#include "base/host_name.h"
#include "base/text.h"
#include "checks/look.h"
#include "checks/pam_lines.h"
#include "model/session_start.h"
#include "model/trail.h"

namespace pindown::limits {
namespace {

constexpr std::uint64_t kEnough = 2ULL << 30;  // product.md "What is enough?"
constexpr std::uint64_t kTight = 64ULL << 20;

Standing of_guilt(const Situation& s) {
  if (const auto certainty = s.limit_guilty()) {
    return *certainty == Certainty::kProven ? Standing::kProven : Standing::kLikely;
  }
  return Standing::kNone;
}

/// The library itself names the limit; a generous one makes that a guess of the library's.
Standing of_named_limit(const Situation& s) {
  const auto& limit = s.incident->first.limit;
  if (s.limit_cleared() || (limit && Limit{*limit}.is_unlimited())) return Standing::kCleared;
  const bool generous = limit && policy(Limit{*limit}) == Judgement::Answer::kPasses;
  return generous ? Standing::kPossible : Standing::kLikely;
}

/// Calls that the limit can only be asked about: no memory is known to be pinned for them.
bool only_suspected(const Situation& s) {
  if (s.failure() == logs::Kind::kAllocPd) return true;
  return s.failure() == logs::Kind::kRegMr &&
         s.incident->first.limit_hint;  // on-demand paging, yet UCX names the limit
}

Standing of_incident(const Situation& s) {
  if (names_limit(s)) return of_named_limit(s);
  const bool bare = s.failure() == logs::Kind::kLibraryError;  // "unhandled system error" without a call named
  const bool charged = charged_call(s);
  if (!charged && !bare && !only_suspected(s)) return Standing::kNone;
  if (s.limit_cleared()) return Standing::kCleared;
  if (!s.enomem_possible()) return s.has_errno(EPERM) && charged ? of_guilt(s) : Standing::kNone;
  const bool over_verbs = charged || (bare && s.run && s.run->net_ib);
  const Standing guilt =
      over_verbs && !capability_open(s) && !root_passes(s) && !granted_in_container(s) ? of_guilt(s) : Standing::kNone;
  return guilt == Standing::kNone ? Standing::kPossible : guilt;
}

Standing of_process(const Situation& s) {
  const Judgement judged = judge(s);
  if (judged.answer == Judgement::Answer::kUnknown) return Standing::kNone;
  if (judged.answer == Judgement::Answer::kPasses) return Standing::kCleared;
  return judged.proven ? Standing::kProven : Standing::kLikely;
}

/// Something on this machine registers memory, or could.
bool rdma_machine(const Situation& s) {
  const auto uses = [](const Process& p) {
    return p.nccl_mapped.known() || (p.verbs_open.known() && !p.verbs_open->empty());
  };
  if (s.facts->rdma_present.value == true || !s.facts->devices.empty()) return true;
  if (s.process && uses(*s.process)) return true;
  for (const Process& p : s.facts->processes) {
    if (uses(p)) return true;
  }
  return false;
}

/// Daemons whose sessions go through PAM: what they have themselves is not what a session gets.
bool opens_pam_sessions(std::string_view comm) {
  for (const std::string_view name : {"sshd", "cron", "crond", "atd", "login"}) {
    if (comm == name) return true;
  }
  return false;
}

std::optional<Severity> severity_of(const Situation& s) {
  if (s.incident != nullptr) {
    return s.incident->continued ? std::optional(Severity::kWarning) : std::nullopt;
  }
  if (s.kind != SubjectKind::kProcess) return std::nullopt;
  if (s.is_daemon && (!rdma_machine(s) || opens_pam_sessions(s.process->comm))) return Severity::kNote;
  const auto answer = judge(s).answer;
  return answer == Judgement::Answer::kTight ? std::optional(Severity::kWarning) : std::nullopt;
}

std::string need_of_process(const Situation& s) {
  const std::string limit = s.soft() ? format_limit(*s.soft()) : "an unknown amount";
  const std::string needed = s.need.bytes
                                 ? fmt::format("{} needed ({})", format_size(*s.need.bytes), plain(s.need.source))
                                 : std::string("2 GiB or more wanted (default policy)");
  if (s.is_daemon) return fmt::format("what {} starts may lock {}; {}", subject_name(s), limit, needed);
  const std::string pinned = s.process->vm_pin ? " and pins " + format_size(*s.process->vm_pin) + " now" : "";
  return fmt::format("{} may lock {}{}; {}", subject_name(s), limit, pinned, needed);
}

bool has_launcher(const Situation& s, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (s.launched_by(name)) return true;
  }
  return false;
}

bool in_container_cgroup(std::string_view cgroup) {
  for (const std::string_view word :
       {"kubepods", "docker-", "/docker/", "libpod", "cri-containerd", "crio-", "machine.slice"}) {
    if (contains(cgroup, word)) return true;
  }
  return false;
}

Distro version_behind(std::string_view text, std::string_view name, Distro::Kind kind) {
  Distro distro{kind};
  const auto at = text.find(name);
  text.remove_prefix(at + name.size());
  while (!text.empty() && !is_digit(text.front())) text.remove_prefix(1);
  distro.major = static_cast<int>(parse_u64(take_digits(text).substr(0, 4)).value_or(0));
  if (consume(text, ".")) distro.minor = static_cast<int>(parse_u64(take_digits(text).substr(0, 4)).value_or(0));
  return distro;
}

/// systemd's PID 1 takes max(64 MiB, RAM/8) for itself; MemTotal is a little below what it calls RAM.
bool is_eighth_of_ram(Limit limit, const Facts& facts) {
  const auto total = facts.meminfo.bytes.find("MemTotal");
  if (total == facts.meminfo.bytes.end()) return false;
  const std::uint64_t eighth = total->second / 8;
  return limit.bytes >= eighth && limit.bytes - eighth <= eighth / 50;
}

}  // namespace

bool names_limit(const Situation& s) {
  return s.incident && s.failure() == logs::Kind::kMemlockWarning;
}

namespace {

/// rxe keeps queues in vmalloc memory (rxe_queue.c), efa in coherent DMA memory (efa_verbs.c): no umem, no charge.
bool queues_are_free(const Situation& s) {
  const auto free_name = [](std::string_view name) { return name.starts_with("rxe") || name.starts_with("efa"); };
  if (!s.incident->first.device.empty()) return free_name(s.incident->first.device);
  if (!s.run || s.run->devices.empty()) return false;
  return std::ranges::all_of(s.run->devices, free_name);
}

}  // namespace

bool charged_call(const Situation& s) {
  if (!s.incident) return false;
  if (s.failure() == logs::Kind::kRegMr) return !look::on_demand(s.incident->first);
  return s.failure() == logs::Kind::kCreateQueue && !queues_are_free(s);
}

bool capability_open(const Situation& s) {
  if (!s.process || s.ipc_lock.usable || !s.process->caps || !s.process->caps->effective) return false;
  return has_cap(*s.process->caps->effective, kCapIpcLock) && !s.process->initial_userns;
}

bool granted_in_container(const Situation& s) {
  if (!s.incident || s.ipc_lock.usable || (s.process && s.process->caps.known() && s.process->caps->effective))
    return false;
  if (s.process && s.process->euid && *s.process->euid != 0) return false;
  if (s.facts->pod_privileged.known() && s.in_kubernetes()) return true;
  return std::ranges::any_of(s.facts->containers, [](const ContainerCommand& run) {
    const bool root = run.user.empty() || run.user == "0" || run.user == "root" || run.user.starts_with("0:") ||
                      run.user.starts_with("root:");
    return (run.privileged || run.ipc_lock) && root;
  });
}

bool is_root(const Process& p) {
  return p.euid ? *p.euid == 0 : p.user == "root" || p.user == "0";
}

std::string decide_capability() {
  return "grep CapEff /proc/PID/status  # PID of a rank, while it runs: bit 14 is CAP_IPC_LOCK";
}

bool root_passes(const Situation& s) {
  if (!s.incident || !s.process || s.ipc_lock.usable || containerised(s) || s.pod_like_name()) return false;
  const Process& p = *s.process;
  if (p.kind != ProcessKind::kJob || (p.caps.known() && p.caps->effective)) return false;
  return is_root(p);
}

bool blamed(const Situation& s) {
  return s.incident && guilty(standing(s));
}

Judgement::Answer policy(Limit soft) {
  if (soft.bytes >= kEnough) return Judgement::Answer::kPasses;
  return soft.bytes >= kTight ? Judgement::Answer::kTight : Judgement::Answer::kLow;
}

Judgement judge(const Situation& s) {
  if (!s.process || !s.soft()) return {};
  const Limit soft = *s.soft();
  if (soft.is_unlimited()) return {Judgement::Answer::kPasses, true};
  // What a root daemon may do says nothing of its children: they drop to a user.
  if (!s.is_daemon && s.ipc_lock.usable == true) return {Judgement::Answer::kPasses, true};
  const bool capability_open = !s.is_daemon && !s.ipc_lock.usable;
  Judgement judged{policy(soft), false};
  if (s.need.bytes) {
    const std::uint64_t pinned =
        s.is_daemon ? 0 : s.process->vm_pin.value.value_or(0) >> 12;  // fork and exec start at 0
    const bool fits = pages_at_least(*s.need.bytes) + pinned <= soft.pages();
    judged = {fits ? Judgement::Answer::kPasses : Judgement::Answer::kLow, true};
  }
  const bool short_of = judged.answer != Judgement::Answer::kPasses;
  return short_of && capability_open ? Judgement{} : judged;
}

bool would_do(Limit limit, const Situation& s) {
  if (limit.is_unlimited()) return true;
  std::optional<std::uint64_t> need = s.need.bytes;
  if (!need && s.incident) need = s.incident->first.length;
  if (!need) return policy(limit) == Judgement::Answer::kPasses;
  const bool observed_too_low = s.soft() && limit <= *s.soft();
  return !observed_too_low && pages_at_least(*need) <= limit.pages();
}

Standing standing(const Situation& s) {
  if (s.kind == SubjectKind::kIncident && s.incident) return of_incident(s);
  if (s.kind == SubjectKind::kProcess && s.process) return of_process(s);
  return Standing::kNone;
}

bool guilty(Standing standing) {
  return standing == Standing::kLikely || standing == Standing::kProven;
}

Certainty certainty_of(Standing standing) {
  if (standing == Standing::kProven) return Certainty::kProven;
  return standing == Standing::kLikely ? Certainty::kLikely : Certainty::kPossible;
}

Outcome limit_finding(const Situation& s, Certainty certainty, int weight, std::string summary,
                      std::vector<Evidence> more) {
  std::vector<Evidence> evidence;
  if (s.incident) evidence.push_back(s.failure_evidence());
  const bool same_line = s.incident && s.limit.at_failure;
  if (s.soft() && !s.limit.source.path.empty() && !same_line)
    evidence.push_back(cite(s.limit.source, s.incident ? s.limit.from : std::string()));
  if (const auto refused = s.raise_refused(); refused && !s.soft()) {
    evidence.push_back(cite(*refused, "the limit may not be raised that far"));
  }
  if (s.pinned_fits() == false && !s.pin.part) evidence.push_back(cite(s.pin.source, "pinned by the failing process"));
  evidence.insert(evidence.end(), more.begin(), more.end());
  Outcome out = found(certainty, weight, std::move(summary), std::move(evidence));
  out.severity = severity_of(s);
  return out;
}

std::string subject_name(const Situation& s) {
  if (!s.process || !s.process->where.pid || s.kind != SubjectKind::kProcess) return "the job";
  return fmt::format("pid {} {}", *s.process->where.pid, plain(s.process->comm, 20));
}

std::string need_against_have(const Situation& s) {
  if (s.kind == SubjectKind::kProcess && s.process) return need_of_process(s);
  if (!s.incident) return {};
  const logs::Event& first = s.incident->first;
  const std::string call = first.verb.empty() ? "the call" : plain(first.verb, 40);
  const std::string unseen = s.raise_refused() ? "raising the limit was refused as well" : "the limit is not known";
  const std::string have = s.soft() ? "the limit is " + format_limit(*s.soft()) : unseen;
  if (names_limit(s)) {
    return s.soft() ? fmt::format("the library itself says so, and {}", have) : "the library itself says so";
  }
  const bool counts = s.pin.bytes && (!s.pin.part || s.pinned_fits() == false);
  if (first.length && counts) {
    return fmt::format("{} asked for {} beside {} that {} pinned; {}", call, format_size(*first.length),
                       format_size(*s.pin.bytes), s.pin.at_failure ? "were" : "are", have);
  }
  if (first.length) return fmt::format("{} asked for {}; {}", call, format_size(*first.length), have);
  return fmt::format("{} was refused; {}", call, have);
}

std::string decide_limit(const Situation& s) {
  if (s.in_kubernetes()) {
    return fmt::format("kubectl exec {} -- sh -c \"grep 'locked memory' /proc/1/limits; grep CapEff /proc/1/status\"",
                       pod_argument(s));
  }
  if (s.under_slurm()) return "srun -N1 sh -c 'ulimit -Sl; ulimit -Hl; grep CapEff /proc/self/status'";
  if (s.in_container()) {
    return fmt::format("docker exec {} sh -c \"grep 'locked memory' /proc/1/limits; grep CapEff /proc/1/status\"",
                       container_name(s));
  }
  if (s.launched_by("mpirun")) {
    return "mpirun --hostfile HOSTS --map-by node sh -c 'hostname; ulimit -Sl; ulimit -Hl; grep CapEff "
           "/proc/self/status'";
  }
  if (s.launched_by("pdsh")) return "pdsh -w HOSTS \"ulimit -Sl; ulimit -Hl; grep CapEff /proc/self/status\"";
  return "grep 'locked memory' /proc/PID/limits; grep CapEff /proc/PID/status  # PID of a rank, while it runs";
}

bool containerised(const Situation& s) {
  if (s.in_container() || s.in_kubernetes()) return true;
  if (s.kind != SubjectKind::kProcess || !s.process) return false;
  if (in_container_cgroup(s.process->cgroup) || s.facts->inside_container.value == true) return true;
  for (const char* name : {"containerd-shim", "conmon"}) {
    if (link_named(s.trail, name) >= 0) return true;
  }
  return false;
}

bool maybe_slurm(const Situation& s) {
  return s.under_slurm() || s.launched_by("srun");
}

bool over_ssh(const Situation& s) {
  if (s.kind == SubjectKind::kProcess) return sshd_listener(s.trail) >= 0;
  return has_launcher(s, {"mpirun", "pdsh", "deepspeed", "ssh"});
}

bool session_by_pam(const Situation& s) {
  if (containerised(s) || s.under_slurm()) return false;
  if (s.kind == SubjectKind::kProcess) {
    if (s.is_daemon) return false;
    if (sshd_listener(s.trail) >= 0) return true;
    if (session_link(s.trail) >= 0 || link_named(s.trail, "gdm") >= 0) return true;
    return contains(s.process->cgroup, "session-");
  }
  return !has_launcher(s, {"pyxis", "enroot", "torque", "pbs", "ray", "flux", "condor", "sge", "lsf"});
}

const Process* good_shell(const Situation& s) {
  for (const Process& p : s.facts->processes) {
    const bool shell = p.kind == ProcessKind::kShell && p.memlock && p.memlock->soft;
    if (shell && would_do(*p.memlock->soft, s)) return &p;
  }
  return nullptr;
}

const UnitLimit* unit_limit(const Facts& facts, std::string_view unit) {
  for (const UnitLimit& each : facts.units) {
    if (each.unit == unit) return &each;
  }
  return nullptr;
}

bool on_other_host(const Situation& s, const Process& p) {
  if (!s.incident || s.in_container()) return false;
  const std::string& shown = p.memlock.source.host;
  const auto is_shown = [&shown](const std::string& host) { return same_host(shown, host); };
  if (shown.empty() || s.incident->first.shape.host.empty()) return false;
  // The nodes of one job are set up alike: what one of them shows is meant for the others.
  if (s.run && std::ranges::any_of(s.run->by_host, is_shown, [](const auto& entry) { return entry.first; }))
    return false;
  return !is_shown(s.incident->first.shape.host) && std::ranges::none_of(s.incident->hosts, is_shown);
}

namespace {

const Process* find_daemon(const Situation& s, std::string_view comm, bool elsewhere) {
  for (const Process& p : s.facts->processes) {
    if (p.kind == ProcessKind::kContainer || p.comm != comm || !p.memlock || !p.memlock->soft) continue;
    if (on_other_host(s, p) == elsewhere) return &p;
  }
  return nullptr;
}

}  // namespace

const Process* daemon_named(const Situation& s, std::string_view comm) {
  return find_daemon(s, comm, false);
}

const Process* daemon_elsewhere(const Situation& s, std::string_view comm) {
  return daemon_named(s, comm) ? nullptr : find_daemon(s, comm, true);
}

bool Distro::pam_resets() const {
  if (kind == Kind::kDebian) return major > 0 && major <= 12;
  return kind == Kind::kUbuntu && major > 0 && (major < 24 || (major == 24 && minor <= 4));
}

Distro distro_of(const Facts& facts) {
  if (!facts.distro) return {};
  const std::string name = *facts.distro;
  if (contains(name, "Ubuntu")) return version_behind(name, "Ubuntu", Distro::Kind::kUbuntu);
  if (contains(name, "Debian")) return version_behind(name, "Debian", Distro::Kind::kDebian);
  if (contains(name, "Raspbian")) return version_behind(name, "Raspbian", Distro::Kind::kDebian);
  if (contains(name, "Pop!_OS")) return version_behind(name, "Pop!_OS", Distro::Kind::kUbuntu);
  // Built from one of the two, with numbers of their own.
  for (const char* derived : {"Linux Mint", "Kali", "Devuan", "Proxmox", "elementary OS", "Zorin", "KDE neon"}) {
    if (contains(name, derived)) return {Distro::Kind::kDebian};
  }
  return {Distro::Kind::kOther};
}

std::string service_of(std::string_view cgroup) {
  if (in_container_cgroup(cgroup)) return {};
  std::string service;
  for (const std::string_view part : split(cgroup, '/')) {
    if (part.starts_with("session-") && part.ends_with(".scope")) return {};
    if (part.ends_with(".service")) service = part;
  }
  return service;
}

std::string default_origin(Limit limit, const Facts& facts) {
  if (limit.bytes == 64ULL << 10) {
    return "64 KiB is what kernels before 5.16 give, and services under systemd before 251";
  }
  if (limit.bytes == 8ULL << 20) {
    return "8 MiB is the default of kernels since 5.16 and of services since systemd 251";
  }
  if (is_eighth_of_ram(limit, facts))
    return format_limit(limit) + " is an eighth of the memory, what systemd's PID 1 has";
  if (limit.bytes == kTight) return "64 MiB is what systemd's PID 1 has at least";
  return {};
}

bool is_named(const TrailLink& link, std::string_view name) {
  std::string_view own = link.name;
  if (!consume(own, name)) return false;
  return own.empty() || own.front() == ':' || own.front() == '-' || own.front() == ' ' || own.front() == '.';
}

bool is_manager(const TrailLink& link) {
  return link.pid == 1 || link.name.starts_with("user@") || link.name == "systemd";
}

int sshd_listener(const Trail* trail) {
  const int count = trail ? static_cast<int>(trail->links.size()) : 0;
  for (int i = 0; i < count; ++i) {
    const TrailLink& link = trail->links[static_cast<std::size_t>(i)];
    if (is_named(link, "sshd") || link.name == "ssh.service" || link.name.starts_with("ssh@")) return i;
  }
  return -1;
}

namespace {

std::string_view comm_of(const TrailLink& link) {
  return link.comm.empty() ? std::string_view(link.name) : std::string_view(link.comm);
}

}  // namespace

int session_link(const Trail* trail) {
  const int listener = sshd_listener(trail);
  const int count = trail ? static_cast<int>(trail->links.size()) : 0;
  for (int i = count - 2; i > listener && i > 0; --i) {
    const TrailLink& link = trail->links[static_cast<std::size_t>(i)];
    if (opens_own_session(comm_of(link))) return i;
    if (!opens_session_of_child(comm_of(link))) continue;
    const bool child = opens_session_of_child(comm_of(trail->links[static_cast<std::size_t>(i - 1)]));
    return child ? i : i + 1;
  }
  return listener >= 0 && listener + 1 < count ? listener + 1 : -1;
}

bool same_as_sshd(const Situation& s) {
  const int at = sshd_listener(s.trail);
  return at >= 0 && s.soft() && s.trail->links[static_cast<std::size_t>(at)].soft == s.soft();
}

int link_named(const Trail* trail, std::string_view name) {
  if (!trail) return -1;
  for (int i = static_cast<int>(trail->links.size()) - 1; i >= 0; --i) {
    if (is_named(trail->links[static_cast<std::size_t>(i)], name)) return i;
  }
  return -1;
}

Evidence cite_link(const TrailLink& link, std::string note) {
  Evidence evidence;
  evidence.source = link.source.empty() ? fmt::format("/proc/{}/limits", link.pid) : link.source;
  evidence.text = link.text.empty()
                      ? fmt::format("{} has {}", link.name, link.soft ? format_limit(*link.soft) : "an unknown limit")
                      : link.text;
  evidence.note = std::move(note);
  return evidence;
}

std::string plain(std::string_view text, std::size_t columns) {
  return shorten(escape(text), columns);
}

std::string safe_word(std::string_view text, std::string_view otherwise) {
  bool safe = !text.empty() && text.size() <= 128 && text.front() != '-';
  for (const char c : text) {
    safe = safe && (is_alnum(c) || c == '.' || c == '_' || c == '-' || c == '@' || c == ':');
  }
  return std::string(safe ? text : otherwise);
}

std::string pod_name(const Situation& s) {
  std::string_view target = s.process ? std::string_view(s.process->target) : std::string_view();
  if (consume(target, "pod/")) return safe_word(target, "POD");
  const std::string host = s.incident ? s.incident->first.shape.host : std::string();
  return logs::looks_like_pod(host) ? safe_word(host, "POD") : "POD";
}

std::string kube_namespace(const Situation& s) {
  const auto& all = s.facts->pod_namespaces;
  return all.size() == 1 ? safe_word(*all.begin(), "NAMESPACE") : "NAMESPACE";
}

std::string pod_argument(const Situation& s) {
  const std::string pod = pod_name(s);
  return s.facts->pod_namespaces.empty() ? pod : fmt::format("-n {} {}", kube_namespace(s), pod);
}

std::string container_name(const Situation& s) {
  const std::string host = s.incident ? s.incident->first.shape.host : std::string();
  return logs::looks_like_docker_id(host) ? safe_word(host, "CONTAINER") : "CONTAINER";
}

Remedy limits_d() {
  Remedy r;
  r.id = "limits-d-unlimited";
  r.title = "let pam_limits raise it, for everybody and for root, then log in again";
  r.commands = {
      "printf '* - memlock unlimited\\nroot - memlock unlimited\\n' > /etc/security/limits.d/90-pindown-memlock.conf"};
  r.verify = "ulimit -Sl; ulimit -Hl  # in a new session";
  return r;
}

Remedy session_limit(const Situation& s) {
  const auto lines = pam_effective(s.facts->limits_conf, {});
  const bool configured = lines.soft && lines.soft->is_unlimited() && lines.hard && lines.hard->is_unlimited();
  if (!configured || !lines.soft_line) return limits_d();
  Remedy r;
  r.id = "limits-not-in-force";
  r.title = fmt::format(
      "{} gives unlimited already: open a new session; if that has less, too, predict says which line counts",
      plain(lines.soft_line->source.path));
  r.commands = {"ssh localhost 'ulimit -Sl; ulimit -Hl'   # a new session", "grep -rn memlock /etc/security/limits.d",
                "sudo pindown predict --via ssh --user USER"};
  r.persistent = false;
  r.verify = "ulimit -Sl; ulimit -Hl  # in the session that starts the job";
  return r;
}

Remedy by_what_starts_it(const Situation& s) {
  Remedy r;
  r.id = "by-what-starts-it";
  r.title =
      "it is raised where the job gets it: a login or ssh session from PAM (limits.d), a service from its unit "
      "(pindown explain PD201), Slurm from slurmd or the submit shell (PD203, PD202), a container from its runtime "
      "(PD301), a pod from the node's runtime (PD304); the job's cgroup tells which it is";
  const bool live = s.kind == SubjectKind::kProcess && s.process && s.process->where.pid;
  r.commands = {live ? fmt::format("cat /proc/{}/cgroup", *s.process->where.pid)
                     : std::string("cat /proc/self/cgroup   # in the job")};
  r.verify = "grep 'locked memory' /proc/self/limits   # in the job, afterwards";
  return r;
}

Remedy unit_infinity(std::string_view unit) {
  const std::string name = safe_word(unit, "UNIT.service");
  Remedy r;
  r.id = "unit-limit-infinity";
  r.title = fmt::format("give {} LimitMEMLOCK=infinity and restart it", name);
  if (name == "UNIT.service")
    r.title = "give the service that starts the job (its name for UNIT) LimitMEMLOCK=infinity";
  r.commands = {
      fmt::format("mkdir -p /etc/systemd/system/{}.d", name),
      fmt::format("printf '[Service]\\nLimitMEMLOCK=infinity\\n' > /etc/systemd/system/{}.d/90-pindown-memlock.conf",
                  name),
      "systemctl daemon-reload",
      fmt::format("systemctl restart {}", name),
  };
  r.verify = fmt::format("grep 'locked memory' /proc/$(systemctl show -p MainPID --value {})/limits", name);
  return r;
}

namespace {

/// What a failed job's next start inherits from: the failed rank itself is gone by the time anybody reads its log.
struct Starter {
  std::string who;
  std::string pid;  // a word of a command that yields it
};

Starter starter_of(const Situation& s, std::string_view unit) {
  const std::string& host = s.incident ? s.incident->first.shape.host : std::string();
  if (s.under_slurm()) return {"slurmd, on each node; jobs started from now on inherit it", "$(pidof -s slurmd)"};
  if (logs::looks_like_docker_id(host)) {
    return {"the container's first process; what it starts from now on inherits it",
            fmt::format("$(docker inspect -f '{{{{.State.Pid}}}}' {})", safe_word(host, "CONTAINER"))};
  }
  if (containerised(s)) return {"the container's first process, by its pid on the host", "PID"};
  if (!unit.empty() || s.launched_by("journald")) {
    return {"the service's main process; what it starts from now on inherits it",
            fmt::format("$(systemctl show -p MainPID --value {})", safe_word(unit, "UNIT.service"))};
  }
  if (has_launcher(s, {"torque", "pbs"})) {
    return {"pbs_mom, on each node; jobs started from now on inherit it", "$(pidof -s pbs_mom)"};
  }
  if (over_ssh(s))
    return {"sshd, on each node; sessions opened from now on inherit it, unless pam_limits sets or resets it",
            "$(pgrep -o -x sshd)"};
  return {"the shell that starts the next run (type it there)", "$$"};
}

std::string raised_to(const Situation& s, bool soft_only) {
  if (!soft_only) return "unlimited";
  const bool finite = s.limit.hard && !s.limit.hard->is_unlimited();
  return (finite ? std::to_string(s.limit.hard->bytes) : std::string("unlimited")) + ":";
}

}  // namespace

Remedy prlimit_now(const Situation& s, bool soft_only, std::string_view unit) {
  const bool live = s.kind == SubjectKind::kProcess && s.process && s.process->where.pid;
  const Starter next = live ? Starter{{}, std::to_string(*s.process->where.pid)} : starter_of(s, unit);
  Remedy r;
  r.id = soft_only ? "prlimit-soft-now" : "prlimit-now";
  r.title = live ? std::string("raise it for what runs now; no restart, children started later inherit it")
                 : "until then, raise it for " + next.who;
  const char* sudo = next.pid == "$$" ? "sudo " : "";
  r.commands = {fmt::format("{}prlimit --pid {} --memlock={}", sudo, next.pid, raised_to(s, soft_only))};
  r.persistent = false;
  r.verify = fmt::format("grep 'locked memory' /proc/{}/limits", next.pid);
  return r;
}

Remedy soft_to_hard(std::optional<Limit> hard) {
  Remedy r;
  r.id = "raise-soft-to-hard";
  r.title = "raise the soft limit in the job script, before the program starts";
  const bool all = hard && hard->is_unlimited();
  r.commands = {all ? "ulimit -l unlimited" : "ulimit -Sl \"$(ulimit -Hl)\""};
  r.verify = "ulimit -Sl  # in the same script, after that line";
  return r;
}

namespace {

/// The list that scontrol or slurm.conf shows, without MEMLOCK; empty for "(null)" and for what is no list of names.
std::string other_limits(const Facts& facts, const char* key) {
  const auto at = facts.slurm_conf.find(key);
  if (at == facts.slurm_conf.end() || !at->second.known()) return {};
  std::string names;
  for (const std::string_view item : split(*at->second, ',')) {
    const std::string_view name = trim(item);
    if (name.empty() || iequals(name, "MEMLOCK") || iequals(name, "ALL") || iequals(name, "NONE")) continue;
    if (!std::ranges::all_of(name, is_alpha)) return {};
    names += fmt::format("{}{}", names.empty() ? "" : ",", name);
  }
  return names;
}

/// The line that stops memlock alone from travelling.
std::string propagation_line(const Facts& facts) {
  const std::string only = other_limits(facts, "PropagateResourceLimits");
  if (!only.empty()) return "PropagateResourceLimits=" + only;
  const std::string except = other_limits(facts, "PropagateResourceLimitsExcept");
  return fmt::format("PropagateResourceLimitsExcept={}MEMLOCK", except.empty() ? "" : except + ",");
}

}  // namespace

Remedy slurm_no_propagation(const Situation& s) {
  const std::string line = propagation_line(*s.facts);
  Remedy r;
  r.id = "slurm-propagate-except-memlock";
  r.title = fmt::format("set {} on all nodes and the controller, then scontrol reconfigure", line);
  r.commands = {
      "grep -n Propagate /etc/slurm/slurm.conf",
      "# the line to have there, instead of any other Propagate line: " + line,
      "scontrol reconfigure",
  };
  r.verify = "srun -N1 sh -c 'ulimit -Sl; ulimit -Hl'";
  return r;
}

Remedy slurm_no_propagation_now() {
  Remedy r;
  r.id = "srun-propagate-none";
  r.title = "for one job: submit without propagation";
  r.commands = {"sbatch --propagate=NONE JOB.sh"};
  r.persistent = false;
  r.verify = "srun --propagate=NONE -N1 sh -c 'ulimit -Sl; ulimit -Hl'";
  return r;
}

}  // namespace pindown::limits
