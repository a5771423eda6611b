// SPDX-License-Identifier: Apache-2.0
// Which way the session was opened that a live process runs in. Entry point: derive_session_start. Pure.
#pragma once

#include <optional>
#include <vector>

#include "facts/facts.h"
#include "model/predict.h"

namespace pindown {

struct SessionStart {
  Entry entry;
  const Process* caller = nullptr;  // of su, sudo, runuser: the process they were called from, whose limits they had
};

/// `chain` is the process first, PID 1 last. The opener nearest to the process counts: in `ssh host sudo job` it is
/// sudo. Nothing: no session of PAM, or not of a kind that is known.
std::optional<SessionStart> derive_session_start(const std::vector<Process>& chain);

}  // namespace pindown
