// SPDX-License-Identifier: Apache-2.0
// Whether the job went on after a failure: itself, or in a later attempt. Entry point: decide_continued. Pure.
#pragma once

#include <vector>

#include "logs/incident.h"
#include "logs/incident_parts.h"

namespace pindown::logs {

void decide_continued(LogFindings& log, const std::vector<Event>& events, const Attempts& attempts);

}  // namespace pindown::logs
