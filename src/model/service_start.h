// SPDX-License-Identifier: Apache-2.0
// Sessions that start from a service of systemd: what the running daemon has, else what its unit will get. Entry
// point: start_from_unit. Pure.
#pragma once

#include <string>
#include <vector>

#include "model/entry.h"
#include "model/walk.h"

namespace pindown {

/// `names` are names of one unit; the first that exists counts.
void start_from_unit(Walk& walk, const Entry& entry, const std::vector<std::string>& names);

/// A user's service, below what its manager has: the manager's default, else what the manager has; never above the
/// manager's hard limit.
void start_user_service(Walk& walk, const Entry& entry);

}  // namespace pindown
