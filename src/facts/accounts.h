// SPDX-License-Identifier: Apache-2.0
// Who a user is, from /etc/passwd and /etc/group, on a live machine with LDAP or the like from id(1). Entry point:
// collect_account.
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
  std::uint32_t gid = 0;  // primary
  /// Primary first, then supplementary: name, gid. The primary one has no name if /etc/group has none for it; another
  /// name for a gid of the user's is there, too (pam_modutil_user_in_group_nam_nam compares gids).
  std::vector<std::pair<std::string, std::uint32_t>> groups;
  /// The name services that may know more groups of this user and could not be asked ("sss"); empty: the groups are
  /// all.
  std::string groups_elsewhere = {};
};

/// `user` is a name or a number. Missing::kAbsent: not in /etc/passwd, and not known to any other name service that
/// could be asked.
Fact<Account> collect_account(const Host& host, std::string_view user);

}  // namespace pindown
