// SPDX-License-Identifier: Apache-2.0
// Which pam_limits lines of a service's session stack are reached, and whether the session is refused: include,
// substack, @include, jumps, -session, missing modules. Entry point: derive_pam_session. Pure.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "facts/accounts.h"
#include "facts/pam_stack.h"
#include "model/pam_limits.h"

namespace pindown {

struct PamSession {
  std::vector<PamLimitsCall> calls;  // in order
  bool refused = false;
  int code = 0;  // what pam_open_session returns: 0, PAM_PERM_DENIED 6, PAM_SESSION_ERR 14, PAM_ABORT 26 …
  Source refused_by;
  std::string why;
  std::vector<std::string> unknown;  // a module whose answer decides a jump over pam_limits and is not known
  std::string service;               // whose file was used: the name, or "other"
};

/// Modules are taken to succeed, but for: pam_deny, missing modules, pam_succeed_if and pam_listfile (evaluated where
/// their arguments allow), pam_debug, those that have no session function and so fail (pam_nologin, pam_rootok …), and
/// others that decide by state (unknown, if they decide whether pam_limits is reached).
/// Of libpam, libpam/pam_handlers.c and pam_dispatch.c, 1.5.2 to 1.7.2.
PamSession derive_pam_session(const PamConf& conf, std::string_view service, const Account& user);

/// What a pam_limits line returns when its turn comes: a PAM code, 0 for success.
using PamLimitsAnswer = std::function<int(const PamLimitsCall&)>;
/// The same where pam_limits may fail: "required" refuses the session, "optional" goes on to the next line.
PamSession derive_pam_session(const PamConf& conf, std::string_view service, const Account& user,
                              const PamLimitsAnswer& limits);

/// Whether pam_acct_mgmt lets the user in, which sshd, login, su, sudo, cron, atd and systemd (PAMName=) ask before the
/// session opens, and runuser does not. Modules are taken to succeed here as well, but for those without an account
/// function (pam_limits is one). `calls` stays empty.
PamSession derive_pam_account(const PamConf& conf, std::string_view service, const Account& user);

/// Everything a session's limits depend on.
struct PamOpening {
  const PamConf& pam;
  const LimitsConf& limits;
  std::map<std::string, ConfigFile> named;  // of conf=FILE, by FILE
  PamVersion version;
  MemlockLimit start;
  std::optional<MemlockLimit> pid1;
  bool may_raise = false;
  bool asks_account = false;  // pam_acct_mgmt comes first
};

/// The limits after the stack, each pam_limits line starting from what the one before left. `limits.refused` and its
/// reason are those of the session.
struct PamOutcome {
  PamSession session;
  SessionLimits limits;
  bool account_refused = false;  // `session` is what pam_acct_mgmt said, and no session was opened
};
PamOutcome derive_pam_outcome(const PamOpening& opening, std::string_view service, const Account& user);

}  // namespace pindown
