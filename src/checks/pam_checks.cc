// SPDX-License-Identifier: Apache-2.0
// PD102 to PD106 and PD108: what sshd, PAM and limits.conf did or did not do for the session that failed. Rows:
// login.cc. Must not: call a pasted limits.conf line the cause where no PAM session governs the job.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "checks/limit_common.h"
#include "checks/login_rows.h"
#include "checks/pam_lines.h"

namespace pindown::login {
namespace {

using limits::Standing;

Remedy use_pam() {
  Remedy r;
  r.id = "sshd-usepam-yes";
  r.title =
      "set UsePAM yes (the first value read wins), reload sshd, log in again; PAM's account rules (pam_access, "
      "pam_slurm_adopt) then apply to every ssh login: keep a second session open";
  r.commands = {
      "sed -i '1i UsePAM yes' /etc/ssh/sshd_config",
      "sshd -t",
      "systemctl reload ssh || systemctl reload sshd",
  };
  r.verify = "sshd -T | grep -i '^usepam'";
  return r;
}

Remedy rewrite_line() {
  Remedy r = limits::limits_d();
  r.id = "limits-conf-rewrite-line";
  r.title = "write the line in the words PAM knows, remove the wrong one, log in again";
  r.commands.insert(r.commands.begin(),
                    "grep -n . /etc/security/limits.conf /etc/security/limits.d/*.conf | grep -i lock");
  return r;
}

/// A process that the failing job is: its own facts, else any job process seen.
const Process* job_process(const Situation& s) {
  if (s.process) return s.process;
  for (const Process& p : s.facts->processes) {
    if (p.kind == ProcessKind::kJob) return &p;
  }
  return nullptr;
}

/// root as far as the failing job or, failing that, the shell that was shown goes.
bool runs_as_root(const Situation& s) {
  if (const Process* p = job_process(s); p && (p->euid || !p->user.empty())) return limits::is_root(*p);
  for (const Process& p : s.facts->processes) {
    if (p.kind == ProcessKind::kShell && limits::is_root(p)) return true;
  }
  return false;
}

PamSubject pam_subject(const Situation& s) {
  PamSubject subject;
  if (const Process* p = job_process(s)) subject.user = p->user;
  subject.root = runs_as_root(s);
  const auto distro = limits::distro_of(*s.facts);
  subject.explicit_root = distro.debian_family();
  const bool new_pam = distro.debian_family() && !distro.pam_resets();
  subject.parser = new_pam ? PamParser::kRestOfLine : PamParser::kFirstWord;
  return subject;
}

std::string words(const LimitsConfLine& line) {
  return limits::plain(fmt::format("{} {} {} {}", line.domain, line.type, line.item, line.value));
}

/// limits.conf as shown would give the session enough.
bool configured_enough(const Situation& s) {
  const LinesOutcome out = pam_effective(s.facts->limits_conf, pam_subject(s));
  return out.soft && limits::would_do(*out.soft, s);
}

/// A line before or after that makes up for the faulty one.
bool made_up_for(const Situation& s, const LimitsConfLine& faulty, const LineProblem& problem) {
  const LinesOutcome out = pam_effective(s.facts->limits_conf, pam_subject(s));
  return out.soft && out.soft_line != &faulty && !problem.depends_on_version && limits::would_do(*out.soft, s);
}

/// PAM ≥ 1.6 or not: unknown distributions leave it open.
bool problem_is_real(const Situation& s, const LineProblem& problem, bool& open) {
  if (!problem.depends_on_version) return true;
  const auto distro = limits::distro_of(*s.facts);
  open = !distro.debian_family();
  return !open && !distro.pam_resets();
}

Outcome side_note(std::string what, const LimitsConfLine& line) {
  Outcome note = found(Certainty::kPossible, 20, std::move(what), {cite(line.source)});
  note.severity = Severity::kNote;
  return note;
}

/// A new session would get the line's value again; only what runs now can be raised.
std::vector<Remedy> remedies_of_line(const Situation& s, Remedy change) {
  std::vector<Remedy> remedies = {std::move(change)};
  if (s.kind == SubjectKind::kProcess) remedies.push_back(limits::prlimit_now(s));
  return remedies;
}

Outcome judge_line(const Situation& s, const LimitsConfLine& line, const LineProblem& problem) {
  bool open = false;
  const bool real = problem_is_real(s, problem, open);
  const std::string what = fmt::format("`{}`: {}", words(line), problem.why);
  if (open) return candidate(45, what, "dpkg-query -W libpam-modules || rpm -q pam");
  if (!real) return not_applicable();
  const bool equal = problem.reads_as && s.soft() && *problem.reads_as == *s.soft();
  if (!limits::session_by_pam(s) && !equal) return side_note(what + "; but limits.conf does not govern this job", line);
  if (problem.reads_as && s.soft() && !equal) {
    return side_note(fmt::format("{}; but the limit seen is {}", what, format_limit(*s.soft())), line);
  }
  const bool guilty = limits::guilty(limits::standing(s));
  if (!guilty) return candidate(60, what + "; whether the job has that limit is not shown", limits::decide_limit(s));
  const bool proven = equal && s.limit.of_job;
  Outcome out = limits::limit_finding(s, proven ? Certainty::kProven : Certainty::kLikely, 72,
                                      what + (equal ? ", which is just the limit seen" : ""), {cite(line.source)});
  out.remedies = remedies_of_line(s, rewrite_line());
  return out;
}

/// The line that decides for the subject and another that applies but lost, although it would do.
struct Overridden {
  const LimitsConfLine* winner = nullptr;
  const LimitsConfLine* loser = nullptr;
  bool sure = false;  // the winner surely applies to the user
};

bool sets_soft(const LimitsConfLine& line) {
  return is_memlock_line(line) && pam_type(line.type).soft;
}

std::optional<Limit> reads(const LimitsConfLine& line, const PamSubject& subject) {
  return pam_value(line.value, subject.parser);
}

/// `a` beats `b` if both apply; `a` stands later.
bool beats(const LimitsConfLine& a, const LimitsConfLine& b, bool a_is_later) {
  const PamClass ca = pam_class(a.domain);
  const PamClass cb = pam_class(b.domain);
  return ca != cb ? ca < cb : a_is_later;
}

Overridden find_overridden(const Situation& s) {
  const PamSubject subject = pam_subject(s);
  const auto& lines = s.facts->limits_conf;
  constexpr std::size_t kMostLines = 256;  // pasted text; more than this is no limits.conf
  const std::size_t count = std::min(lines.size(), kMostLines);
  Overridden best;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      const LimitsConfLine& low = lines[i];
      const LimitsConfLine& high = lines[j];
      if (i == j || !sets_soft(low) || !sets_soft(high) || !pam_applies(high, subject)) continue;
      const auto low_value = reads(low, subject);
      const auto high_value = reads(high, subject);
      if (!low_value || !high_value || *low_value >= *high_value) continue;
      if (limits::would_do(*low_value, s) || !limits::would_do(*high_value, s) || !beats(low, high, i > j)) continue;
      const bool sure = pam_applies(low, subject);
      const bool may = sure || pam_class(low.domain) == PamClass::kGroup || subject.user.empty();
      if (!may || (best.winner && (best.sure || !sure))) continue;
      best = {&low, &high, sure};
    }
  }
  return best;
}

/// The value the winner gives is what the session was seen to have.
bool matches_observed(const Situation& s, const LimitsConfLine& line) {
  const auto value = reads(line, pam_subject(s));
  return value && s.soft() && *value == *s.soft();
}

/// What PID 1 of the machine has: on the trail, or pasted.
std::optional<Limit> pid1_soft(const Situation& s, Evidence& evidence) {
  if (s.trail && !s.trail->links.empty() && s.trail->links.front().pid == 1) {
    evidence = limits::cite_link(s.trail->links.front());
    return s.trail->links.front().soft;
  }
  for (const Process& p : s.facts->processes) {
    if (p.where.pid != 1 || p.kind == ProcessKind::kContainer || !p.memlock) continue;
    evidence = cite(p.memlock.source);
    return p.memlock->soft;
  }
  return std::nullopt;
}

/// sshd or its unit has more than the session got.
bool sshd_has_more(const Situation& s, Evidence& evidence) {
  if (const int at = limits::sshd_listener(s.trail); at > 0) {
    const TrailLink& link = s.trail->links[static_cast<std::size_t>(at)];
    if (link.soft && s.soft() && *link.soft > *s.soft()) {
      evidence = limits::cite_link(link, "sshd itself has more");
      return true;
    }
  }
  for (const char* name : {"ssh.service", "sshd.service"}) {
    const UnitLimit* unit = limits::unit_limit(*s.facts, name);
    if (!unit || !unit->memlock.soft || !s.soft() || *unit->memlock.soft <= *s.soft()) continue;
    evidence = cite(unit->source, "sshd itself has more");
    return true;
  }
  return false;
}

/// What su, sudo or cron was called from has more than the session that it opened.
bool caller_has_more(const Situation& s, Evidence& evidence) {
  const int at = limits::session_link(s.trail);
  if (at <= 0) return false;
  const TrailLink& above = s.trail->links[static_cast<std::size_t>(at) - 1];
  // As a service's own first process it had what the unit says.
  const UnitLimit* unit = limits::unit_limit(*s.facts, s.trail->links[static_cast<std::size_t>(at)].name);
  if (above.pid == 1 && unit && unit->memlock.soft && s.soft() && *unit->memlock.soft > *s.soft()) {
    evidence = cite(unit->source, "the unit that opens the session has more");
    return true;
  }
  if (above.pid == 1 || !above.soft || !s.soft() || *above.soft <= *s.soft()) return false;
  evidence = limits::cite_link(above, "what opens the session has more");
  return true;
}

/// One shell is unlimited and another, perhaps the one the ranks get, is not.
bool another_has_less(const Situation& s) {
  return std::ranges::any_of(s.facts->processes, [&s](const Process& p) {
    return p.memlock && p.memlock->soft && !limits::would_do(*p.memlock->soft, s);
  });
}

std::string unlimited_why(const Situation& s) {
  return fmt::format("the limit seen is unlimited ({})", limits::plain(s.limit.source.path));
}

Outcome usepam_unknown(const Situation& s, Standing standing) {
  constexpr const char* kDecide = "sshd -T | grep -i '^usepam'";
  if (s.kind == SubjectKind::kProcess) {
    if (!limits::guilty(standing) || !limits::same_as_sshd(s)) return not_applicable();
    return candidate(40, "the session has exactly what sshd has; with UsePAM no, limits.conf is never read", kDecide);
  }
  if (!limits::over_ssh(s) || !limits::session_by_pam(s)) return not_applicable();
  if (const Process* shell = limits::good_shell(s); shell && shell->memlock->soft != s.soft()) {
    return candidate(45, "a shell has enough while ranks started over ssh fail; sshd may run without PAM there",
                     kDecide);
  }
  return not_applicable();
}

/// No sshd above the process: cron, a terminal, or a chain that was cut (tmux, nohup), which ssh may have begun.
Outcome usepam_off_elsewhere(const Situation& s, Standing standing) {
  const bool other = s.session != nullptr && s.session->entry != "ssh";
  if (other || !limits::guilty(standing) || !limits::same_as_sshd(s)) return not_applicable();
  return candidate(40, "UsePAM is off, and what began over ssh and was cut off from it has the limit of sshd",
                   "loginctl session-status  # how the session was opened");
}

Remedy restore_pam_limits(const std::string& service, const std::string& entry) {
  const std::string name = limits::safe_word(service, "SERVICE");
  Remedy r;
  r.id = "pam-limits-in-stack";
  r.title =
      fmt::format("let {}'s PAM stack run pam_limits again; keep a root shell open, and test with a new session", name);
  r.commands = {fmt::format("printf 'session required pam_limits.so\\n' >> /etc/pam.d/{}   # Debian, Ubuntu", name),
                "authselect apply-changes   # RHEL, Fedora"};
  r.verify = fmt::format("pindown predict --via {} --user \"$USER\"", limits::safe_word(entry, "ENTRY"));
  return r;
}

/// "PAM without pam_limits (su-l)" → "su-l".
std::string stack_name(const TrailLink& link) {
  std::string_view name = link.name;
  if (!consume(name, kPamWithoutLimits) || !consume(name, " (") || !name.ends_with(')')) return "sshd";
  name.remove_suffix(1);
  return std::string(name);
}

/// The stack itself was read: it reaches pam_limits or not.
Outcome stack_without_limits(const Situation& s, Standing standing) {
  if (!limits::guilty(standing)) return not_applicable();
  const auto is_without = [](const TrailLink& link) { return link.name.starts_with(kPamWithoutLimits); };
  const auto link = std::ranges::find_if(s.session->links, is_without);
  if (link == s.session->links.end()) {
    if (s.session->links.empty() || s.session->refused) return not_applicable();
    return ruled_out(fmt::format("the PAM stack of {} reaches pam_limits", limits::plain(s.session->entry, 20)));
  }
  const bool ssh = s.session->entry == "ssh";
  // What calls su has the limit; it is the missing pam_limits' fault only where that would have raised it.
  if (!ssh && !configured_enough(s)) return not_applicable();
  const std::string name = stack_name(*link);
  std::vector<Evidence> evidence = {{link->source, {}, "no session line reaches pam_limits"}};
  if (!s.facts->limits_conf.empty()) evidence.push_back(cite(s.facts->limits_conf.front().source, "never read"));
  Outcome out =
      limits::limit_finding(s, Certainty::kLikely, 76,
                            fmt::format("{}'s PAM stack does not run pam_limits, so limits.conf is never read: {}",
                                        limits::plain(name, 30), limits::need_against_have(s)),
                            std::move(evidence));
  out.remedies = {restore_pam_limits(name, s.session->entry), limits::prlimit_now(s)};
  return out;
}

}  // namespace

Outcome sshd_usepam_off(const Situation& s) {
  const Standing standing = limits::standing(s);
  if (standing == Standing::kNone || standing == Standing::kCleared) return not_applicable();
  const Fact<bool>& usepam = s.facts->sshd_usepam;
  if (!usepam) return usepam_unknown(s, standing);
  if (*usepam) {
    if (!limits::over_ssh(s)) return not_applicable();
    return ruled_out(fmt::format("{} says UsePAM yes", usepam.source.path));
  }
  if (!limits::session_by_pam(s)) return not_applicable();
  if (s.kind == SubjectKind::kProcess && !limits::over_ssh(s)) return usepam_off_elsewhere(s, standing);
  if (s.limit_unlikely() && !another_has_less(s)) return ruled_out(unlimited_why(s));
  const std::string summary = "sshd runs without PAM, so limits.conf is never read: " + limits::need_against_have(s);
  if (!limits::guilty(standing)) {
    return candidate(60, "UsePAM is off, so an ssh session has the limit of sshd itself", limits::decide_limit(s));
  }
  // Proof needs the session seen to have sshd's own limit; otherwise it may not have come through sshd at all.
  const bool same = limits::same_as_sshd(s);
  const Certainty certainty = same && standing == Standing::kProven ? Certainty::kProven : Certainty::kLikely;
  Outcome out = limits::limit_finding(s, certainty, 75, summary, {cite(usepam.source)});
  if (!s.facts->limits_conf.empty()) out.evidence.push_back(cite(s.facts->limits_conf.front().source, "never read"));
  out.remedies = {use_pam(), limits::prlimit_now(s)};
  return out;
}

Outcome pam_limits_not_in_stack(const Situation& s) {
  const Standing standing = limits::standing(s);
  if (standing == Standing::kNone || standing == Standing::kCleared) return not_applicable();
  constexpr const char* kDecide =
      "grep -sn pam_limits /etc/pam.d/sshd /etc/pam.d/password-auth /etc/pam.d/common-session";
  if (!limits::session_by_pam(s)) return not_applicable();
  const bool other_session = s.session != nullptr && s.session->entry != "ssh";
  if (s.kind == SubjectKind::kProcess && other_session) return stack_without_limits(s, standing);
  if (!limits::over_ssh(s) || s.facts->sshd_usepam.value == false) return not_applicable();
  if (s.kind == SubjectKind::kProcess && s.session != nullptr) return stack_without_limits(s, standing);
  if (s.kind == SubjectKind::kProcess) {
    if (!limits::guilty(standing) || !limits::same_as_sshd(s)) return not_applicable();
    return candidate(35, "the session has exactly what sshd has; pam_limits may be missing from its stack", kDecide);
  }
  if (!configured_enough(s) || s.limit_unlikely()) return not_applicable();
  return candidate(45, "limits.conf allows enough, yet the ranks do not have it; pam_limits may not run for ssh",
                   kDecide);
}

Outcome limits_conf_line_ignored(const Situation& s) {
  const Standing standing = limits::standing(s);
  if (standing == Standing::kNone || standing == Standing::kCleared || s.limit_unlikely()) return not_applicable();
  Outcome best;
  for (const LimitsConfLine& line : s.facts->limits_conf) {
    const auto problem = line_problem(line);
    if (!problem || made_up_for(s, line, *problem)) continue;
    if (problem->reads_as && limits::would_do(*problem->reads_as, s)) continue;
    Outcome outcome = judge_line(s, line, *problem);
    if (outcome.kind == Outcome::Kind::kNotApplicable) continue;
    const bool better = best.kind == Outcome::Kind::kNotApplicable || outcome.kind > best.kind ||
                        (outcome.kind == best.kind && outcome.certainty > best.certainty);
    if (better) best = std::move(outcome);
  }
  return best;
}

Outcome limits_conf_not_for_root(const Situation& s) {
  const Standing standing = limits::standing(s);
  if (standing == Standing::kNone || standing == Standing::kCleared) return not_applicable();
  if (!limits::session_by_pam(s) || !runs_as_root(s) || s.facts->limits_conf.empty()) return not_applicable();
  if (s.limit_unlikely()) return ruled_out(unlimited_why(s));
  PamSubject strict = pam_subject(s);
  strict.root = true;
  strict.explicit_root = true;
  if (pam_effective(s.facts->limits_conf, strict).soft_line) return not_applicable();  // root has a line of its own
  const LimitsConfLine* general = nullptr;
  for (const LimitsConfLine& line : s.facts->limits_conf) {
    const auto value = reads(line, strict);
    const PamClass its = pam_class(line.domain);
    const bool for_all = its == PamClass::kDefault || its == PamClass::kGroup;
    if (sets_soft(line) && for_all && value && limits::would_do(*value, s)) general = &line;
  }
  if (!general) return not_applicable();
  const auto distro = limits::distro_of(*s.facts);
  if (distro.kind == limits::Distro::Kind::kOther) return ruled_out("on this distribution `*` covers root as well");
  if (!distro.debian_family()) {
    return candidate(45, "on Debian and Ubuntu `*` and `@group` do not cover root",
                     "grep -h PRETTY_NAME /etc/os-release");
  }
  if (limits::root_passes(s)) {
    return candidate(40,
                     fmt::format("`{}` does not cover root here, but root usually has CAP_IPC_LOCK", words(*general)),
                     limits::decide_capability());
  }
  if (!limits::guilty(standing)) {
    return candidate(
        58, fmt::format("`{}` does not cover root here; whether that is the job's limit is not shown", words(*general)),
        limits::decide_limit(s));
  }
  Outcome out = limits::limit_finding(s, Certainty::kLikely, 62,
                                      fmt::format("`{}` does not cover root on {}: {}", words(*general),
                                                  limits::plain(*s.facts->distro, 30), limits::need_against_have(s)),
                                      {cite(general->source, "not for root"), cite(s.facts->distro.source)});
  out.remedies = {limits::limits_d(), limits::prlimit_now(s)};
  return out;
}

Outcome limits_conf_overridden(const Situation& s) {
  const Standing standing = limits::standing(s);
  if (standing == Standing::kNone || standing == Standing::kCleared || !limits::session_by_pam(s))
    return not_applicable();
  const Overridden over = find_overridden(s);
  if (!over.winner) return not_applicable();
  const bool same_class = pam_class(over.winner->domain) == pam_class(over.loser->domain);
  const std::string why =
      fmt::format("`{}` beats `{}`: {}", words(*over.winner), words(*over.loser),
                  same_class ? "of equal lines the later one counts" : "the more specific line counts");
  const bool seen = matches_observed(s, *over.winner);
  if (!seen && s.soft()) return not_applicable();  // the session has another value: this line did not decide
  if (!limits::guilty(standing) || (!seen && !over.sure))
    return candidate(45, why, "id; ulimit -Sl  # as the user of the job");
  Outcome out = limits::limit_finding(s, Certainty::kLikely, 68, why,
                                      {cite(over.winner->source, "counts"), cite(over.loser->source, "does not")});
  Remedy remedy = limits::limits_d();
  remedy.id = "limits-conf-remove-winner";
  remedy.title = "remove or raise the line that wins, log in again";
  remedy.commands = {"grep -rn memlock /etc/security/limits.conf /etc/security/limits.d/"};
  out.remedies = remedies_of_line(s, std::move(remedy));
  return out;
}

Outcome pam_resets_to_pid1(const Situation& s) {
  const Standing standing = limits::standing(s);
  if (!limits::guilty(standing) || !limits::session_by_pam(s)) return not_applicable();
  const bool by_sshd = s.session == nullptr || s.session->entry == "ssh";
  if (!limits::distro_of(*s.facts).pam_resets()) return not_applicable();
  if (by_sshd && s.facts->sshd_usepam.value == false) return not_applicable();
  Evidence pid1;
  Evidence above;
  const auto base = pid1_soft(s, pid1);
  if (!base || !s.soft() || *base != *s.soft()) return not_applicable();
  if (by_sshd ? !sshd_has_more(s, above) : !caller_has_more(s, above)) return not_applicable();
  const std::string summary = fmt::format("pam_limits resets every session to PID 1's {}, whatever {}",
                                          format_limit(*base), by_sshd ? "the unit of sshd says" : "opens it has");
  Outcome out = limits::limit_finding(s, Certainty::kLikely, 74, summary, {pid1, above, cite(s.facts->distro.source)});
  out.remedies = {limits::limits_d(), limits::prlimit_now(s)};
  return out;
}

}  // namespace pindown::login
