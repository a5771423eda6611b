// SPDX-License-Identifier: Apache-2.0
// What a new session will get, as plain data, and its JSON (schema pindown.predict/1, normative). Passive data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "finding/report.h"
#include "finding/report_json.h"

namespace pindown {

struct Prediction {
  std::string entry;  // "ssh", "service:slurmd"
  std::string user;
  std::optional<Limit> soft, hard;   // empty: unknown, with the reason in `unknown`
  std::optional<bool> cap_ipc_lock;  // usable for registration
  Evidence decided_by;               // what set the soft limit; empty source: nothing known did
  std::vector<TrailLink> links;      // from the daemon down to the session
  bool refused = false;              // the session itself would be refused
  std::string refused_why;
  std::vector<std::string> unknown;  // one line each: what is missing for a full answer
  std::vector<std::string> assumed;  // what was not read, but taken from the release; another value would change it
};

/// Name of the link of a session whose PAM stack reaches no pam_limits: "PAM without pam_limits (sshd)".
constexpr std::string_view kPamWithoutLimits = "PAM without pam_limits";

Json to_json(const Prediction& prediction);

}  // namespace pindown
