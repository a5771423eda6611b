// SPDX-License-Identifier: Apache-2.0
// PD9xx: what pindown has to say about itself and its input. These rows are pages; the command that reads the input
// makes the findings, because no situation exists where they apply. Entry point: self_checks.
#include "checks/check.h"

namespace pindown {
namespace {

constexpr Check kTable[] = {
    {"PD901",
     "input-not-recognised",
     Severity::kWarning,
     "nothing in this input is known to pindown",
     {"The input was read, but no line of a known library and no known fact was found in it. Nothing can be said about "
      "it, good or bad: the verdict is undetermined.",
      "pindown judges only what it recognises: log lines of NCCL, RCCL, UCX, libfabric, Open MPI, libibverbs and "
      "others, kernel lines, pasted command output, manifests and descriptions of containers. Silence about "
      "anything else would look like health.",
      "No event and no fact from the whole input.",
      "Give the log of a rank that failed, with the libraries talking, or check the machine or process itself:\n\n   "
      " export NCCL_DEBUG=INFO UCX_LOG_LEVEL=info FI_LOG_LEVEL=warn\n    pindown check\n    pindown check --pid "
      "\"$PID\"",
      "The file has nothing to do with RDMA and was given by mistake."},
     nullptr},
    {"PD902",
     "fact-unreadable",
     Severity::kWarning,
     "a fact that matters could not be read",
     {"Something that would decide the question could not be read: permission was refused, the process was gone, or "
      "the input does not hold it. It is listed as unknown; pindown does not guess.",
      "Other users' /proc/PID/fd, maps, environ and ns need ptrace access (proc(5)); hidepid hides whole processes; a "
      "--root directory or a log holds only what was recorded.",
      "A read that failed, with its path and reason. A file that is simply absent on a live machine counts as a fact "
      "of its own.",
      "Run as root or as the owner of the process, or record the missing file:\n\n    pindown check --pid "
      "\"$PID\"",
      "The fact belongs to a finding that you do not care about."},
     nullptr},
    {"PD903",
     "archive-malformed",
     Severity::kWarning,
     "an archive is truncated, too large or hostile",
     {"The archive could not be used, or not all of it. What was read before that point is judged; the rest is "
      "unknown.",
      "Archives come from strangers. pindown reads them in memory, never unpacks to disk, and stops at entries that "
      "leave the tree (.. or absolute paths), at caps on sizes and counts, and where the data ends before its time.",
      "An error of the archive reader, a cap that was reached, or a path that points outside.",
      "Make the archive again and check that the transfer was complete:\n\n    tar -tf sosreport.tar.xz "
      ">/dev/null",
      "The report names what was skipped and it does not matter."},
     nullptr},
    {"PD904",
     "fix-pending",
     Severity::kWarning,
     "an applied fix waits for a reboot, a new login or a new pod",
     {"The configuration is right now, but what runs was started before. It keeps its old limit until it is started "
      "anew.",
      "A process keeps the limits it was born with: limits.conf acts at the next session, LimitMEMLOCK at the next "
      "start of the unit, and a pod keeps the shim that its sandbox was started with, over restarts of containerd. "
      "Kernel parameters need a reboot.",
      "The journal of applied fixes against the start times and limits of what runs now.",
      "Do what the fix is waiting for, or raise the limit of the running process for now:\n\n    prlimit "
      "--memlock=unlimited:unlimited --pid \"$PID\"",
      "A maintenance window for it is planned."},
     nullptr},
    {"PD905",
     "nothing-registers-memory",
     Severity::kNote,
     "no RDMA device and no RDMA library in use: nothing to judge",
     {"This machine has no RDMA device and nothing running uses an RDMA library. The locked-memory limit does not "
      "matter for registration here, whatever it is.",
      "Registration goes through /dev/infiniband/uverbs*; without a device in /sys/class/infiniband there is none. "
      "Other users of locked memory (io_uring, mlock) have other accounts: see PD707.",
      "An empty or absent /sys/class/infiniband, no process with a verbs device open and none with NCCL or RCCL "
      "mapped.",
      "Nothing to fix. If a device was expected, look for the hardware and its driver:\n\n    lspci | grep -i -e "
      "mellanox -e infiniband -e 'elastic fabric'\n    rdma link show",
      "The machine is not meant to have RDMA."},
     nullptr},
};
static_assert(all_well_formed(kTable));

}  // namespace

std::span<const Check> self_checks() {
  return kTable;
}

}  // namespace pindown
