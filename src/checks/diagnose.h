// SPDX-License-Identifier: Apache-2.0
// From what was read to what is said: builds the situations, asks every check, orders the answers, decides the verdict.
// Entry points: diagnose_logs, diagnose_host. Pure: facts in, report out. Must not know any single cause.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "facts/facts.h"
#include "facts/login.h"
#include "finding/prediction.h"
#include "finding/report.h"
#include "logs/incident.h"
#include "model/read_log.h"
#include "model/situation.h"

namespace pindown {

struct Policy {
  Need need;
  Severity threshold = Severity::kError;  // a finding at or above it makes a fault
};

/// The machine pindown runs on, as collected.
struct LiveFacts {
  Facts machine;
  std::vector<std::vector<Process>> jobs;       // each a chain: the process first, PID 1 last
  std::vector<std::vector<Process>> daemons;    // the same, for daemons that start jobs
  std::optional<LoginFacts> login;              // what configures limits here, if anything is judged by it
  std::map<std::int64_t, Prediction> sessions;  // by pid: what a session opened now in its way would get
  std::vector<std::int64_t> asked;              // --pid: what the user wants judged
  std::vector<std::int64_t> vanished;           // of those
  std::uint64_t seen = 0;                       // processes looked at
  std::uint64_t denied = 0;                     // of those: whose files or maps were not readable
  std::string hidden;                           // why there may be processes that nobody saw
};

/// Logs, and this machine's facts if they belong to it.
Report diagnose_logs(std::vector<LogInput> logs, const std::optional<LiveFacts>& here, const Policy& policy);
Report diagnose_host(const LiveFacts& live, const Policy& policy);

/// Exit code of a verdict: fault 1, undetermined 2, else 0.
int exit_code(Verdict verdict);

}  // namespace pindown
