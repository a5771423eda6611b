// SPDX-License-Identifier: Apache-2.0
// Events of one or many logs → incidents: what failed first, what merely followed, on how many ranks and hosts, and
// whether the job went on. Entry point: derive_incidents. Pure; decides order and grouping, never causes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "logs/event.h"

namespace pindown::logs {

/// What one host's lines say of its own transport; hosts of one job may differ.
struct HostContext {
  std::optional<bool> relaxed_ordering;
  bool gdr_channels = false;
  bool host_channels = false;
};

/// What the INFO lines around a failure say about the run. One per job log.
struct RunContext {
  std::string nccl_version;  // from the banner
  Event version_event;
  std::optional<bool> relaxed_ordering;  // "[RO]" in NET/IB : Using
  std::map<std::string, HostContext> by_host;
  bool net_ib = false;              // NET/IB in use
  bool gdr_channels = false;        // via NET/IB/n/GDRDMA seen
  bool host_channels = false;       // via NET/IB/n without GDRDMA seen
  std::optional<bool> gdr_enabled;  // GPU Direct RDMA Enabled/Disabled
  bool dmabuf_available = false;
  bool socket_transport = false;     // Using network Socket, tcp
  bool registration_failed = false;  // some rank's, in any incident
  bool init_complete = false;
  std::string plugin;                // aws-ofi-nccl, IBext …
  std::set<std::string> job_inputs;  // inputs in which a library speaks with a host's name: logs of ranks
  std::set<std::string> devices;     // mlx5_0 …
  std::set<std::pair<std::string, std::int64_t>> frozen;  // host and pid that UCX stopped where they failed
  std::set<std::string> launchers;  // "srun", "mpirun", "pyxis", "torque", "docker", "podman", "kubectl" …
  std::vector<Event> commands;  // typed at a prompt between the lines, that start something new; at most 64 of an input
  std::vector<Event> kernel;    // kernel-log lines of the same input, in order
  std::vector<Event> notes;     // context events worth citing (using line, channel line, fallback line), at most 64
};

struct Incident {
  Event first;
  std::vector<Event> same;    // the same failure on other ranks, at most 64 kept
  std::vector<Event> echoes;  // at most 64 kept
  std::uint64_t occurrences = 1;
  std::uint64_t echo_count = 0;
  std::set<std::string> hosts;
  std::set<std::string> ranks;      // "rank 3", from launchers and torch
  std::set<std::string> processes;  // "host:pid", from the libraries' own prefixes
  bool continued = false;
  std::optional<Event> continued_by;  // the line that shows it
  std::optional<Event> rerun;         // the command that was typed after it, and with which it then worked
  std::optional<Event> restarted_by;  // it was not this attempt that went on: the line that tells of a new one
  std::string version_hint;           // "2.28.7-2.29.3", from the banner or the line fingerprint
  bool version_from_banner = false;

  /// Ranks that failed, by whichever of the two names more of them (one line seldom carries both); at least 1.
  std::uint64_t rank_count() const { return std::max<std::uint64_t>({ranks.size(), processes.size(), 1}); }
};

struct LogFindings {
  RunContext context;
  std::vector<Incident> incidents;  // in order of time; the first is the main one
  bool recognised = false;          // anything of a known library was seen
  std::optional<Event> ended_by;    // an exit status, an abort, a warning without work after it: it did not end well
  bool initialised = false;         // an explicit sign that initialisation finished
};

bool same_origin_host(const Event& a, const Event& b);
/// Two lines that may be of one process: nothing that both name differs.
bool same_origin(const Event& a, const Event& b);

LogFindings derive_incidents(std::vector<Event> events, const RunContext& seed = {});

}  // namespace pindown::logs
