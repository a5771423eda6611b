// SPDX-License-Identifier: Apache-2.0
// See login_session.h.
#include "model/login_session.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/pam_limits.h"
#include "model/pam_session.h"

namespace pindown {
namespace {

bool may_raise(const LoginFacts& facts) {
  const auto& bounding = facts.pid1_caps.known() ? facts.pid1_caps->bounding : std::optional<std::uint64_t>();
  return !bounding || has_cap(*bounding, kCapSysResource);
}

std::string distro_ids(const Distribution& distro) {
  return fmt::format("{} {}", distro.id.value.value_or(""), distro.id_like);
}

/// All but runuser and slurmstepd call pam_acct_mgmt before they open the session (util-linux login-utils/su-common.c
/// supam_authenticate(), sshd auth-pam.c, sudo plugins/sudoers/auth/pam.c, systemd src/core/execute.c setup_pam();
/// slurmstepd/pam_ses.c pam_setup() does not).
bool asks_account(std::string_view service) {
  return service != "runuser" && service != "runuser-l" && service != "slurm";
}

PamOutcome outcome_of(const Walk& walk, const std::string& service, const PamVersion& version, const Account& user) {
  const LoginFacts& facts = walk.facts;
  const PamOpening opening{facts.pam, facts.limits,     facts.named_limits, version,
                           walk.now,  facts.pid1.value, may_raise(facts),   asks_account(service)};
  return derive_pam_outcome(opening, service, user);
}

PamOutcome outcome_of(const Walk& walk, const std::string& service, const PamVersion& version) {
  return outcome_of(walk, service, version, *walk.facts.account);
}

bool same_answer(const PamOutcome& a, const PamOutcome& b) {
  return a.limits.soft == b.limits.soft && a.limits.hard == b.limits.hard && a.limits.refused == b.limits.refused &&
         a.limits.decided_by.path == b.limits.decided_by.path && a.session.unknown == b.session.unknown &&
         a.limits.unknown == b.limits.unknown;
}

/// The groups that lines of `file` are for: "@hpc", "%hpc".
void add_groups_named(const ConfigFile& file, std::vector<std::pair<std::string, std::string>>& groups) {
  constexpr std::size_t kMost = 1000;
  if (!file) return;
  for (const ConfigLine& line : *file) {
    const auto words = split_blanks(std::string_view(line.text).substr(0, 1000));
    if (words.empty() || words[0].size() < 2 || (words[0][0] != '@' && words[0][0] != '%')) continue;
    if (groups.size() < kMost) groups.emplace_back(words[0].substr(1), line.source.path);
  }
}

/// The user may be in groups of a name service that was not asked: said where a line of limits.conf is for such a group
/// and would change the answer.
void doubt_groups(Walk& walk, const std::string& service, const PamVersion& version, const PamOutcome& outcome) {
  const Account& user = *walk.facts.account;
  if (user.groups_elsewhere.empty()) return;
  std::vector<std::pair<std::string, std::string>> named;
  add_groups_named(walk.facts.limits.main, named);
  add_groups_named(walk.facts.limits.vendor, named);
  for (const ConfigFile& file : walk.facts.limits.drop_ins) add_groups_named(file, named);
  for (const auto& [group, place] : named) {
    Account member = user;
    member.groups.emplace_back(group, ~std::uint32_t{0} - 1);
    if (same_answer(outcome, outcome_of(walk, service, version, member))) continue;
    walk.assumed.push_back(
        fmt::format("{} is taken not to be in the group {} ({}): /etc/group does not have it, and {}, which "
                    "/etc/nsswitch.conf names too, was not asked",
                    user.name, group, place, user.groups_elsewhere));
    return;
  }
}

/// What the installed version makes of the session. A version that nobody read matters only if others would make
/// something else of it; one that is not known at all is no obstacle where all agree.
std::optional<PamOutcome> open_with_version(Walk& walk, const std::string& service) {
  const std::string ids = distro_ids(walk.facts.distro);
  const std::string installed = version_text(walk.facts, kPamPackage);
  const auto version = pam_version(installed, ids);
  if (version && !walk.derived()) {
    PamOutcome outcome = outcome_of(walk, service, *version);
    doubt_groups(walk, service, *version, outcome);
    return outcome;
  }
  const std::vector<PamVersion> others = pam_versions(ids);
  PamOutcome outcome = outcome_of(walk, service, version.value_or(others.front()));
  const bool all_agree = std::ranges::all_of(
      others, [&](const PamVersion& other) { return same_answer(outcome, outcome_of(walk, service, other)); });
  if (!all_agree && !version) return std::nullopt;
  if (!all_agree) walk.assume("PAM", installed);
  doubt_groups(walk, service, version.value_or(others.front()), outcome);
  return outcome;
}

/// The stack without pam_limits is what decided where pam_limits would have made another limit of it.
void skip_limits(Walk& walk, const std::string& service, const PamSession& session) {
  const LoginFacts& facts = walk.facts;
  const auto file = facts.pam.services.find(session.service);
  const Source stack = file == facts.pam.services.end() ? Source{} : Source{file->second.source.path, {}};
  add_link(walk, fmt::format("{} ({})", kPamWithoutLimits, service), 0, walk.now, stack,
           session.refused ? fmt::format("the session fails before pam_limits, and goes on: {}", session.why)
                           : "no pam_limits in its session stack");
  const auto version = pam_version(version_text(facts, kPamPackage), distro_ids(facts.distro));
  if (!version || !session.unknown.empty()) return;
  const SessionLimits would = derive_pam_limits({}, facts.limits, nullptr, *facts.account, *version, walk.now,
                                                facts.pid1.value, may_raise(facts));
  if (would.soft && !same(walk.now, {would.soft, would.hard})) walk.decided = stack;
}

/// plugins/sudoers/auth/pam.c sudo_pam_begin_session: "Treat PAM session errors as non-fatal".
bool is_passed_over(const PamOutcome& outcome, OnSessionError on_error) {
  constexpr int kSessionErr = 14;  // PAM_SESSION_ERR
  return on_error == OnSessionError::kGoOn && !outcome.account_refused && outcome.session.code == kSessionErr;
}

}  // namespace

std::string pam_service(const Entry& entry, const LoginFacts& facts) {
  const auto is_there = [&facts](const std::string& name) {
    const auto at = facts.pam.services.find(name);
    return at != facts.pam.services.end() && at->second.known();
  };
  switch (entry.kind) {
    case EntryKind::kSsh:
      return facts.sshd.pam_service.value.value_or("sshd");
    case EntryKind::kLogin:
      return "login";
    case EntryKind::kSu:
      return entry.login_shell ? "su-l" : "su";
    case EntryKind::kSudo:
      return entry.login_shell && is_there("sudo-i") ? "sudo-i" : "sudo";
    case EntryKind::kRunuser:
      return entry.login_shell ? "runuser-l" : "runuser";
    case EntryKind::kCron:
      return is_there("crond") && !is_there("cron") ? "crond" : "cron";
    case EntryKind::kAt:
      return "atd";
    case EntryKind::kUserService:
      return "systemd-user";
    case EntryKind::kSlurm:
      return "slurm";
    case EntryKind::kService:
      return {};
  }
  return {};
}

void ask_pam_account(Walk& walk, const std::string& service) {
  if (!walk.facts.account.known()) return;
  const PamSession account = derive_pam_account(walk.facts.pam, service, *walk.facts.account);
  for (const std::string& each : account.unknown) walk.miss(each);
  if (account.refused && account.unknown.empty()) walk.refuse(account.refused_by, account.why);
}

void open_pam_session(Walk& walk, const std::string& service, OnSessionError on_error) {
  const LoginFacts& facts = walk.facts;
  if (!facts.account.known()) {
    walk.miss(fmt::format("the user is not in /etc/passwd ({}): groups and uid are not known",
                          missing_name(facts.account.missing)));
    walk.now = {};
    return;
  }
  const auto opened = open_with_version(walk, service);
  if (!opened) {
    walk.miss("the version of PAM: it decides how limits.conf is read");
    walk.now = {};
    return;
  }
  const PamOutcome& outcome = *opened;
  for (const auto* unknown : {&outcome.session.unknown, &outcome.limits.unknown}) {
    for (const std::string& each : *unknown) walk.miss(each);
  }
  if ((outcome.session.refused || outcome.limits.refused) && !is_passed_over(outcome, on_error)) {
    walk.refuse(outcome.limits.refused_by, outcome.session.why.empty() ? outcome.limits.why : outcome.session.why);
    return;
  }
  if (outcome.session.calls.empty() && !outcome.session.unknown.empty()) {
    walk.now = {};  // whether pam_limits is reached is what is not known
    return;
  }
  if (outcome.session.calls.empty()) {
    return skip_limits(walk, service, outcome.session);
  }
  const SessionLimits& limits = outcome.limits;
  if (!limits.soft || !limits.hard) walk.miss(limits.why.empty() ? "what pam_limits starts from" : limits.why);
  const Source& stack_line = outcome.session.calls.back().source;
  const bool set = !limits.decided_by.path.empty();
  add_link(walk, fmt::format("pam_limits ({})", service), 0, {limits.soft, limits.hard},
           set ? limits.decided_by : stack_line, limits.why);
  if (set) walk.decided = limits.decided_by;
}

void skip_pam_session(Walk& walk, const std::string& service, std::string name, const Source& by,
                      OnSessionError on_error) {
  Walk with_pam = walk;
  open_pam_session(with_pam, service, on_error);
  const bool would_differ = with_pam.unknown.size() == walk.unknown.size() && !same(with_pam.now, walk.now);
  add_link(walk, std::move(name), 0, walk.now, by, "limits.conf is not read");
  if (would_differ) walk.decided = by;
}

void open_service_session(Walk& walk, const Entry& entry) {
  const auto at = walk.facts.units.find(entry.unit);
  if (at == walk.facts.units.end() || !at->second.pam_name.known()) return;
  const UnitFile& unit = at->second;
  const std::size_t before = walk.links.size();
  const MemlockLimit without = walk.now;
  open_pam_session(walk, *unit.pam_name);
  if (walk.links.size() > before) {
    std::string& note = walk.links.back().note;
    note += fmt::format("{}for {}, by {} of {}", note.empty() ? "" : "; ",
                        walk.facts.account.known() ? walk.facts.account->name : unit.user.value.value_or("nobody"),
                        unit.user.known() ? "User=" : "default", unit.name);
  }
  // src/core/execute.c exec_child: without a user's name PAM was not asked; later versions take root's.
  if (unit.user.known() || unit.dynamic_user || (!walk.refused && same(walk.now, without))) return;
  walk.miss(fmt::format("{}: PAMName= without User=: whether PAM is asked depends on the version of systemd",
                        unit.pam_name.source.path));
  walk.refused = false;
  walk.now = {};
}

void open_ssh_session(Walk& walk) {
  const SshdConf& sshd = walk.facts.sshd;
  if (sshd.refuses) {
    walk.refuse(*sshd.refuses, fmt::format("sshd does not start: {}", sshd.why));
    return;
  }
  for (const std::string& problem : sshd.problems) walk.miss(problem);
  if (!sshd.use_pam.known()) {
    walk.miss(fmt::format("{}: whether sshd uses PAM is not known", sshd.file));
    walk.now = {};
    return;
  }
  const std::string service = pam_service({.kind = EntryKind::kSsh}, walk.facts);
  if (!*sshd.use_pam) return skip_pam_session(walk, service, "sshd without PAM", sshd.use_pam.source);
  open_pam_session(walk, service);
}

}  // namespace pindown
