// SPDX-License-Identifier: Apache-2.0
// What Slurm makes of a task's limits: slurmd's own, what pam_limits makes of them where UsePAM is set, then the soft
// limit that travels from the submitting shell. Entry points: run_slurm_job, derive_propagation. Pure.
#pragma once

#include <optional>
#include <string>

#include "model/walk.h"

namespace pindown {

/// The shell that ran sbatch, salloc or srun; in a batch script, srun's is the script itself.
struct SlurmSubmission {
  std::optional<std::string> propagate;  // of --propagate; "ALL" where it has no value
  std::optional<Limit> soft;             // bytes; of that shell when it submits
  Source source;                         // where that was read
};

/// Whether the submitting shell's memlock travels, and because of which line; nothing: neither list is known, or Slurm
/// does not accept the one that counts.
struct SlurmPropagation {
  std::optional<bool> travels;
  Source source;
};
/// PropagateResourceLimitsExcept, else PropagateResourceLimits (slurm.conf(5): only one of them counts).
SlurmPropagation derive_propagation(const Fact<std::string>& only, const Fact<std::string>& except);

/// The walk stands at slurmd. Slurm 22.05 to 26.05: slurmstepd opens its PAM session as root before it starts a task
/// (slurmstepd/mgr.c, pam_ses.c); each task sets the soft limit just before exec, as the user: never above the hard
/// limit, and not at all where --propagate asked for more than that (slurmstepd/ulimits.c _set_limit()). Before
/// 21.08.7 (16d1f70822) nothing was cut: more than the hard limit changed nothing.
void run_slurm_job(Walk& walk, const SlurmSubmission& submission);

}  // namespace pindown
