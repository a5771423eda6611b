// SPDX-License-Identifier: Apache-2.0
// What the sessions that live processes run in would get if they were opened now, in the same way. Entry point:
// predict_sessions.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "facts/facts.h"
#include "finding/prediction.h"
#include "host/host.h"

namespace pindown::cli {

bool is_limited(const Process& process);

/// By pid of the first process of each chain; only where the process is limited, because nothing else is asked about.
std::map<std::int64_t, Prediction> predict_sessions(const Host& host, const std::vector<std::vector<Process>>& chains);

}  // namespace pindown::cli
