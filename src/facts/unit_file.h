// SPDX-License-Identifier: Apache-2.0
// systemd units and their drop-ins as the manager loads them: systemd.unit(5), systemd.exec(5), systemd-system.conf(5).
// Only what decides limits is kept. Entry points: collect_unit, collect_manager.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/size.h"
#include "facts/config_line.h"
#include "facts/facts.h"
#include "host/host.h"

namespace pindown {

/// "8M", "1.5G:infinity", "infinity" (config_parse_rlimit, src/shared/rlimit-util.c rlimit_parse): bytes with K, M, G,
/// T, P, E of 1024 in capitals, fractions and sums ("1G 512M") allowed; soft above hard and everything else is refused
/// (systemd logs and ignores the line). An empty value is refused, too: it does not reset.
std::optional<MemlockLimit> parse_unit_limit(std::string_view value);

/// src/basic/parse-util.c parse_boolean.
std::optional<bool> parse_unit_boolean(std::string_view value);

/// An assignment that counts, in the order in which systemd reads them.
struct UnitAssignment {
  std::string section;  // "Service", "Manager"
  std::string key;      // "LimitMEMLOCK"
  std::string value;    // trimmed, continuation lines joined by a blank
  Source source;
};

struct UnitFile {
  std::string name;                   // as found: aliases (symlinks) resolved
  Fact<std::string> fragment;         // path of the main file; missing: kAbsent
  bool masked = false;                // a symlink to /dev/null, or an empty file
  bool user_manager = false;          // found for a user's manager
  std::optional<Source> refuses;      // the manager does not load the unit because of this line of the main file
  std::string why;                    // of `refuses`, one clause
  std::vector<std::string> drop_ins;  // paths in the order they are read
  Fact<MemlockLimit> memlock;         // LimitMEMLOCK: the last valid assignment over fragment and drop-ins
  std::vector<Source> ignored;        // assignments of LimitMEMLOCK that are invalid or overridden
  Fact<std::string> pam_name;         // PAMName=
  Fact<std::string> user;             // User=
  bool dynamic_user = false;          // DynamicUser=yes
  Fact<std::string> accept;           // Accept= of a socket
  std::optional<bool>
      memlock_newer_than_service;  // live: that line's file, or the default's, was written after the unit's start
  std::vector<UnitAssignment> capabilities;  // CapabilityBoundingSet=, AmbientCapabilities=, PrivateUsers=
  std::vector<std::string> problems;
};

/// Directories in systemd's order: /etc, /run, /usr/local/lib, /usr/lib, /lib below systemd/system (user:
/// systemd/user), and those of generators and of systemctl set-property. Drop-ins of NAME.d, of aliases, of prefix
/// directories ("a-.service.d" for a-b.service), of the type (service.d), of the template ("t@.service.d" for
/// t@x.service); all sorted by file name together, /etc before /run before the rest for equal names
/// (src/basic/unit-file.c, src/shared/dropin.c; systemd 252 to 257). At most 10,000 drop-ins. A drop-in that cannot be
/// read may set the limit: it is unknown then, unless a later one sets it.
UnitFile collect_unit(const Host& host, std::string_view name, bool user_manager = false);

struct ManagerConf {
  Fact<MemlockLimit>
      default_memlock;  // DefaultLimitMEMLOCK of system.conf (user.conf) and its drop-ins, last valid one
  std::vector<Source> ignored;
  std::vector<std::string> problems;
};
ManagerConf collect_manager(const Host& host, bool user_manager = false);

}  // namespace pindown
