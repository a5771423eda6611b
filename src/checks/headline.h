// SPDX-License-Identifier: Apache-2.0
// The one line of at most 80 columns that is a verdict by itself, and the sentence below it. Pure.
#pragma once

#include "finding/report.h"
#include "logs/incident.h"

namespace pindown {

/// Fills report.headline and report.statement; `incident` is the main one of a log, or null.
void write_headline(Report& report, const logs::Incident* incident);

}  // namespace pindown
