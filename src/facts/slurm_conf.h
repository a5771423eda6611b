// SPDX-License-Identifier: Apache-2.0
// What slurm.conf(5) of a node says of the few things that decide a job's limits: whether memlock is propagated from
// the submitting shell, and whether slurmstepd opens a PAM session. Last value wins, Include stands where it stands.
// Entry points: collect_slurm, lists_memlock.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/fact.h"
#include "host/host.h"

namespace pindown {

/// slurmd takes the file of -f, else of SLURM_CONF, else the one of its build (/etc/slurm/slurm.conf), else the copy it
/// fetched itself (/run/slurm/conf/slurm.conf; src/common/read_config.c _establish_config_source(), 26.05). A file that
/// is included but cannot be read may set any of the values, unless a later line does.
struct SlurmConf {
  std::string file;             // empty: none of the usual places has one
  Source named_by;              // what names the file: SLURMD_OPTIONS, the running slurmd; empty: the usual place
  Fact<std::string> propagate;  // PropagateResourceLimits; absent: ALL
  Fact<std::string> propagate_except;  // PropagateResourceLimitsExcept, which wins over the other
  Fact<bool> use_pam;                  // UsePAM; known and false with the file's path alone when no line says so
  std::optional<Source> refuses;       // slurmd does not start because of this line
  std::string why;                     // of `refuses`, one clause
  std::vector<std::string> problems;
};

struct SlurmQuestion {
  std::string version;         // of Slurm, "22.05.8"; empty: not known
  std::string slurmd_cmdline;  // of the running slurmd; empty: none runs
  std::string file;            // SLURM_CONF of whoever asks; empty: not set
};

/// Reads at most 1,000 files of 16 MiB and 64 MiB in all, includes to a depth of 32.
SlurmConf collect_slurm(const Host& host, const SlurmQuestion& question);

/// Whether a list of limits has MEMLOCK in it: "ALL", "NONE", "CORE,RLIMIT_MEMLOCK". Slurm compares as written
/// (src/common/slurm_rlimits_info.c parse_rlimits()); the error is its own: "Bad rlimit name: memlock".
std::expected<bool, std::string> lists_memlock(std::string_view list);

/// The words before the comment of one line, continuation lines joined; for tests and fuzzing.
struct SlurmPair {
  std::string key;    // as written
  std::string value;  // without quotes
  std::string rest;   // what follows the value
};
/// "Key=value", "Key = \"value\"" (src/common/parse_config.c keyvalue_pattern); nothing: the line is not one.
std::optional<SlurmPair> parse_slurm_pair(std::string_view line);

}  // namespace pindown
