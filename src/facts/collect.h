// SPDX-License-Identifier: Apache-2.0
// Host → facts: the only place above host/ that knows which files to read. Nothing is judged here; what cannot be read
// is recorded with the reason.
#pragma once

#include <cstdint>
#include <vector>

#include "facts/facts.h"
#include "host/host.h"

namespace pindown {

/// Machine-wide facts: kernel, cmdline, meminfo, sysctls, modules, RDMA devices in sysfs, distribution, buddyinfo,
/// kernel log (live).
Facts collect_machine(const Host& host);

/// One process, everything `check --pid` judges. A vanished process has Missing::kVanished in memlock and no ppid.
Process collect_process(const Host& host, std::int64_t pid);

/// The chain from `pid` up to PID 1: pid first. Stops at a missing parent; at most 128 long (a loop cannot be endless).
std::vector<Process> collect_ancestors(const Host& host, const Process& process);

/// Every process that has /dev/infiniband/* open or NCCL/RCCL mapped, and every daemon that starts jobs
/// (ProcessKind::kDaemon). `denied` counts processes whose fds or maps could not be read.
struct ProcessScan {
  std::vector<Process> jobs;
  std::vector<Process> daemons;
  std::uint64_t seen = 0;
  std::uint64_t denied = 0;
  std::string hidden;  // why processes may be missing from all of this; empty: none is
};
ProcessScan collect_processes(const Host& host);

/// Names by which daemons that start jobs are known (comm, 15 bytes): sshd, slurmd, containerd, dockerd, crio, pbs_mom,
/// raylet, condor_master, condor_startd, flux-broker-0 … Returns a unit or service name, empty if `comm` is none of
/// them.
std::string_view job_daemon_name(std::string_view comm, std::string_view cmdline);

}  // namespace pindown
