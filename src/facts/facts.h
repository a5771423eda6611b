// SPDX-License-Identifier: Apache-2.0
// Everything pindown can know about a machine and its processes, as plain data with sources. The same structs are
// filled from a live /proc (facts/collect) and from what people paste between log lines (facts/paste), so checks do not
// care. Sizes are bytes. Every map key and string is raw text from outside: escape before showing.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/size.h"
#include "facts/fact.h"

namespace pindown {

/// One resource limit as setrlimit(2) has it. From `ulimit -l` only soft is known.
struct MemlockLimit {
  std::optional<Limit> soft;
  std::optional<Limit> hard;
};

/// The Cap* lines of /proc/PID/status, capabilities(7). Bit 14 is CAP_IPC_LOCK, bit 24 CAP_SYS_RESOURCE.
struct CapabilitySets {
  std::optional<std::uint64_t> inheritable, permitted, effective, bounding, ambient;
};
constexpr int kCapIpcLock = 14;
constexpr int kCapSysResource = 24;
constexpr bool has_cap(std::uint64_t set, int bit) {
  return (set >> bit) & 1U;
}

/// Whose fact it is, as far as is known. A pasted line without any prefix has all of it empty.
struct Where {
  std::string host;
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> rank;
  friend bool operator==(const Where&, const Where&) = default;
};

enum class ProcessKind {
  kUnknown,
  kJob,        // the failing job itself, or printed by it (same launcher prefix as its ranks)
  kShell,      // somebody's interactive shell (a pasted `$ ulimit -l`): may differ from the job
  kContainer,  // inside a container (prompt root@7d41c0a9be12, `docker exec`, /proc/1 there)
  kDaemon,     // sshd, slurmd, containerd … whose children start jobs
};

/// A process, or whatever printed the limits in a log. Anything not known stays Fact::missing.
struct Process {
  ProcessKind kind = ProcessKind::kUnknown;
  Where where;
  std::string target;                       // of `docker exec`: the container as written; of `kubectl exec`: "pod/NAME"
  bool of_several = false;                  // one of differing answers of which nothing says whose each is
  std::optional<std::int64_t> wrapper_pid;  // "train.sh[4411]:", "(Actor pid=12)": who printed it, not whose it is
  std::string comm;                         // /proc/PID/comm, or the name in the paste; empty if unknown
  std::string cmdline;                      // arguments joined by blanks, at most 200 bytes
  std::string user;                         // name, or the uid as text
  std::optional<std::int64_t> ppid;
  std::optional<std::uint64_t> start_ticks;  // field 22 of /proc/PID/stat
  std::string cgroup;                        // the unified or systemd path of /proc/PID/cgroup
  Fact<MemlockLimit> memlock;
  Fact<CapabilitySets> caps;
  Fact<std::uint32_t> euid;
  Fact<bool> no_new_privs;
  Fact<bool> initial_userns;  // user namespace is the machine's first one: capabilities count for registration
  Fact<std::uint64_t> vm_pin;
  Fact<std::uint64_t> vm_lck;
  Fact<std::uint64_t> map_count;                 // lines of /proc/PID/maps
  Fact<std::vector<std::string>> verbs_open;     // /dev/infiniband/* held open
  Fact<std::string> nccl_mapped;                 // path of libnccl/librccl in maps
  std::map<std::string, Fact<std::string>> env;  // only NCCL_/UCX_/FI_/RDMAV_/IBV_/PYTORCH_*ALLOC_CONF
  std::vector<std::string> problems;             // "cannot read /proc/4242/environ: permission denied"
};

/// One row of a port's GID table.
struct GidEntry {
  std::uint64_t port = 0, index = 0;  // port 0: not said
  std::string gid;                    // as printed
  std::string ipv4;                   // empty: the GID has none
  int roce_version = 0;               // 1 or 2; 0: InfiniBand, or not said
  Source source;
};

/// One RDMA device as ibv_devinfo, sysfs or `rdma resource` describe it.
struct RdmaDevice {
  std::string name;
  std::string host;              // as Source::host: two machines each have an mlx5_0
  Fact<std::string> state;       // "PORT_ACTIVE", "ACTIVE"
  Fact<std::string> link_layer;  // "InfiniBand", "Ethernet"
  Fact<std::string> firmware;
  Fact<std::uint64_t> max_mr_size, max_mr, max_qp, max_cq;
  Fact<std::uint64_t> mr_count, qp_count, cq_count;          // rdma resource show
  Fact<std::uint64_t> cg_max_handle, cg_max_object;          // rdma.max; missing entry = "max"
  Fact<std::uint64_t> cg_current_handle, cg_current_object;  // rdma.current
  std::vector<GidEntry> gids;                                // as listed: a listing leaves out empty entries
};

/// One NVIDIA or AMD GPU as nvidia-smi prints it. Bytes.
struct Gpu {
  int index = 0;
  std::string host;  // as Source::host
  Fact<std::string> product;
  Fact<std::uint64_t> bar1_total, bar1_used, bar1_free;
};

/// A non-comment line of limits.conf(5), not judged.
struct LimitsConfLine {
  std::string domain, type, item, value;
  Source source;
};

/// `systemctl show UNIT`: LimitMEMLOCK is the hard limit there, LimitMEMLOCKSoft the soft one (systemd 229+).
struct UnitLimit {
  std::string unit;  // "docker.service"; a bare name gets ".service"
  MemlockLimit memlock;
  Source source;
  std::optional<bool> newer_than_service;  // the file of the line was written after the service was last started
};

/// A `docker run`, `podman run`, `nerdctl run` … line.
struct ContainerCommand {
  std::string engine;  // "docker", "podman", "nerdctl", "apptainer", "srun" (for --container-image)
  std::optional<MemlockLimit> ulimit_memlock;
  bool privileged = false;
  bool ipc_lock = false;           // --cap-add IPC_LOCK or ALL
  bool infiniband_device = false;  // --device /dev/infiniband…
  bool cap_drop_all = false;
  std::string user;     // --user
  std::string image;    // as written, at most 200 bytes
  std::string command;  // first words of what runs inside, at most 120 bytes
  std::string shm_size;
  Source source;
};

/// A line of `ls -l /dev/infiniband`, or the error of it; also the error of looking at /sys/kernel/mm/memory_peers.
struct DeviceNode {
  std::string path;   // "/dev/infiniband/uverbs0"
  std::string mode;   // "crw-rw-rw-"; empty when the look-up itself failed
  std::string error;  // "No such file or directory"
  Source source;
};

/// A line of /proc/PID/maps that somebody showed, proc(5).
struct Mapping {
  std::uint64_t start = 0, end = 0;
  std::string permissions;  // "r--s"
  std::string path;         // empty: anonymous
  Source source;
};

/// `ulimit -l N` and its relatives in a script's trace or at a prompt. It holds for what that shell starts afterwards.
struct LimitSetting {
  Where where;
  ProcessKind kind = ProcessKind::kUnknown;
  Limit value;
  bool soft = true, hard = true;  // which of the two it sets
  bool refused = false;           // "cannot modify limit" followed
  Source source;
};

struct Meminfo {
  std::map<std::string, std::uint64_t> bytes;  // by the name in /proc/meminfo; HugePages_* are counts, not bytes
  std::map<std::string, Source> source;
};

/// A machine: everything not tied to one process.
struct Facts {
  std::string host;           // host name if known
  Fact<std::string> kernel;   // uname -r
  Fact<std::string> arch;     // uname -m
  Fact<std::string> distro;   // PRETTY_NAME
  Fact<std::string> cmdline;  // /proc/cmdline
  Fact<bool> inside_container;
  Meminfo meminfo;
  std::map<std::string, Fact<std::string>> sysctl;  // "vm.max_map_count"
  std::map<std::string, Fact<bool>> modules;        // loaded (true) or shown not to be (false); '-' becomes '_'
  Fact<bool> modules_complete;                      // a whole lsmod was seen: an absent module is not loaded
  std::map<std::string, Fact<std::string>>
      versions;                      // "nccl", "rdma_core", "nvidia_driver", "efa_installer", "aws_ofi_nccl", "ofed" …
  Fact<std::string> nvidia_license;  // modinfo nvidia: "Dual MIT/GPL" = open modules, "NVIDIA" = proprietary
  std::vector<Gpu> gpus;
  std::map<std::string, RdmaDevice> devices;                 // by name; by "host/name" where the host is known
  Fact<bool> rdma_present;                                   // /sys/class/infiniband has a device
  std::map<std::string, Fact<std::uint64_t>> hugetlb_limit;  // "2MB" -> bytes allowed in this cgroup
  Fact<std::string> buddyinfo;
  Fact<bool> sshd_usepam;  // sshd -T or the config line
  std::vector<LimitsConfLine> limits_conf;
  std::string limits_conf_unread;  // a file of limits.conf or limits.d that could not be read; empty: none
  std::vector<UnitLimit> units;
  std::map<std::string, Fact<std::string>> slurm_conf;  // scontrol show config: "PropagateResourceLimitsExcept" …
  std::vector<ContainerCommand> containers;
  std::map<std::string, Source> launchers;  // "slurm", "kubectl": a typed command or a manifest shows it
  Fact<bool> pod_privileged;                // "privileged: true" of a securityContext
  std::set<std::string> pod_namespaces;     // `kubectl -n NS …` on one pod, as typed
  std::vector<DeviceNode> device_nodes;
  std::map<std::string, Fact<std::string>> env;  // env/export lines not tied to a known process
  Fact<std::vector<std::string>> kernel_log;     // live only: lines that name RDMA, NVRM, oom
  std::vector<Process> processes;
  std::vector<LimitSetting> limit_lines;          // of files that are shown: start-up files, job scripts, sudoers
  std::vector<LimitSetting> limit_settings;       // in the order of the input
  std::map<std::int64_t, std::string> pid_names;  // from ps and pgrep: pid → program
  std::vector<Mapping> mappings;
  std::vector<std::string> problems;  // one line each: what could not be read and why
  bool read_as_root = false;          // whoever read this machine had uid 0: a refusal is not cured by sudo
};

/// Takes from `other` what `facts` does not know. Processes and lists are appended.
void merge_facts(Facts& facts, const Facts& other);
/// Takes from `other` what `device` does not know.
void merge_device(RdmaDevice& device, const RdmaDevice& other);
/// The process that `where` names exactly, made if there is none.
Process& process_at(Facts& facts, const Where& where);

}  // namespace pindown
