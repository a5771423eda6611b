// SPDX-License-Identifier: Apache-2.0
// What sshd_config(5) says of the few things that decide a session's limits: UsePAM, and whether sshd would start at
// all. First value wins, Include stands where it stands, Match ends with its file. Entry point: collect_sshd.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/config_line.h"
#include "host/host.h"

namespace pindown {

/// The first problem that makes sshd refuse to start ("Bad configuration option", UsePAM inside Match, an argument that
/// is neither yes nor no, Include deeper than 16): servconf.c process_server_config_line_depth. Addresses, algorithms
/// and what needs the machine (keys, users) are not judged. A file that cannot be read may hold the first UsePAM: then
/// use_pam is missing with that reason, whatever comes later.
struct SshdConf {
  Fact<bool> use_pam;             // the deciding line; known and false with the file's path alone when no line says so
  Fact<std::string> pam_service;  // PAMServiceName (OpenSSH 9.8 and later) outside of Match: the file in pam.d
  std::vector<Source> shadowed;   // later UsePAM lines that have no effect; at most 1,000
  std::optional<Source> refuses;  // sshd does not start because of this line
  std::string why;                // of `refuses`, one clause
  std::string file;               // /etc/ssh/sshd_config, or the -f of SSHD_OPTS
  Fact<std::string> options;      // SSHD_OPTS of /etc/default/ssh, OPTIONS of /etc/sysconfig/sshd
  std::vector<std::string> problems;
};

/// Reads at most 10,000 files of 1 MiB and 64 MiB in all, includes to a depth of 16 (SERVCONF_MAX_DEPTH).
SshdConf collect_sshd(const Host& host);

}  // namespace pindown
