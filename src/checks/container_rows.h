// SPDX-License-Identifier: Apache-2.0
// The functions behind the rows of PD3xx (table: container.cc) and what they share: which run line, container and pod
// is meant, and the remedies for a runtime daemon. No other user.
#pragma once

#include <string>

#include "checks/check.h"

namespace pindown::container {

Outcome container_inherits(const Situation& s);      // PD301, container_limit.cc
Outcome wrong_unit(const Situation& s);              // PD302, container_limit.cc
Outcome ulimit_refused(const Situation& s);          // PD303, container_limit.cc
Outcome pod_route(const Situation& s);               // PD304, container_limit.cc
Outcome ipc_lock_not_effective(const Situation& s);  // PD305, container_capability.cc
Outcome user_namespace(const Situation& s);          // PD306, container_capability.cc
Outcome admission_forbids(const Situation& s);       // PD307, container_capability.cc
Outcome shim_older(const Situation& s);              // PD308, container_limit.cc
Outcome device_absent(const Situation& s);           // PD309, container_device.cc
Outcome privilege_denied(const Situation& s);        // PD310, container_device.cc
Outcome lsm_denies(const Situation& s);              // PD311, container_capability.cc

/// The run line that started the failing container: the nearest one above the failure, else the first one known; null
/// if there is none of docker, podman or nerdctl.
const ContainerCommand* run_command(const Situation& s);

/// What kind of container a live process is in: from its cgroup path, else from the processes above it.
enum class Boxed { kNo, kEngine, kPodman, kPod };
Boxed boxed(const Situation& s);

/// "the memlock limit is unlimited (train.log:3)": why limit_cleared() holds.
std::string cleared_reason(const Situation& s);
/// "8 MiB", or words where the limit is not known.
std::string limit_words(const Situation& s);
/// The command that shows limit and capabilities inside the pod, or inside POD if the log names none.
std::string pod_command(const Situation& s);

Remedy containerd_limit(std::string_view after);
/// For rootless engines: the user's own hard limit on the host.
Remedy user_hard_limit();

}  // namespace pindown::container
