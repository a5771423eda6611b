// SPDX-License-Identifier: Apache-2.0
// PD8xx: what only shows when many nodes' reports lie side by side. These rows are pages; the merge of reports makes
// the findings, no single situation can. Entry point: fleet_checks.
#include "checks/check.h"

namespace pindown {
namespace {

constexpr Check kTable[] = {
    {"PD801",
     "limit-differs",
     Severity::kWarning,
     "nodes of one role have different locked-memory limits",
     {"Most nodes of a role give a session the same locked-memory limit; some give another. A job that spans them "
      "fails only when one of the odd nodes is part of it.",
      "The limit of a rank is made on its own node: by PAM and sshd, by slurmd or by the container runtime, each with "
      "its own configuration, start time and package version. A node that was reinstalled, or a daemon that was not "
      "restarted after a change, keeps the old value.",
      "The effective soft and hard limits per entry point in the nodes' reports: the value that the majority has is "
      "the norm, every other node is named.",
      "Look at one odd node with the others in mind, fix what its own report names, then sweep again:\n\n    pindown "
      "check\n    pindown predict --via ssh\n    pindown predict --via slurm",
      "The nodes are of different roles on purpose: sweep each role by itself."},
     nullptr},
    {"PD802",
     "version-differs",
     Severity::kWarning,
     "nodes differ in NCCL, driver, firmware, rdma-core or kernel",
     {"Some nodes run other versions than the rest. That explains failures that come and go with the nodes a job gets.",
      "Known cases: NCCL and its plugins of different ages on the ranks of one job, firmware that refuses queues that "
      "its neighbour makes, a kernel that switches kexec handover on (PD601), an image whose rdma-core does not fit "
      "one node's driver (PD509).",
      "The versions in the facts of the nodes' reports: kernel, distribution, rdma-core, NCCL, UCX, libfabric, NVIDIA "
      "driver, mlx5 firmware by device.",
      "Bring the odd nodes to the version of the majority, or take them out of the partition until then:\n\n    "
      "uname -r\n    ibv_devinfo | grep -e hca_id -e fw_ver",
      "A rolling upgrade is under way and the difference is known."},
     nullptr},
    {"PD803",
     "node-missing",
     Severity::kError,
     "a node of the expected set did not report",
     {"A node that was expected sent no report. Nothing is known about it; it must not be taken for healthy.",
      "Collection over ssh, srun or a DaemonSet silently skips nodes that are down, drained or do not accept the "
      "connection.",
      "The list of expected nodes against the hosts that the reports name.",
      "Reach the node, run the check there and merge again:\n\n    pindown check --format json",
      "The node was taken out of service on purpose."},
     nullptr},
};
static_assert(all_well_formed(kTable));

}  // namespace

std::span<const Check> fleet_checks() {
  return kTable;
}

}  // namespace pindown
