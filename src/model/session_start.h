// SPDX-License-Identifier: Apache-2.0
// Which way the session was opened that a live process runs in. Entry point: derive_session_start. Pure.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "facts/facts.h"
#include "model/predict.h"

namespace pindown {

/// Opens a PAM session for itself and becomes, or starts, the command in it: it has the session's limits.
bool opens_own_session(std::string_view comm);
/// Opens a PAM session in a child, which has the limits then: cron, crond, atd. (sshd does, too: by a listener of
/// another kind, which a trail names by its unit.)
bool opens_session_of_child(std::string_view comm);

struct SessionStart {
  Entry entry;
  const Process* caller = nullptr;  // of su, sudo, runuser: the process they were called from, whose limits they had
};

/// `chain` is the process first, PID 1 last. The opener nearest to the process counts: in `ssh host sudo job` it is
/// sudo. Nothing: no session of PAM, or not of a kind that is known.
std::optional<SessionStart> derive_session_start(const std::vector<Process>& chain);

}  // namespace pindown
