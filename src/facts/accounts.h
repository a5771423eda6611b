// SPDX-License-Identifier: Apache-2.0
// Who a user is, from /etc/passwd and /etc/group alone (a static program has no NSS), and what sudoers sets for limits.
// Entry points: collect_account, collect_sudoers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/config_line.h"
#include "facts/facts.h"
#include "host/host.h"

namespace pindown {

struct Account {
  std::string name;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;                                      // primary
  std::vector<std::pair<std::string, std::uint32_t>> groups;  // primary first, then supplementary: name, gid
};

/// `user` is a name or a number. Missing::kAbsent: not in /etc/passwd (LDAP, SSSD …).
Fact<Account> collect_account(const Host& host, std::string_view user);

/// `Defaults rlimit_memlock=SOFT[,HARD]` of /etc/sudoers and sudoers.d (sudoers(5), since 1.8.7): bytes, "infinity",
/// "user" (the invoking user's limits), "default" (the host's). sudo 1.9.x applies it before the PAM session is opened
/// and again after it, so it wins; soft above hard has no effect.
struct SudoersLimit {
  std::optional<Limit> soft, hard;
  bool from_user = false;
};
Fact<SudoersLimit> collect_sudoers(const Host& host);

}  // namespace pindown
