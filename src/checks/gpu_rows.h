// SPDX-License-Identifier: Apache-2.0
// The functions behind the rows of PD4xx (table: gpu.cc), all in gpu_memory.cc. No other user.
#pragma once

#include "checks/check.h"

namespace pindown::gpu {

Outcome peer_memory_missing(const Situation& s);        // PD401
Outcome bar1_too_small(const Situation& s);             // PD402
Outcome vmm_not_registrable(const Situation& s);        // PD403
Outcome dmabuf_unsupported(const Situation& s);         // PD404
Outcome relaxed_ordering_rejected(const Situation& s);  // PD405

}  // namespace pindown::gpu
