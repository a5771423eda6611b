// SPDX-License-Identifier: Apache-2.0
// Which of the known processes, limits and capabilities belong to a failure: the views a Situation carries. Pure.
#pragma once

#include <vector>

#include "model/situation.h"

namespace pindown {

/// The process the log's facts describe that is (or stands for) the failing one; null if there is none.
const Process* process_of_incident(const logs::Incident& incident, const logs::RunContext& run, const Facts& facts);
/// The facts without those of another machine than the failing one (a login node's lsmod, a laptop's sshd).
Facts facts_of(const logs::Incident& incident, const Facts& facts);
LimitView derive_limit(const logs::Incident& incident, const logs::RunContext& run, const Process* process,
                       const Facts& facts);
/// What the failing process itself is shown to pin: its VmPin, or what its library counts.
PinView derive_pin(const logs::Incident& incident, const logs::RunContext& run, const Facts& facts);
CapabilityView derive_capability(const Process* process, const Facts& facts);

Situation incident_situation(const logs::Incident& incident, const logs::RunContext& run, const Facts& facts,
                             const Need& need);
Situation process_situation(const Process& process, const Trail& trail, const Facts& facts, const Need& need,
                            bool daemon);
Situation machine_situation(const Facts& facts, const Need& need);

}  // namespace pindown
