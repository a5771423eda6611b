// SPDX-License-Identifier: Apache-2.0
// The command line that a unit gives sshd: SSHD_OPTS of /etc/default/ssh (Debian, Ubuntu) or /etc/sysconfig/ssh (SUSE),
// OPTIONS of /etc/sysconfig/sshd (Red Hat). Entry points: collect_sshd_options, parse_sshd_options.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "facts/fact.h"
#include "host/host.h"

namespace pindown {

/// The value as systemd reads an EnvironmentFile (src/basic/env-file.c parse_env_file_internal): the last assignment
/// wins, quotes and backslashes are taken off, and the rest of the line counts where there are none.
std::optional<std::pair<std::string, std::size_t>> read_environment_file(std::string_view text, std::string_view key);

struct SshdOptions {
  std::string file;                // the last -f; empty: the default
  std::vector<std::string> lines;  // of each -o, in order: they come before the file
  std::string error;               // sshd ends over its command line
};

/// Words as systemd splits a lone $SSHD_OPTS (env-util.c replace_env_argv), read as sshd.c main does with getopt.
SshdOptions parse_sshd_options(std::string_view value);

Fact<std::string> collect_sshd_options(const Host& host, std::vector<std::string>& problems);

}  // namespace pindown
