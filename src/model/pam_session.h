// SPDX-License-Identifier: Apache-2.0
// Which pam_limits lines of a service's session stack are reached, and whether the session is refused: include,
// substack, @include, jumps, -session, missing modules. Entry point: derive_pam_session. Pure.
#pragma once

#include <string>
#include <vector>

#include "facts/accounts.h"
#include "facts/pam_stack.h"
#include "model/pam_limits.h"

namespace pindown {

struct PamSession {
  std::vector<PamLimitsCall> calls;  // in order
  bool refused = false;
  Source refused_by;
  std::string why;
  std::vector<std::string> unknown;  // a module whose answer decides a jump over pam_limits and is not known
  std::string service;               // whose file was used: the name, or "other"
};

/// Modules are taken to succeed, but for: pam_deny, missing modules, pam_succeed_if and pam_listfile (evaluated where
/// their arguments allow), pam_permit, pam_nologin and others that decide by state (unknown, if they decide a jump).
PamSession derive_pam_session(const PamConf& conf, std::string_view service, const Account& user);

}  // namespace pindown
