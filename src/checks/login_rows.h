// SPDX-License-Identifier: Apache-2.0
// The functions behind the rows of PD1xx (table: login.cc). pam_checks.cc has those about PAM and limits.conf,
// process.cc those about the process itself. No other user.
#pragma once

#include "checks/check.h"

namespace pindown::login {

Outcome memlock_too_low(const Situation& s);           // PD101, process.cc
Outcome sshd_usepam_off(const Situation& s);           // PD102, pam_checks.cc
Outcome pam_limits_not_in_stack(const Situation& s);   // PD103, pam_checks.cc
Outcome limits_conf_line_ignored(const Situation& s);  // PD104, pam_checks.cc
Outcome limits_conf_not_for_root(const Situation& s);  // PD105, pam_checks.cc
Outcome limits_conf_overridden(const Situation& s);    // PD106, pam_checks.cc
Outcome soft_below_hard(const Situation& s);           // PD107, process.cc
Outcome pam_resets_to_pid1(const Situation& s);        // PD108, pam_checks.cc
Outcome process_older_than_fix(const Situation& s);    // PD109, process.cc
Outcome memlock_zero(const Situation& s);              // PD110, process.cc
Outcome limit_divided_by_devices(const Situation& s);  // PD111, process.cc
Outcome no_limit_configured(const Situation& s);       // PD112, process.cc
Outcome lowered_by_ancestor(const Situation& s);       // PD113, process.cc

/// The number in a command that sets the memlock limit: "ulimit -l 64" → 64 KiB, "ulimit -Sl unlimited"; nothing for a
/// query
/// ("ulimit -l"), for its output ("ulimit -l: 64") and for other resources.
std::optional<Limit> ulimit_command(std::string_view text);

}  // namespace pindown::login
