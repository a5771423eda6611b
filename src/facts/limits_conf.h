// SPDX-License-Identifier: Apache-2.0
// limits.conf(5) and limits.d as pam_limits finds them: which files, in which order, and their raw lines. How a line is
// read depends on the version of PAM, so that is the model's work (model/pam_limits). Entry point: collect_limits.
#pragma once

#include <string>
#include <vector>

#include "facts/config_line.h"
#include "host/host.h"

namespace pindown {

/// pam_limits opens /etc/security/limits.conf, or the vendor's (/usr/etc/security, /usr/share/security) where the first
/// one does not exist, then *.conf of limits.d of both places in strcmp order of their names, where a file in /etc
/// hides the vendor's of the same name (modules/pam_limits/pam_limits.c, pam_sm_open_session and glob handling; vendor
/// files since 1.5.3 and only where the distribution sets a vendor directory).
struct LimitsConf {
  ConfigFile main;                    // /etc/security/limits.conf
  ConfigFile vendor;                  // /usr/etc/security/limits.conf, /usr/share/security/limits.conf
  std::vector<ConfigFile> drop_ins;   // in the order they are read; an unreadable one is in its place, with the reason
  std::vector<std::string> problems;  // one line each
};

/// At most 10,000 drop-ins of at most 4 MiB each, 64 MiB and 200,000 lines in all; what is left out is a problem. Empty
/// lines and comments are not kept.
LimitsConf collect_limits(const Host& host);

/// The file of a stack's `conf=FILE`: then limits.d is not read at all.
ConfigFile collect_limits_file(const Host& host, const std::string& path);

}  // namespace pindown
