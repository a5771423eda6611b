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
#include "facts/packages.h"
#include "facts/pam_stack.h"
#include "facts/slurm_conf.h"
#include "facts/sshd_config.h"
#include "facts/sudoers.h"
#include "facts/unit_file.h"
#include "host/host.h"

namespace pindown {

struct LoginFacts {
  bool live = false;  // the machine pindown runs on
  Distribution distro;
  Fact<std::string> kernel;  // /proc/sys/kernel/osrelease
  Packages packages;
  Fact<MemlockLimit> pid1;         // /proc/1/limits
  Fact<CapabilitySets> pid1_caps;  // /proc/1/status
  LimitsConf limits;
  std::map<std::string, ConfigFile> named_limits;  // files of conf= in the stacks
  PamConf pam;
  SshdConf sshd;
  SlurmConf slurm;  // only where it is asked for
  ManagerConf system_manager, user_manager;
  Fact<Sudoers> sudoers;
  std::map<std::string, UnitFile> units;  // by the name asked for
  std::map<std::string, UnitFile> user_units;
  /// "ssh@.service": systemd listens for sshd and starts this for each connection (a socket with Accept=yes that is
  /// enabled while the service itself neither runs nor is enabled); then it is in `units`, too. Empty: sshd listens.
  std::string per_connection;
  Fact<Account> account;                   // of the user asked for
  std::map<std::string, Process> daemons;  // live only: the unit's running main process, by unit name
  Process self;  // live only: what calls su, sudo, runuser: pindown itself, which has its caller's limits
  std::string self_is = "pindown's own process";
  std::vector<std::string> problems;
};

/// Which parts to read: a unit that is not asked for costs nothing.
struct LoginQuestion {
  std::vector<std::string> units;       // "ssh.service", "sshd.service": names of one; the first that exists counts
  std::vector<std::string> user_units;  // "jupyter.service" of the user manager
  std::string user;
  bool user_of_unit = false;  // not `user`, but the User= of the unit
  bool user_manager = false;  // user@UID.service of that user
  bool ssh = false;           // and whether systemd listens for sshd
  bool slurm = false;         // slurm.conf, and a slurmd that systemd did not start
  std::string slurm_conf;     // SLURM_CONF of whoever asks
};

/// "user@1000.service"
std::string user_manager_unit(const Account& account);

/// What every session of the machine goes through; where several are asked about, it is collected once.
LoginFacts collect_login_machine(const Host& host);
/// Adds to that what one question is about.
void add_question(const Host& host, const LoginQuestion& question, LoginFacts& facts);
/// Both.
LoginFacts collect_login(const Host& host, const LoginQuestion& question);

/// Only what explains limits that are seen: limits.conf, the units named with the manager's defaults, and, where there
/// is an sshd among what is judged, sshd_config.
LoginFacts collect_login_configuration(const Host& host, const std::vector<std::string>& units, bool with_sshd);

/// What the checks judge of it, as if it had been pasted: UsePAM, memlock lines of limits.conf, limits of units.
void add_login_facts(const LoginFacts& login, Facts& machine);

}  // namespace pindown
