// SPDX-License-Identifier: Apache-2.0
// The command line that a unit gives sshd: SSHD_OPTS of /etc/default/ssh (Debian, Ubuntu) or /etc/sysconfig/ssh (SUSE),
// OPTIONS of /etc/sysconfig/sshd (Red Hat). Entry points: collect_sshd_options, parse_sshd_options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "facts/fact.h"
#include "host/host.h"

namespace pindown {

struct SshdOptions {
  std::string file;                // the last -f; empty: the default
  std::vector<std::string> lines;  // of each -o, in order: they come before the file
  std::string error;               // sshd ends over its command line
};

/// Words as systemd splits a lone $SSHD_OPTS (env-util.c replace_env_argv), read as sshd.c main does with getopt.
SshdOptions parse_sshd_options(std::string_view value);

Fact<std::string> collect_sshd_options(const Host& host, std::vector<std::string>& problems);

}  // namespace pindown
