// SPDX-License-Identifier: Apache-2.0
// Users and groups that are in no file: nsswitch.conf(5) says whether there are others (LDAP, SSSD, winbind, NIS), and
// id(1) asks them on a live machine, because a static program has no NSS. Entry points: other_name_services, ask_id,
// parse_id_line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "facts/accounts.h"
#include "host/host.h"

namespace pindown {

/// The services of nsswitch.conf's "passwd" or "group" line that know more than files of this machine, as written:
/// "sss", "ldap winbind". Empty: none. "files", "compat", "systemd" (users of units), "db", "altfiles" and "extrausers"
/// do not count.
std::string other_name_services(const Host& host, std::string_view database);

/// "uid=1000(alice) gid=100(users) groups=100(users),1200(domain users),4999": a group may have no name, and blanks in
/// it.
std::optional<Account> parse_id_line(std::string_view line);

/// What `id USER` says, within two seconds. Nothing: not live, no such user, or no answer; who does not answer once is
/// not asked again.
std::optional<Account> ask_id(const Host& host, std::string_view user);

}  // namespace pindown
