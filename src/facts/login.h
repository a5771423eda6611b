// SPDX-License-Identifier: Apache-2.0
// Everything that decides the limits of a session that does not exist yet: the files of the login chain, the versions
// of what reads them, the running daemons. Entry point: collect_login. Nothing is judged here.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "facts/accounts.h"
#include "facts/facts.h"
#include "facts/limits_conf.h"
#include "facts/pam_stack.h"
#include "facts/sshd_config.h"
#include "facts/unit_file.h"
#include "host/host.h"

namespace pindown {

/// os-release(5), unquoted.
struct Distribution {
  Fact<std::string> id;  // "debian"
  std::string id_like;   // "rhel centos fedora"
  std::string version;   // VERSION_ID: "12"
};

struct LoginFacts {
  bool live = false;  // the machine pindown runs on
  std::string host;
  Distribution distro;
  Fact<std::string> kernel;  // /proc/sys/kernel/osrelease
  std::map<std::string, Fact<std::string>>
      packages;                    // Debian: libpam-modules, systemd, openssh-server, sudo, util-linux
  Fact<MemlockLimit> pid1;         // /proc/1/limits
  Fact<CapabilitySets> pid1_caps;  // /proc/1/status
  LimitsConf limits;
  std::map<std::string, ConfigFile> named_limits;  // files of conf= in the stacks
  PamConf pam;
  SshdConf sshd;
  ManagerConf system_manager, user_manager;
  Fact<SudoersLimit> sudoers;
  std::map<std::string, UnitFile> units;  // by the name asked for
  std::map<std::string, UnitFile> user_units;
  Fact<Account> account;                   // of the user asked for
  std::map<std::string, Process> daemons;  // live only: the unit's running main process, by unit name
  Process self;                            // live only: pindown itself, which has its caller's limits
  std::vector<std::string> problems;
};

/// Which parts to read: a unit that is not asked for costs nothing.
struct LoginQuestion {
  std::vector<std::string> units;       // "ssh.service"
  std::vector<std::string> user_units;  // "jupyter.service" of the user manager
  std::string user;
  bool user_manager = false;  // user@UID.service of that user
};

/// "user@1000.service"
std::string user_manager_unit(const Account& account);

LoginFacts collect_login(const Host& host, const LoginQuestion& question);

/// Only what explains limits that are seen: limits.conf, sshd_config, the units named, the manager's defaults.
LoginFacts collect_login_configuration(const Host& host, const std::vector<std::string>& units);

/// What the checks judge of it, as if it had been pasted: UsePAM, memlock lines of limits.conf, limits of units.
void add_login_facts(const LoginFacts& login, Facts& machine);

}  // namespace pindown
