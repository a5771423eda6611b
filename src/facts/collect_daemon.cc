// SPDX-License-Identifier: Apache-2.0
// By which names daemons that start jobs are known. Entry point: job_daemon_name; another daemon = another row.
// Must not: read anything. A name is a hint: anybody may call a program "sshd".
#include <algorithm>

#include "base/text.h"
#include "facts/collect.h"

namespace pindown {
namespace {

struct DaemonName {
  std::string_view comm;
  std::string_view name;
  bool prefix = false;
};
// comm is cut at 15 bytes (TASK_COMM_LEN, include/linux/sched.h).
constexpr DaemonName kDaemons[] = {
    {"slurmd", "slurmd"},
    {"containerd", "containerd"},
    {"dockerd", "docker"},
    {"crio", "crio"},
    {"pbs_mom", "pbs_mom"},
    {"raylet", "raylet"},
    {"condor_master", "condor"},
    {"condor_startd", "condor"},
    {"flux-broker", "flux", true},
    {"sge_execd", "sge_execd"},
    {"sbatchd", "lsfd"},
    {"orted", "orted"},
    {"prted", "prted"},
    {"hydra_pmi_proxy", "hydra"},
    {"incusd", "incus"},
    {"lxd", "lxd"},
};

/// The listener, not a session of it. Sessions have the title "sshd: alice [priv]" or "sshd: alice@pts/0"; the listener
/// has its command line, or since OpenSSH 8.2 "sshd: /usr/sbin/sshd -D [listener] 0 of 10-100 startups" (sshd.c,
/// session.c).
bool is_sshd_session(std::string_view cmdline) {
  if (cmdline.starts_with("sshd: ")) return !contains(cmdline, "[listener]");
  const auto words = split_blanks(cmdline);
  // -R: re-executed for one connection; -i: started by inetd or a socket unit for one.
  return std::any_of(words.begin(), words.end(), [](auto word) { return word == "-R" || word == "-i"; });
}

}  // namespace

std::string_view job_daemon_name(std::string_view comm, std::string_view cmdline) {
  if (comm == "sshd") return is_sshd_session(cmdline) ? std::string_view{} : "sshd";
  for (const auto& daemon : kDaemons) {
    if (daemon.prefix ? comm.starts_with(daemon.comm) : comm == daemon.comm) return daemon.name;
  }
  return {};
}

}  // namespace pindown
