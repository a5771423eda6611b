// SPDX-License-Identifier: Apache-2.0
// See predict.h.
#include "model/predict.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/login_session.h"
#include "model/service_capability.h"
#include "model/service_start.h"
#include "model/sudo_session.h"
#include "model/walk.h"

namespace pindown {
namespace {

std::vector<std::string> daemons_of(const Entry& entry, const LoginFacts& facts) {
  if (entry.kind == EntryKind::kSsh && !facts.per_connection.empty()) return {facts.per_connection};
  if (entry.kind != EntryKind::kUserService) return units_of(entry);
  if (!facts.account.known()) return {};
  return {user_manager_unit(*facts.account)};
}

std::optional<bool> capability(const Entry& entry, const LoginFacts& facts) {
  if (facts.pid1_caps.known() && facts.pid1_caps->bounding && !has_cap(*facts.pid1_caps->bounding, kCapIpcLock))
    return false;
  if (entry.kind == EntryKind::kService) {
    const auto unit = facts.units.find(entry.unit);
    if (unit == facts.units.end() || !unit->second.fragment.known()) return std::nullopt;
    return has_ipc_lock(unit->second, runs_as_root(unit->second));
  }
  if (!facts.account.known()) return std::nullopt;
  const bool root = facts.account->uid == 0;
  if (entry.kind != EntryKind::kSlurm) return root;
  const auto slurmd = facts.units.find(units_of(entry).front());
  return slurmd == facts.units.end() ? root : root && has_ipc_lock(slurmd->second, root);
}

/// Without --submit-limit: of the session that --from names, else of pindown's own shell.
SlurmSubmission complete(SlurmSubmission submission, Walk& walk, const std::optional<Entry>& caller,
                         const LoginFacts* caller_facts) {
  if (submission.soft) return submission;
  if (caller && caller_facts != nullptr) {
    const Prediction shell = derive_prediction(*caller, *caller_facts, std::nullopt, nullptr);
    submission.soft = shell.soft;
    submission.source = {shell.decided_by.source, shell.decided_by.text, {}};
    if (!shell.soft) walk.miss(fmt::format("the limit of a session of {}, which submits", caller->name));
    return submission;
  }
  const Process& self = walk.facts.self;
  if (!walk.facts.live || !self.memlock.known()) return submission;
  submission.soft = self.memlock->soft;
  submission.source = self.memlock.source;
  return submission;
}

SudoCaller sudo_caller(const LoginFacts& facts, const LoginFacts* caller_facts) {
  if (caller_facts != nullptr && caller_facts->account.known()) return {&*caller_facts->account, {}};
  return {nullptr, caller_facts == nullptr && facts.live ? facts.self.user : std::string()};
}

void open_session(Walk& walk, const Entry& entry, const SudoCaller& caller) {
  switch (entry.kind) {
    case EntryKind::kSsh:
      return open_ssh_session(walk);
    case EntryKind::kService:
      return open_service_session(walk, entry);
    case EntryKind::kSudo:
      return open_sudo_session(walk, entry, caller);
    case EntryKind::kUserService:
      open_pam_session(walk, pam_service(entry, walk.facts));
      return start_user_service(walk, entry);
    default:
      return open_pam_session(walk, pam_service(entry, walk.facts));
  }
}

std::string user_name(const LoginFacts& facts) {
  return facts.account.known() ? facts.account->name : std::string();
}

void start_from_caller(Walk& walk, const std::optional<Entry>& caller, const LoginFacts* caller_facts) {
  if (caller && caller_facts != nullptr) {
    const Prediction start = derive_prediction(*caller, *caller_facts, std::nullopt, nullptr);
    walk.links = start.links;
    walk.now = {start.soft, start.hard};
    walk.decided = {start.decided_by.source, start.decided_by.text};
    for (const std::string& each : start.unknown) walk.miss(each);
    walk.assumed = start.assumed;
    return;
  }
  const Process& self = walk.facts.self;
  if (walk.facts.live && self.memlock.known()) {
    add_link(walk, "the caller", self.where.pid.value_or(0), *self.memlock, self.memlock.source, walk.facts.self_is);
  }
}

/// systemd's default is still what the session has, in one of its two values.
bool keeps_start(const Walk& walk) {
  if (walk.links.empty()) return false;
  const TrailLink& start = walk.links.front();
  return walk.now.soft == start.soft || walk.now.hard == start.hard;
}

Prediction conclude(Walk& walk, const Entry& entry) {
  if (walk.start_is_assumed && keeps_start(walk)) walk.assume("systemd", version_text(walk.facts, kSystemdPackage));
  Prediction out;
  out.entry = entry.name;
  out.user = user_name(walk.facts);
  out.links = walk.links;
  out.refused = walk.refused;
  out.refused_why = walk.refused_why;
  out.unknown = walk.unknown;
  out.assumed = walk.assumed;
  out.decided_by = {walk.decided.path, walk.decided.text, {}};
  if (walk.refused) return out;
  out.soft = walk.now.soft;
  out.hard = walk.now.hard;
  out.cap_ipc_lock = capability(entry, walk.facts);
  const bool unexplained = (!out.soft || !out.hard) && out.unknown.empty();
  if (unexplained) out.unknown.push_back("what calls it is not known: give --from, for instance --from ssh:alice");
  return out;
}

}  // namespace

LoginQuestion question_of(const Entry& entry, std::string_view user) {
  LoginQuestion question;
  question.user = user;
  question.units = units_of(entry);
  question.user_of_unit = entry.kind == EntryKind::kService && !entry.unit.empty();
  question.user_manager = entry.kind == EntryKind::kUserService;
  question.ssh = entry.kind == EntryKind::kSsh;
  question.slurm = entry.kind == EntryKind::kSlurm;
  if (entry.kind == EntryKind::kUserService && !entry.unit.empty()) question.user_units.push_back(entry.unit);
  return question;
}

Prediction derive_prediction(const Entry& entry, const LoginFacts& facts, const std::optional<Entry>& caller,
                             const LoginFacts* caller_facts, const SlurmSubmission& submission) {
  Walk walk(facts);
  if (starts_from_caller(entry.kind)) {
    start_from_caller(walk, caller, caller_facts);
  } else {
    start_from_unit(walk, entry, daemons_of(entry, facts));
  }
  if (entry.kind == EntryKind::kSlurm) {
    run_slurm_job(walk, complete(submission, walk, caller, caller_facts));
  } else {
    open_session(walk, entry, sudo_caller(facts, caller_facts));
  }
  return conclude(walk, entry);
}

}  // namespace pindown
