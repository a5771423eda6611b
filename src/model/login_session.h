// SPDX-License-Identifier: Apache-2.0
// What sshd, PAM and sudo make of a session's limits. Entry points: open_pam_session, open_ssh_session, apply_sudoers.
// Pure.
#pragma once

#include <string>

#include "model/entry.h"
#include "model/walk.h"

namespace pindown {

/// The name of the PAM service as the program asks for it; empty: it asks for none.
std::string pam_service(const Entry& entry, const LoginFacts& facts);

/// Walks through the stack of `service` with the version of PAM that is installed, or says what is missing for that.
void open_pam_session(Walk& walk, const std::string& service);
/// With UsePAM, or without.
void open_ssh_session(Walk& walk);
/// rlimit_memlock of sudoers(5), which comes after PAM.
void apply_sudoers(Walk& walk);

}  // namespace pindown
