// SPDX-License-Identifier: Apache-2.0
// Whether a service of the system manager has CAP_IPC_LOCK. Entry points: has_ipc_lock, runs_as_root. Pure.
#pragma once

#include "facts/unit_file.h"

namespace pindown {

/// `root`: of a process with uid 0; any other has what AmbientCapabilities= gives it.
bool has_ipc_lock(const UnitFile& unit, bool root);

bool runs_as_root(const UnitFile& unit);

}  // namespace pindown
