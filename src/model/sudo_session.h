// SPDX-License-Identifier: Apache-2.0
// What sudo makes of a session: sudoers(5) says whether PAM opens one, under which name, and what comes after it.
// Entry point: open_sudo_session. Pure.
#pragma once

#include <string>

#include "model/entry.h"
#include "model/walk.h"

namespace pindown {

/// Who calls sudo, as far as it is known.
struct SudoCaller {
  const Account* account = nullptr;  // with its groups
  std::string name;                  // without an account: a name or a uid; empty: not known
};

void open_sudo_session(Walk& walk, const Entry& entry, const SudoCaller& caller);

}  // namespace pindown
