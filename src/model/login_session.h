// SPDX-License-Identifier: Apache-2.0
// What sshd and PAM make of a session's limits. Entry points: open_pam_session, open_ssh_session. Pure.
#pragma once

#include <string>

#include "model/entry.h"
#include "model/walk.h"

namespace pindown {

/// The name of the PAM service as the program asks for it; empty: it asks for none.
std::string pam_service(const Entry& entry, const LoginFacts& facts);

/// What the program does about PAM_SESSION_ERR of pam_open_session.
enum class OnSessionError { kRefuse, kGoOn };

/// Walks through the stack of `service` with the version of PAM that is installed, or says what is missing for that.
void open_pam_session(Walk& walk, const std::string& service, OnSessionError on_error = OnSessionError::kRefuse);
/// The session is opened without PAM because `by` says so, which is what decided where PAM would have made another
/// limit of it.
void skip_pam_session(Walk& walk, const std::string& service, std::string name, const Source& by,
                      OnSessionError on_error = OnSessionError::kRefuse);
/// Only whether the account may, of a program that opens no session.
void ask_pam_account(Walk& walk, const std::string& service);
/// Of a service with PAMName=, for its User=.
void open_service_session(Walk& walk, const Entry& entry);
/// With UsePAM, or without.
void open_ssh_session(Walk& walk);

}  // namespace pindown
