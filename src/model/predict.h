// SPDX-License-Identifier: Apache-2.0
// Which limit and capability a new session will get, and which link of the chain decides: daemon → PAM → session.
// Entry points: parse_entry, question_of, derive_prediction. Pure.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "facts/login.h"
#include "finding/prediction.h"

namespace pindown {

enum class EntryKind { kSsh, kLogin, kSu, kSudo, kRunuser, kCron, kAt, kService, kUserService };

/// One way to start a session: --via, --from.
struct Entry {
  EntryKind kind = EntryKind::kSsh;
  bool login_shell = false;  // su-l, sudo-i, runuser-l: another PAM service
  std::string unit;          // kService, kUserService: "slurmd.service"; empty: a service without settings of its own
  std::string user;          // of --from ENTRY:USER
  std::string name;          // as written
};

/// "ssh", "su-l", "service:slurmd", "user-service:jupyter"; an error names what there is.
std::expected<Entry, std::string> parse_entry(std::string_view text);
/// "ssh:alice", "service", "cron": where su, sudo or runuser is called.
std::expected<Entry, std::string> parse_caller(std::string_view text);

/// su, sudo, runuser: what they set comes on top of what their caller has. Others start from a service.
bool starts_from_caller(EntryKind kind);

/// Which facts the answer needs.
LoginQuestion question_of(const Entry& entry, std::string_view user);

/// `caller` matters for su, sudo and runuser, whose sessions start from its limits: with `caller_facts` (of the
/// caller's user) it is predicted, without it it is pindown's own process on the live machine, else unknown where it
/// matters.
Prediction derive_prediction(const Entry& entry, const LoginFacts& facts, const std::optional<Entry>& caller,
                             const LoginFacts* caller_facts);

}  // namespace pindown
