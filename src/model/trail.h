// SPDX-License-Identifier: Apache-2.0
// Who set the limit: the chain of processes from PID 1 down to the subject, with the link where the value changed and,
// where the process itself tells (unit cgroup, comm), what kind of link that is. Entry point: derive_trail. Pure.
#pragma once

#include <vector>

#include "facts/facts.h"
#include "facts/unit_file.h"
#include "finding/report.h"

namespace pindown {

/// `chain` is subject first, PID 1 last (facts/collect). set_here marks the link where the soft limit differs from its
/// parent's; a link whose limits could not be read has no soft/hard and never sets anything.
Trail derive_trail(const std::vector<Process>& chain);

/// Gives the links that are services the configuration line that explains their limit, or says that the file names
/// another value by now.
void annotate_trail(Trail& trail, const std::vector<UnitFile>& units, const ManagerConf& manager);

/// The index in `trail.links` nearest to the subject where the soft limit was lowered from a higher ancestor's, or -1.
int lowered_at(const Trail& trail);
/// The nearest link whose set_here is true, or 0 (PID 1) if the value is the same all the way; -1 if unknown.
int set_at(const Trail& trail);

}  // namespace pindown
