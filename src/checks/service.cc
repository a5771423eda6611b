// SPDX-License-Identifier: Apache-2.0
// PD2xx: limits that come from a systemd service, from Slurm or from another daemon that launches jobs. Entry point:
// service_checks. Must not: speak for containerd, dockerd and crio (PD301), or for sessions opened by PAM (PD1xx).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "checks/check.h"
#include "checks/limit_common.h"
#include "model/slurm_session.h"
#include "model/trail.h"

namespace pindown {
namespace {

using limits::Standing;

const TrailLink& link_at(const Trail& trail, int i) {
  return trail.links[static_cast<std::size_t>(i)];
}

/// Suspected, and whatever set the limit is still to be named.
bool open_question(Standing standing) {
  return standing == Standing::kPossible || limits::guilty(standing);
}

// --- launchers other than Slurm ------------------------------------------------------------------------------------

struct Launcher {
  std::array<const char*, 2> launched_by;  // names in RunContext::launchers
  std::array<const char*, 3> comms;        // daemon processes, null = unused
  const char* name;
  const char* unit;      // null: not a service by default
  const char* restart;   // command when there is no unit, or the launcher's own knob
  const char* evidence;  // how to see its limit
};

constexpr Launcher kLaunchers[] = {
    {{"torque", "pbs"},
     {"pbs_mom", nullptr, nullptr},
     "pbs_mom",
     "pbs.service",
     nullptr,
     "grep 'locked memory' /proc/$(pidof -s pbs_mom)/limits"},
    {{"ray", nullptr},
     {"raylet", nullptr, nullptr},
     "raylet",
     nullptr,
     "ray stop && ulimit -l unlimited && ray start --address=HEAD:6379",
     "grep 'locked memory' /proc/$(pidof -s raylet)/limits"},
    {{"prted", "orted"},
     {"prted", "orted", "prte"},
     "prted",
     nullptr,
     nullptr,
     "grep 'locked memory' /proc/$(pidof -s prted orted)/limits"},
    {{"flux", nullptr},
     {"flux-broker", nullptr, nullptr},
     "flux-broker",
     "flux.service",
     "flux run --rlimit=memlock=unlimited COMMAND",
     "flux run sh -c 'ulimit -Sl; ulimit -Hl'"},
    {{"condor", "htcondor"},
     {"condor_startd", "condor_starter", "condor_master"},
     "condor_startd",
     "condor.service",
     nullptr,
     "grep 'locked memory' /proc/$(pidof -s condor_startd)/limits"},
    {{"sge", nullptr},
     {"sge_execd", "sge_shepherd", nullptr},
     "sge_execd",
     nullptr,
     "qconf -mconf   # execd_params S_MEMORYLOCKED=infinity,H_MEMORYLOCKED=infinity",
     "grep 'locked memory' /proc/$(pidof -s sge_execd)/limits"},
    {{"lsf", nullptr},
     {"sbatchd", "res", nullptr},
     "sbatchd",
     "lsfd.service",
     nullptr,
     "grep 'locked memory' /proc/$(pidof -s sbatchd)/limits"},
};

bool is_comm_of(std::string_view comm, const Launcher& launcher) {
  return std::any_of(launcher.comms.begin(), launcher.comms.end(), [comm](const char* name) {
    if (!name) return false;
    std::string_view rest = comm;
    return consume(rest, name) && (rest.empty() || rest.front() == '-');  // flux-broker-0
  });
}

/// By comm, or by the unit a trail names the first process of a service with.
const Launcher* launcher_of(std::string_view comm) {
  for (const Launcher& launcher : kLaunchers) {
    if (is_comm_of(comm, launcher) || (launcher.unit && comm == launcher.unit)) return &launcher;
  }
  return nullptr;
}

bool started(const Situation& s, const Launcher& launcher) {
  return std::any_of(launcher.launched_by.begin(), launcher.launched_by.end(),
                     [&s](const char* name) { return name && s.launched_by(name); });
}

std::vector<Remedy> launcher_remedies(const Situation& s, const Launcher& launcher) {
  std::vector<Remedy> remedies;
  if (launcher.unit) remedies.push_back(limits::unit_infinity(launcher.unit));
  if (launcher.restart) {
    Remedy own;
    own.id = "launcher-own-setting";
    own.title = fmt::format("raise it in {} itself", launcher.name);
    own.commands = {launcher.restart};
    own.verify = launcher.evidence;
    remedies.push_back(own);
  }
  Remedy now = limits::prlimit_now(s);
  if (!s.is_daemon) now.commands = {fmt::format("prlimit --pid $(pidof -s {}) --memlock=unlimited", launcher.name)};
  now.verify = launcher.evidence;
  remedies.push_back(now);
  return remedies;
}

/// What the daemon's own limit is, with the line that shows it.
struct Shown {
  std::optional<Limit> soft, hard;
  Evidence evidence;
};

std::optional<Shown> shown_daemon(const Situation& s, const Launcher& launcher) {
  for (const Process& p : s.facts->processes) {
    if (p.kind == ProcessKind::kContainer || !is_comm_of(p.comm, launcher) || !p.memlock || !p.memlock->soft) continue;
    if (limits::on_other_host(s, p)) continue;
    return Shown{p.memlock->soft, p.memlock->hard, cite(p.memlock.source)};
  }
  if (!launcher.unit) return std::nullopt;
  const UnitLimit* unit = limits::unit_limit(*s.facts, launcher.unit);
  if (!unit || !unit->memlock.soft) return std::nullopt;
  return Shown{unit->memlock.soft, unit->memlock.hard, cite(unit->source)};
}

Outcome launcher_daemon(const Situation& s, const Launcher& launcher) {
  const std::string summary =
      fmt::format("{} itself is limited, and {}", limits::subject_name(s), limits::need_against_have(s));
  Outcome out = limits::limit_finding(s, Certainty::kLikely, 73, summary);
  out.remedies = launcher_remedies(s, launcher);
  return out;
}

/// The nearest ancestor that is a launcher's daemon and has just the subject's limit.
Outcome launcher_on_trail(const Situation& s, Standing standing) {
  if (!s.trail) return not_applicable();
  for (int i = static_cast<int>(s.trail->links.size()) - 2; i > 0; --i) {
    const TrailLink& link = link_at(*s.trail, i);
    const Launcher* launcher = launcher_of(link.name);
    if (!launcher || !link.soft || link.soft != s.soft()) continue;
    const std::string summary = fmt::format("{} (pid {}) has {} and hands it on: {}", limits::plain(link.name, 20),
                                            link.pid, format_limit(*link.soft), limits::need_against_have(s));
    Outcome out = limits::limit_finding(s, limits::certainty_of(standing), 73, summary, {limits::cite_link(link)});
    out.remedies = launcher_remedies(s, *launcher);
    return out;
  }
  return not_applicable();
}

Outcome launcher_in_log(const Situation& s, Standing standing, const Launcher& launcher) {
  const auto shown = shown_daemon(s, launcher);
  if (!shown) {
    return candidate(48, fmt::format("the job was started by {}, whose own limit it inherits", launcher.name),
                     launcher.evidence);
  }
  if (limits::would_do(*shown->soft, s)) {
    return ruled_out(fmt::format("{} has {}", launcher.name, format_limit(*shown->soft)));
  }
  if (!limits::guilty(standing)) {
    return candidate(60, fmt::format("{} has {} and hands it on", launcher.name, format_limit(*shown->soft)),
                     limits::decide_limit(s));
  }
  Outcome out = limits::limit_finding(s, Certainty::kLikely, 73,
                                      fmt::format("{} has {} and hands it on: {}", launcher.name,
                                                  format_limit(*shown->soft), limits::need_against_have(s)),
                                      {shown->evidence});
  out.remedies = launcher_remedies(s, launcher);
  return out;
}

Outcome launcher_daemon_limit_low(const Situation& s) {
  const Standing standing = limits::standing(s);
  if (s.kind == SubjectKind::kProcess && s.process) {
    if (!limits::guilty(standing)) return not_applicable();
    if (!s.is_daemon) return limits::containerised(s) ? not_applicable() : launcher_on_trail(s, standing);
    const Launcher* launcher = launcher_of(s.process->comm);
    return launcher ? launcher_daemon(s, *launcher) : not_applicable();
  }
  if (!s.incident || !open_question(standing) || limits::containerised(s)) return not_applicable();
  for (const Launcher& launcher : kLaunchers) {
    if (started(s, launcher)) return launcher_in_log(s, standing, launcher);
  }
  return not_applicable();
}

// --- systemd services ------------------------------------------------------------------------------------------------

/// Units with codes of their own, or whose children get their limit elsewhere (PAM).
bool has_own_code(std::string_view unit) {
  constexpr std::string_view kOthers[] = {"slurmd.service", "containerd.service", "docker.service",
                                          "crio.service",   "podman.service",     "kubelet.service",
                                          "k3s.service",    "rke2-agent.service"};
  const bool other = std::find(std::begin(kOthers), std::end(kOthers), unit) != std::end(kOthers);
  return other || std::any_of(std::begin(kLaunchers), std::end(kLaunchers),
                              [unit](const Launcher& l) { return l.unit && unit == l.unit; });
}

bool opens_pam_sessions(std::string_view unit) {
  for (const std::string_view name : {"ssh.service", "sshd.service", "cron.service", "crond.service", "atd.service",
                                      "systemd-logind.service", "getty.service"}) {
    if (unit == name) return true;
  }
  return unit.starts_with("ssh@") || unit.starts_with("sshd@") || unit.starts_with("getty@");
}

bool is_manager_default(Limit limit) {
  return limit.bytes == 64ULL << 10 || limit.bytes == 8ULL << 20;
}

/// What a process has, and what was read of its unit: `systemctl show`, in a log, does not tell a default from a line.
std::string service_words(const Situation& s, std::string_view unit, Limit limit) {
  const UnitLimit* own = limits::unit_limit(*s.facts, unit);
  const bool live = s.kind == SubjectKind::kProcess;
  if (live && own && own->memlock.soft == limit)
    return fmt::format("{} is given {} by its unit", limits::plain(unit, 40), format_limit(limit));
  if (live && !own && is_manager_default(limit)) {
    return fmt::format("{} has no LimitMEMLOCK and gets systemd's default, {}", limits::plain(unit, 40),
                       format_limit(limit));
  }
  return fmt::format("{} runs with {}", limits::plain(unit, 40), format_limit(limit));
}

/// The unit says something else, and did so when the service was started: something below systemd set the limit.
bool set_below_unit(const Situation& s, std::string_view unit) {
  const UnitLimit* own = limits::unit_limit(*s.facts, unit);
  return own && own->memlock.soft && own->memlock.soft != s.soft() && own->newer_than_service == false;
}

std::vector<Remedy> service_remedies(const Situation& s, std::string_view unit) {
  if (!unit.starts_with("user@")) return {limits::unit_infinity(unit), limits::prlimit_now(s, false, unit)};
  Remedy manager = limits::unit_infinity("user@.service");
  manager.commands.back() = "systemctl restart " + limits::safe_word(unit, "user@UID.service");
  manager.title = "give the user managers LimitMEMLOCK=infinity; user services cannot exceed their manager";
  manager.verify = "systemd-run --user --pipe sh -c 'ulimit -Sl; ulimit -Hl'";
  return {manager, limits::prlimit_now(s, false, unit)};
}

Outcome service_daemon(const Situation& s, const std::string& unit) {
  if (opens_pam_sessions(unit)) {
    Outcome note = limits::limit_finding(s, Certainty::kPossible, 20,
                                         fmt::format("{} has {}; a session gets that unless pam_limits sets another",
                                                     limits::plain(unit, 40), format_limit(*s.soft())));
    note.severity = Severity::kNote;
    Remedy look = limits::limits_d();
    note.remedies = {look};
    return note;
  }
  Outcome out =
      limits::limit_finding(s, Certainty::kLikely, 74,
                            fmt::format("{}: {}", service_words(s, unit, *s.soft()), limits::need_against_have(s)));
  out.remedies = service_remedies(s, unit);
  return out;
}

/// The value has been the same since the service's own process, a child of PID 1 or of a user manager.
Outcome service_of_process(const Situation& s, const std::string& unit) {
  if (!s.trail || opens_pam_sessions(unit)) return not_applicable();
  const int at = set_at(*s.trail);
  if (at <= 0 || !s.soft()) return not_applicable();
  const TrailLink& parent = link_at(*s.trail, at - 1);
  const TrailLink& link = link_at(*s.trail, at);
  if (!limits::is_manager(parent) || link.soft != s.soft()) return not_applicable();
  Outcome out = limits::limit_finding(
      s, Certainty::kLikely, 74, fmt::format("{}: {}", service_words(s, unit, *s.soft()), limits::need_against_have(s)),
      {limits::cite_link(link, "set here, by systemd")});
  out.remedies = service_remedies(s, unit);
  return out;
}

/// A pasted `systemctl show` of a service that is neither a runtime nor a scheduler: what runs the job itself.
Outcome service_in_log(const Situation& s, Standing standing) {
  if (limits::containerised(s) || s.under_slurm()) return not_applicable();
  for (const UnitLimit& unit : s.facts->units) {
    if (has_own_code(unit.unit) || opens_pam_sessions(unit.unit)) continue;
    // `-p LimitMEMLOCK` alone shows the hard limit, which the soft one cannot exceed: a low one decides, a high one
    // not.
    const auto shown = unit.memlock.soft ? unit.memlock.soft : unit.memlock.hard;
    if (!shown || (!unit.memlock.soft && limits::would_do(*shown, s))) continue;
    const Limit soft = *shown;
    if (limits::would_do(soft, s) && soft != s.soft()) continue;
    if (s.soft() && *s.soft() != soft) continue;
    const std::string words = service_words(s, unit.unit, soft);
    if (!limits::guilty(standing)) return candidate(60, words, limits::decide_limit(s));
    std::vector<Evidence> more;
    if (s.limit.source.path != unit.source.path) more.push_back(cite(unit.source));
    Outcome out =
        limits::limit_finding(s, Certainty::kLikely, 74, words + ": " + limits::need_against_have(s), std::move(more));
    out.remedies = service_remedies(s, unit.unit);
    return out;
  }
  return not_applicable();
}

Outcome service_default_limit(const Situation& s) {
  const Standing standing = limits::standing(s);
  if (s.kind == SubjectKind::kIncident && s.incident) {
    return open_question(standing) ? service_in_log(s, standing) : not_applicable();
  }
  if (s.kind != SubjectKind::kProcess || !s.process || !limits::guilty(standing)) return not_applicable();
  const std::string unit = limits::service_of(s.process->cgroup);
  if (unit.empty() || has_own_code(unit) || launcher_of(s.process->comm)) return not_applicable();
  if (set_below_unit(s, unit)) return not_applicable();
  return s.is_daemon ? service_daemon(s, unit) : service_of_process(s, unit);
}

// --- Slurm -----------------------------------------------------------------------------------------------------------

struct Slurm {
  std::optional<Limit> soft, hard;  // of slurmd (or of slurmstepd, which inherits it)
  Evidence daemon;
  std::optional<bool> propagates;  // the submit shell's memlock travels; unknown = the default, which is yes
  Evidence conf;
};

/// As slurm.conf has it, or `scontrol show config`, which shows what is not set as (null).
void read_propagation(const Facts& facts, Slurm& slurm) {
  const auto value = [&facts](const char* key) {
    const auto at = facts.slurm_conf.find(key);
    const bool set = at != facts.slurm_conf.end() && at->second && !at->second->empty() && at->second->front() != '(';
    return set ? at->second : Fact<std::string>{};
  };
  const SlurmPropagation set =
      derive_propagation(value("PropagateResourceLimits"), value("PropagateResourceLimitsExcept"));
  slurm.propagates = set.travels;
  if (!set.source.path.empty()) slurm.conf = cite(set.source);
}

void read_slurmd(const Situation& s, Slurm& slurm) {
  if (const Process* p = limits::daemon_named(s, "slurmd")) {
    slurm.soft = p->memlock->soft;
    slurm.hard = p->memlock->hard;
    slurm.daemon = cite(p->memlock.source);
    return;
  }
  const UnitLimit* unit = limits::unit_limit(*s.facts, "slurmd.service");
  if (!unit) return;
  slurm.soft = unit->memlock.soft;
  slurm.hard = unit->memlock.hard;
  slurm.daemon = cite(unit->source);
}

/// The nearest of slurmstepd and slurmd on the trail: slurmstepd is reparented to PID 1 but has slurmd's limits.
int slurm_link(const Situation& s) {
  const int step = limits::link_named(s.trail, "slurmstepd");
  return step >= 0 ? step : limits::link_named(s.trail, "slurmd");
}

Slurm slurm_of(const Situation& s) {
  Slurm slurm;
  read_propagation(*s.facts, slurm);
  if (const int at = slurm_link(s); at >= 0) {
    const TrailLink& link = link_at(*s.trail, at);
    slurm.soft = link.soft;
    slurm.hard = link.hard;
    slurm.daemon = limits::cite_link(link);
    return slurm;
  }
  read_slurmd(s, slurm);
  return slurm;
}

/// What slurmd allows a job: job.soft = min(submit.soft, slurmd.hard) with propagation, slurmd.soft without.
std::optional<Limit> ceiling(const Slurm& slurm) {
  if (slurm.propagates == false) return slurm.soft;
  return slurm.hard ? slurm.hard : slurm.soft;
}

enum class SlurmCause { kNone, kOpen, kSlurmd, kPropagation, kNeither };

/// From the job's own hard limit, which is always slurmd's, when slurmd was not shown.
SlurmCause cause_from_job(const Situation& s, const Slurm& slurm) {
  if (slurm.propagates == false) return SlurmCause::kSlurmd;  // nothing else gives the job its limit
  if (!s.limit.of_job || !s.limit.hard) return SlurmCause::kOpen;
  if (!limits::would_do(*s.limit.hard, s)) return SlurmCause::kSlurmd;
  return SlurmCause::kPropagation;
}

SlurmCause slurm_cause(const Situation& s, const Slurm& slurm, Standing standing) {
  const auto allows = ceiling(slurm);
  if (allows && !limits::would_do(*allows, s)) return SlurmCause::kSlurmd;
  if (allows) return slurm.propagates == false ? SlurmCause::kNeither : SlurmCause::kPropagation;
  if (!limits::guilty(standing)) return SlurmCause::kOpen;
  // "Can't propagate": the submit shell's limit is above slurmd's hard one (slurmstepd/ulimits.c, _set_limit()).
  if (const auto refused = s.raise_refused(); refused && contains(refused->text, "propagate")) {
    return SlurmCause::kSlurmd;
  }
  const SlurmCause cause = cause_from_job(s, slurm);
  if (cause != SlurmCause::kOpen) return cause;
  return limits::good_shell(s) ? SlurmCause::kSlurmd : SlurmCause::kOpen;  // the submit shell had enough
}

bool pyxis(const Situation& s) {
  return s.launched_by("pyxis") || s.launched_by("enroot");
}

void add(std::vector<Evidence>& evidence, const Evidence& more) {
  if (!more.source.empty()) evidence.push_back(more);
}

constexpr const char* kSlurmdLimit = "grep 'locked memory' /proc/$(pidof -s slurmd)/limits  # on the node";
constexpr const char* kPropagation = "scontrol show config | grep -i propagate; ulimit -Sl  # in the submit shell";

Outcome propagation_found(const Situation& s, const Slurm& slurm) {
  std::vector<Evidence> more;
  add(more, slurm.daemon);
  add(more, slurm.conf);
  const std::string allows =
      ceiling(slurm) ? "slurmd allows " + format_limit(*ceiling(slurm)) : "the hard limit would do";
  const std::string summary = fmt::format("the job has the soft limit of the shell that submitted it ({}): {}", allows,
                                          limits::need_against_have(s));
  Outcome out = limits::limit_finding(s, Certainty::kLikely, 76, summary, std::move(more));
  out.remedies = {limits::slurm_no_propagation(s), limits::slurm_no_propagation_now(),
                  limits::soft_to_hard(Limit::unlimited())};
  if (s.limit.hard) out.remedies.back() = limits::soft_to_hard(s.limit.hard);
  return out;
}

Outcome slurm_propagates(const Situation& s) {
  const Standing standing = limits::standing(s);
  if (!s.under_slurm() || s.is_daemon || !open_question(standing)) return not_applicable();
  const Slurm slurm = slurm_of(s);
  if (slurm.propagates == false)
    return ruled_out("Slurm does not propagate memlock here (" + limits::plain(slurm.conf.source) + ")");
  switch (slurm_cause(s, slurm, standing)) {
    case SlurmCause::kPropagation:
      if (limits::guilty(standing)) return propagation_found(s, slurm);
      return candidate(60, "slurmd allows enough; by default the submit shell's soft limit travels with the job",
                       kPropagation);
    case SlurmCause::kOpen:
      return candidate(42, "by default Slurm gives the job the soft limit of the shell that submitted it",
                       kPropagation);
    case SlurmCause::kSlurmd:
      return ruled_out("slurmd itself allows no more");
    case SlurmCause::kNone:
    case SlurmCause::kNeither:
      break;
  }
  return not_applicable();
}

std::vector<Remedy> slurmd_remedies(const Situation& s, const Slurm& slurm) {
  Remedy now;
  now.id = "prlimit-slurmd-now";
  now.title = "raise slurmd as it runs; jobs started from now on inherit it";
  now.commands = {"prlimit --pid $(pidof -s slurmd) --memlock=unlimited"};
  now.persistent = false;
  now.verify = "srun -N1 sh -c 'ulimit -Sl; ulimit -Hl'";
  Remedy unit = limits::unit_infinity("slurmd.service");
  unit.title = "on every compute node: LimitMEMLOCK=infinity for slurmd, restart it (running jobs go on)";
  if (slurm.propagates == false) return {unit, now};
  return {unit, limits::slurm_no_propagation(s), now};
}

Outcome slurmd_found(const Situation& s, const Slurm& slurm, Standing standing) {
  std::vector<Evidence> more;
  add(more, slurm.daemon);
  add(more, slurm.conf);
  const auto allows = ceiling(slurm);
  const std::string who = pyxis(s) ? "slurmd, whose limit the pyxis/enroot container keeps," : "slurmd";
  const std::string summary =
      allows ? fmt::format("{} allows no more than {}: {}", who, format_limit(*allows), limits::need_against_have(s))
             : fmt::format("{} is limited: {}", who, limits::need_against_have(s));
  const bool seen = slurm_link(s) >= 0;  // live: the step daemon itself was looked at
  Outcome out = limits::limit_finding(s, seen ? limits::certainty_of(standing) : Certainty::kLikely, 76, summary,
                                      std::move(more));
  out.remedies = slurmd_remedies(s, slurm);
  return out;
}

/// slurmd itself, judged for its jobs. soft counts only where memlock is not propagated.
Outcome slurmd_daemon(const Situation& s, Standing standing) {
  if (s.process->comm != "slurmd" || !limits::guilty(standing)) return not_applicable();
  const bool hard_would_do = s.limit.hard && limits::would_do(*s.limit.hard, s);
  Slurm slurm;
  slurm.soft = s.soft();
  slurm.hard = s.limit.hard;
  read_propagation(*s.facts, slurm);
  if (hard_would_do && slurm.propagates == true) return not_applicable();
  Outcome out = limits::limit_finding(s, Certainty::kLikely, 76,
                                      fmt::format("slurmd itself is limited: {}", limits::need_against_have(s)));
  add(out.evidence, slurm.conf);
  if (hard_would_do && !slurm.propagates && !out.severity) out.severity = Severity::kWarning;
  out.remedies = slurmd_remedies(s, slurm);
  return out;
}

Outcome slurmd_candidate(const Situation& s) {
  if (pyxis(s)) return candidate(60, "a pyxis/enroot container keeps the limit slurmd gave the job", kSlurmdLimit);
  if (const Process* other = limits::daemon_elsewhere(s, "slurmd")) {
    return candidate(48,
                     fmt::format("a job gets no more than slurmd's own hard limit; {} shows that of {}, not of {}",
                                 limits::plain(other->memlock.source.path), limits::plain(other->memlock.source.host),
                                 limits::plain(s.incident->first.shape.host)),
                     kSlurmdLimit);
  }
  return candidate(44, "a job gets no more than slurmd's own hard limit", kSlurmdLimit);
}

Outcome slurmd_limit_low(const Situation& s) {
  const Standing standing = limits::standing(s);
  if (s.kind == SubjectKind::kProcess && s.process && s.is_daemon) return slurmd_daemon(s, standing);
  if (!s.under_slurm() || !open_question(standing)) return not_applicable();
  const Slurm slurm = slurm_of(s);
  switch (slurm_cause(s, slurm, standing)) {
    case SlurmCause::kSlurmd:
      if (limits::guilty(standing)) return slurmd_found(s, slurm, standing);
      return candidate(62, "slurmd itself is limited", limits::decide_limit(s));
    case SlurmCause::kOpen:
      return slurmd_candidate(s);
    case SlurmCause::kPropagation:
    case SlurmCause::kNeither:
      if (const auto allows = ceiling(slurm)) return ruled_out("slurmd allows " + format_limit(*allows));
      return ruled_out("the job's hard limit, which is slurmd's, would do");
    case SlurmCause::kNone:
      break;
  }
  return not_applicable();
}

constexpr Check kRows[] = {
    {.code = "PD201",
     .slug = "service-default-limit",
     .title = "a systemd service without LimitMEMLOCK gets systemd's default",
     .page =
         {.meaning =
              R"page(The job, or what starts it, is a systemd service whose unit sets no LimitMEMLOCK. It has 8 MiB or
64 KiB whatever limits.conf says, and so has everything it starts.)page",
          .why = R"page(systemd fills a missing LimitMEMLOCK with DefaultLimitMEMLOCK, and that, when unset, with
max(the limit PID 1 was started with, 8 MiB) since 251/252; before, with the kernel's 64 KiB (8 MiB
since 5.16) (core/main.c fallback_rlimit_memlock(), core/unit.c unit_patch_contexts(), 252 and 257).
PID 1's own larger limit (RAM/8) is not passed on. No PAM runs for a service unless its unit has
PAMName=, so limits.conf is not read. LimitMEMLOCK= takes bytes, K/M/G (1024) or infinity; the word
`unlimited` is an error and the line is ignored; one value sets soft and hard. User services cannot
exceed the hard limit of their user@UID.service.)page",
          .recognised =
              R"page(Live: the process is in a service's cgroup, its limit was set at the service's first process,
which PID 1 or a user manager started. In a log: `systemctl show` of a service with the limit the
job has. Runtimes of containers are PD301, slurmd is PD203, other launchers PD204. For sshd and
cron it is a note, because pam_limits may set another value.)page",
          .fix = R"page(A drop-in for the unit, then a restart; daemon-reload alone changes nothing that runs:

    mkdir -p /etc/systemd/system/UNIT.service.d
    printf '[Service]\nLimitMEMLOCK=infinity\n' > /etc/systemd/system/UNIT.service.d/90-pindown-memlock.conf
    systemctl daemon-reload
    systemctl restart UNIT.service
    grep 'locked memory' /proc/$(systemctl show -p MainPID --value UNIT.service)/limits

For every service that says nothing else:

    mkdir -p /etc/systemd/system.conf.d
    printf '[Manager]\nDefaultLimitMEMLOCK=infinity\n' > /etc/systemd/system.conf.d/90-pindown-memlock.conf
    systemctl daemon-reload

Without a restart, for new children of the service:

    prlimit --pid PID --memlock=unlimited)page",
          .ignore_when = "The service starts nothing that registers memory."},
     .eval = service_default_limit},

    {.code = "PD202",
     .slug = "slurm-propagates-submit-limit",
     .title = "the submit shell's soft limit travels with the Slurm job",
     .page =
         {.meaning =
              R"page(slurmd allows enough, but sbatch, srun or salloc ran in a shell with a small soft limit, and the
job has that one. Jobs of another user, or from another login node, work.)page",
          .why =
              R"page(By default Slurm propagates all limits: the client exports SLURM_RLIMIT_MEMLOCK, the SOFT limit of
its shell (sbatch.c _set_rlimit_env()), and slurmstepd sets it in the task just before exec
(ulimits.c set_user_limits()), cut to slurmd's hard limit since 21.08.7. Hard stays slurmd's. So
job.soft = min(submit.soft, slurmd.hard), and LimitMEMLOCK=infinity on slurmd alone does not help.
srun inside a batch script propagates the batch shell's limit once more.)page",
          .recognised =
              R"page(A job under Slurm whose limit is guilty while slurmd allows enough: shown by slurmd's own limits,
by its unit, by the step daemon above a live process, or by the job's hard limit, which is always
slurmd's. PropagateResourceLimitsExcept with MEMLOCK rules it out. Otherwise a candidate.)page",
          .fix =
              R"page(In slurm.conf on all nodes and the controller (only one of the two Propagate parameters may be set):

    grep -n Propagate /etc/slurm/slurm.conf

The line to have there is `PropagateResourceLimitsExcept=MEMLOCK`, then

    scontrol reconfigure

For one job:

    sbatch --propagate=NONE JOB.sh

Or first thing in the batch script, since hard allows it:

    ulimit -l unlimited

Check inside a job:

    srun -N1 sh -c 'ulimit -Sl; ulimit -Hl')page",
          .ignore_when = "The job raises its soft limit itself before it starts the program."},
     .eval = slurm_propagates},

    {.code = "PD203",
     .slug = "slurmd-limit-low",
     .title = "slurmd itself is limited, and so is every job it starts",
     .page =
         {.meaning =
              R"page(The same program works over ssh on the node and fails under srun or sbatch. slurmd hands its limit
to each job; a container that pyxis or enroot starts keeps it.)page",
          .why = R"page(slurmstepd inherits slurmd's limits, and a job cannot exceed its hard limit (Slurm's task.c,
ulimits.c). slurmd.service ships LimitMEMLOCK=infinity since 15.08.4, Debian's too; a slurmd started
by hand, from an init script, an own unit, or in a container does not have it. `slurmd -M` and
LaunchParameters=slurmstepd_memlock lock the daemon's own memory and are unrelated, as are the
cgroup limits (ConstrainRAMSpace). limits.conf counts only with UsePAM=1 and an /etc/pam.d/slurm
that runs pam_limits. enroot sets no memlock and runs in a user namespace, where a capability does not
help.)page",
          .recognised =
              R"page(Limits of slurmd or slurmd.service in the input, of slurmstepd above a live process, or of slurmd
itself; the job's hard limit when it is low; memlock not propagated and the job's limit low; a
submit shell that has enough. Otherwise a candidate, ahead of others when pyxis or enroot is used.)page",
          .fix = R"page(On every compute node:

    mkdir -p /etc/systemd/system/slurmd.service.d
    printf '[Service]\nLimitMEMLOCK=infinity\n' > /etc/systemd/system/slurmd.service.d/90-pindown-memlock.conf
    systemctl daemon-reload
    systemctl restart slurmd

Running jobs survive that restart. Until then, for jobs that start from now on:

    prlimit --pid $(pidof -s slurmd) --memlock=unlimited

Keep the submit shell's limit out of it as well (PD202), then check inside a job:

    srun -N1 sh -c 'ulimit -Sl; ulimit -Hl; grep CapEff /proc/self/status')page",
          .ignore_when = "Jobs of this cluster use no RDMA."},
     .eval = slurmd_limit_low},

    {.code = "PD204",
     .slug = "launcher-daemon-limit-low",
     .title = "the daemon that launches the ranks is limited",
     .page =
         {.meaning =
              R"page(pbs_mom, raylet, prted or orted, a flux broker, condor_startd, sge_execd or LSF's sbatchd runs with
a small limit; its jobs inherit it. Interactive runs work, batch runs fail.)page",
          .why = R"page(Limits are inherited at fork, and these daemons do not pass through PAM. OpenPBS raises its own
(mom_main.c, setrlimit to infinity) but fails in silence where it may not; TORQUE does not. Ray
workers have the limit of the shell, unit or pod that ran `ray start`. prted and orted have that of
the remote sshd or of srun and add nothing. Flux does not propagate memlock by default, so jobs
have the broker's. condor.service has no LimitMEMLOCK. Grid Engine has S_MEMORYLOCKED and
H_MEMORYLOCKED in execd_params.)page",
          .recognised =
              R"page(The launcher in the log, and its daemon's limits (pasted, or of its unit) when they are low; live, an
ancestor of that name with the very limit of the process, or the daemon itself. With the daemon's
limit unknown it is a candidate.)page",
          .fix = R"page(If the daemon is a service:

    mkdir -p /etc/systemd/system/pbs.service.d
    printf '[Service]\nLimitMEMLOCK=infinity\n' > /etc/systemd/system/pbs.service.d/90-pindown-memlock.conf
    systemctl daemon-reload
    systemctl restart pbs.service

Ray, from a shell that has the limit:

    ray stop
    ulimit -l unlimited
    ray start --address=HEAD:6379

Flux:

    flux run --rlimit=memlock=unlimited COMMAND

At once, for what the daemon starts from now on:

    prlimit --pid $(pidof -s pbs_mom) --memlock=unlimited)page",
          .ignore_when = "The job sets its own limit, or uses no RDMA under this launcher."},
     .eval = launcher_daemon_limit_low},
};
static_assert(all_well_formed(kRows));

}  // namespace

std::span<const Check> service_checks() {
  return kRows;
}

}  // namespace pindown
