// SPDX-License-Identifier: Apache-2.0
// The ways to start a session that --via and --from name. Entry points: parse_entry, parse_caller. Pure.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace pindown {

enum class EntryKind { kSsh, kLogin, kSu, kSudo, kRunuser, kCron, kAt, kService, kUserService, kSlurm };

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

/// The service the session starts from. Names differ between families of distributions; the first one that exists
/// counts. Empty: from no service of a fixed name.
std::vector<std::string> units_of(const Entry& entry);

}  // namespace pindown
