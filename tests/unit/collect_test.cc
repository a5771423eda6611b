// SPDX-License-Identifier: Apache-2.0
// Host → facts, on trees in memory: what is read, where each fact says it is from, and what is said when a file is
// absent, refused, malformed or gone half-way. Nothing is read from the build machine.
#include "facts/collect.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "facts/collect_detail.h"

namespace pindown {
namespace {

using namespace std::string_literals;

std::string limits_text(std::string_view soft, std::string_view hard) {
  return fmt::format(
      "Limit                     Soft Limit           Hard Limit           Units     \n"
      "Max locked memory         {:<20} {:<20} bytes     \n",
      soft, hard);
}

struct FakeProcess {
  std::int64_t pid = 0;
  std::int64_t ppid = 1;
  std::string comm;
  std::string cmdline;
  std::uint64_t start = 1000;
  std::string soft = "8388608";
  std::uint32_t uid = 1000;
  std::string cap_eff = "0000000000000000";
  std::uint64_t flags = 0x400000;
  char state = 'S';
  int threads = 1;
  std::string maps = "00400000-00452000 r-xp 00000000 08:02 173521 /usr/bin/dbus\n";
  std::string cgroup = "0::/user.slice/user-1000.slice/session-3.scope\n";
  std::string environ_text;
  std::vector<std::string> fds;
};

void put(MemoryTree& tree, const FakeProcess& p) {
  const std::string dir = fmt::format("/proc/{}", p.pid);
  tree.files[dir + "/stat"] = fmt::format("{} ({}) {} {} 1 1 0 -1 {} 0 0 0 0 0 0 0 0 20 0 {} 0 {} 0 0\n", p.pid, p.comm,
                                          p.state, p.ppid, p.flags, p.threads, p.start);
  tree.files[dir + "/status"] = fmt::format(
      "Name:\t{}\nPPid:\t{}\nUid:\t{}\t{}\t0\t0\nVmLck:\t       4 kB\nVmPin:\t    5248 kB\nCapInh:\t0000000000000000\n"
      "CapPrm:\t{}\nCapEff:\t{}\nCapBnd:\t000001ffffffffff\nCapAmb:\t0000000000000000\nNoNewPrivs:\t0\n",
      p.comm, p.ppid, p.uid, p.uid, p.cap_eff, p.cap_eff);
  tree.files[dir + "/limits"] = limits_text(p.soft, "unlimited");
  tree.files[dir + "/cmdline"] = p.cmdline;
  tree.files[dir + "/cgroup"] = p.cgroup;
  tree.files[dir + "/maps"] = p.maps;
  tree.files[dir + "/environ"] = p.environ_text;
  tree.files[dir + "/uid_map"] = "         0          0 4294967295\n";
  tree.links[dir + "/ns/user"] = "user:[4026531837]";
  tree.files[dir + "/fd/"] = "";
  for (std::size_t i = 0; i < p.fds.size(); ++i) tree.links[fmt::format("{}/fd/{}", dir, i)] = p.fds[i];
}

FakeProcess train() {
  FakeProcess p;
  p.pid = 4242;
  p.ppid = 4101;
  p.comm = "python3";
  p.cmdline = "python3\0train.py\0"s;
  p.start = 900;
  p.maps += "7f0000000000-7f0000001000 r-xp 00000000 08:02 99 /opt/nccl/libnccl.so.2\n";
  p.environ_text = "HOME=/home/alice\0NCCL_DEBUG=INFO\0SECRET=x\0"s;
  p.fds = {"/dev/null", "/dev/infiniband/uverbs0", "socket:[1]", "/dev/infiniband/uverbs0", "/dev/infiniband/uverbs1"};
  return p;
}

MemoryTree with(std::vector<FakeProcess> processes) {
  MemoryTree tree;
  tree.files["/etc/passwd"] = "root:x:0:0:root:/root:/bin/sh\nbroken\nalice:x:1000:1000::/home/alice:/bin/bash\n";
  for (const auto& p : processes) put(tree, p);
  return tree;
}

bool has_problem(const std::vector<std::string>& problems, const std::string& line) {
  return std::find(problems.begin(), problems.end(), line) != problems.end();
}

TEST(CollectProcess, EverythingWithItsSource) {
  const auto host = make_memory_host(with({train()}));
  const Process p = collect_process(*host, 4242);
  EXPECT_EQ(p.kind, ProcessKind::kJob);
  EXPECT_EQ(p.where.pid, 4242);
  EXPECT_EQ(p.comm, "python3");
  EXPECT_EQ(p.cmdline, "python3 train.py");
  EXPECT_EQ(p.user, "alice");
  EXPECT_EQ(p.ppid, 4101);
  EXPECT_EQ(p.start_ticks, 900U);
  EXPECT_EQ(p.cgroup, "/user.slice/user-1000.slice/session-3.scope");
  ASSERT_TRUE(p.memlock);
  EXPECT_EQ(p.memlock->soft, Limit{8388608});
  EXPECT_EQ(p.memlock->hard, Limit::unlimited());
  EXPECT_EQ(p.memlock.source.path, "/proc/4242/limits");
  EXPECT_TRUE(p.memlock.source.text.starts_with("Max locked memory         8388608"));
  EXPECT_EQ(*p.vm_pin, 5248U * 1024);
  EXPECT_EQ(p.vm_pin.source.text, "VmPin:\t    5248 kB");
  EXPECT_EQ(*p.vm_lck, 4096U);
  EXPECT_EQ(p.caps->effective, 0U);
  EXPECT_EQ(p.caps.source.text, "CapEff:\t0000000000000000");
  EXPECT_EQ(*p.euid, 1000U);
  EXPECT_FALSE(*p.no_new_privs);
  EXPECT_TRUE(*p.initial_userns);
  EXPECT_EQ(p.initial_userns.source.text, "user:[4026531837]");
  EXPECT_EQ(*p.map_count, 2U);
  EXPECT_EQ(*p.nccl_mapped, "/opt/nccl/libnccl.so.2");
  EXPECT_EQ(*p.verbs_open, (std::vector<std::string>{"/dev/infiniband/uverbs0", "/dev/infiniband/uverbs1"}));
  EXPECT_EQ(p.verbs_open.source.path, "/proc/4242/fd/1");
  ASSERT_EQ(p.env.size(), 1U);
  EXPECT_EQ(*p.env.at("NCCL_DEBUG"), "INFO");
  EXPECT_EQ(p.env.at("NCCL_DEBUG").source.text, "NCCL_DEBUG=INFO");
  EXPECT_TRUE(p.problems.empty());
}

TEST(CollectProcess, WhatIsRefusedIsSaid) {
  auto tree = with({train()});
  tree.denied = {"/proc/4242/environ", "/proc/4242/ns/user", "/proc/4242/uid_map", "/proc/4242/fd", "/proc/4242/maps"};
  const Process p = collect_process(*make_memory_host(tree), 4242);
  EXPECT_TRUE(p.memlock);
  EXPECT_TRUE(p.caps);
  EXPECT_EQ(p.initial_userns.missing, Missing::kDenied);
  EXPECT_EQ(p.map_count.missing, Missing::kDenied);
  EXPECT_EQ(p.nccl_mapped.missing, Missing::kDenied);
  EXPECT_EQ(p.verbs_open.missing, Missing::kDenied);
  EXPECT_TRUE(p.env.empty());
  for (const char* name : {"environ", "ns/user", "fd", "maps"}) {
    EXPECT_TRUE(has_problem(p.problems, fmt::format("cannot read /proc/4242/{}: permission denied", name))) << name;
  }
  EXPECT_EQ(p.problems.size(), 4U);
}

TEST(CollectProcess, UidMapStandsInForTheLink) {
  auto tree = with({train()});
  tree.denied = {"/proc/4242/ns/user"};
  Process p = collect_process(*make_memory_host(tree), 4242);
  EXPECT_EQ(p.initial_userns.value, true);
  EXPECT_EQ(p.initial_userns.source.path, "/proc/4242/uid_map");
  EXPECT_TRUE(p.problems.empty());
  tree.files["/proc/4242/uid_map"] = "0 1000 1\n";
  p = collect_process(*make_memory_host(tree), 4242);
  EXPECT_EQ(p.initial_userns.value, false);
  tree.links["/proc/4242/ns/user"] = "user:[4026532999]";
  tree.denied.clear();
  p = collect_process(*make_memory_host(tree), 4242);
  EXPECT_EQ(p.initial_userns.value, false);
  EXPECT_EQ(p.initial_userns.source.path, "/proc/4242/ns/user");
}

TEST(CollectProcess, NothingMappedIsAbsentNotUnknown) {
  FakeProcess plain = train();
  plain.maps = "00400000-00452000 r-xp 00000000 08:02 173521 /usr/bin/dbus\n";
  plain.fds = {"/dev/null"};
  const Process p = collect_process(*make_memory_host(with({plain})), 4242);
  EXPECT_EQ(p.kind, ProcessKind::kUnknown);
  EXPECT_FALSE(p.nccl_mapped.known());
  EXPECT_EQ(p.nccl_mapped.missing, Missing::kAbsent);
  ASSERT_TRUE(p.verbs_open);
  EXPECT_TRUE(p.verbs_open->empty());
}

TEST(CollectProcess, OddLimits) {
  auto tree = with({train()});
  tree.files["/proc/4242/limits"] = "Max locked memory  lots  lots bytes\n";
  EXPECT_EQ(collect_process(*make_memory_host(tree), 4242).memlock.missing, Missing::kMalformed);
  tree.files.erase("/proc/4242/limits");
  const Process unrecorded = collect_process(*make_memory_host(tree), 4242);
  EXPECT_EQ(unrecorded.memlock.missing, Missing::kAbsent);
  EXPECT_EQ(unrecorded.ppid, 4101);
  tree.files["/proc/4242/limits"] = "";  // it ended between open and read
  const Process ended = collect_process(*make_memory_host(tree), 4242);
  EXPECT_EQ(ended.memlock.missing, Missing::kVanished);
  EXPECT_FALSE(ended.ppid);
}

TEST(CollectProcess, AZombieHasEnded) {
  FakeProcess zombie = train();
  zombie.state = 'Z';
  const Process p = collect_process(*make_memory_host(with({zombie})), 4242);
  EXPECT_EQ(p.memlock.missing, Missing::kVanished);
  EXPECT_FALSE(p.ppid);
  EXPECT_EQ(p.comm, "python3");
  EXPECT_TRUE(collect_processes(*make_memory_host(with({zombie}))).jobs.empty());
  zombie.threads = 2;  // only its main thread has ended
  EXPECT_TRUE(collect_process(*make_memory_host(with({zombie})), 4242).memlock);
}

TEST(CollectProcess, UserWithoutAName) {
  FakeProcess p = train();
  p.uid = 77;
  EXPECT_EQ(collect_process(*make_memory_host(with({p})), 4242).user, "77");
}

TEST(CollectProcess, LongCommandLineIsCut) {
  FakeProcess p = train();
  p.cmdline = std::string(5000, 'a');
  EXPECT_EQ(collect_process(*make_memory_host(with({p})), 4242).cmdline.size(), 200U);
}

TEST(CollectProcess, NoSuchProcess) {
  const Process p = collect_process(*make_memory_host(with({train()})), 5);
  EXPECT_EQ(p.memlock.missing, Missing::kVanished);
  EXPECT_FALSE(p.ppid);
  EXPECT_TRUE(p.problems.empty());
}

TEST(CollectProcess, SystemdPathOfAHybridHierarchy) {
  FakeProcess p = train();
  p.cgroup = "9:name=systemd:/system.slice/slurmd.service\n4:memory:/x\n0::/\n";
  EXPECT_EQ(collect_process(*make_memory_host(with({p})), 4242).cgroup, "/system.slice/slurmd.service");
}

/// The process ends after `reads` answers about it.
class DyingHost final : public Host {
 public:
  DyingHost(MemoryTree tree, int reads) : inner_(make_memory_host(std::move(tree))), left_(reads) {}
  std::expected<std::string, HostError> read(std::string_view path, std::size_t max_bytes) const override {
    if (gone(path)) return std::unexpected(HostError{HostErrorKind::kNotFound, "gone"});
    return inner_->read(path, max_bytes);
  }
  std::expected<std::vector<std::string>, HostError> list(std::string_view path) const override {
    if (gone(path)) return std::unexpected(HostError{HostErrorKind::kVanished, "gone"});
    return inner_->list(path);
  }
  std::expected<std::string, HostError> link(std::string_view path) const override {
    if (gone(path)) return std::unexpected(HostError{HostErrorKind::kNotFound, "gone"});
    return inner_->link(path);
  }
  bool exists(std::string_view path) const override { return !path.starts_with("/proc/") || left_ > 0; }
  bool live() const override { return false; }

 private:
  bool gone(std::string_view path) const { return path.starts_with("/proc/4242") && left_-- <= 0; }
  std::unique_ptr<Host> inner_;
  mutable int left_;
};

TEST(CollectProcess, EndsAtAnyMoment) {
  for (int reads = 0; reads < 20; ++reads) {
    const DyingHost host(with({train()}), reads);
    const Process p = collect_process(host, 4242);
    EXPECT_TRUE(p.problems.empty()) << reads;
    if (!p.memlock) {
      EXPECT_NE(p.memlock.missing, Missing::kNotAsked) << reads;
      EXPECT_NE(p.memlock.missing, Missing::kDenied) << reads;
      EXPECT_EQ(p.nccl_mapped.known(), false) << reads;
    } else {
      EXPECT_EQ(p.memlock->soft, Limit{8388608}) << reads;
    }
    if (reads == 0) {
      EXPECT_EQ(p.memlock.missing, Missing::kVanished);
    }
  }
}

FakeProcess ancestor(std::int64_t pid, std::int64_t ppid, std::string comm, std::uint64_t start) {
  FakeProcess p;
  p.pid = pid;
  p.ppid = ppid;
  p.comm = std::move(comm);
  p.cmdline = p.comm;
  p.start = start;
  return p;
}

std::vector<std::int64_t> pids(const std::vector<Process>& processes) {
  std::vector<std::int64_t> out;
  for (const auto& p : processes) out.push_back(*p.where.pid);
  return out;
}

TEST(CollectAncestors, UpToPid1) {
  const auto host = make_memory_host(with({train(), ancestor(4101, 4100, "bash", 800), ancestor(4100, 811, "sshd", 700),
                                           ancestor(811, 1, "sshd", 50), ancestor(1, 0, "systemd", 1)}));
  const auto chain = collect_ancestors(*host, collect_process(*host, 4242));
  EXPECT_EQ(pids(chain), (std::vector<std::int64_t>{4242, 4101, 4100, 811, 1}));
  EXPECT_TRUE(chain.front().nccl_mapped.known());
  EXPECT_EQ(chain[1].comm, "bash");
  EXPECT_TRUE(chain[1].memlock);
  EXPECT_EQ(chain[1].map_count.missing, Missing::kNotAsked);
}

TEST(CollectAncestors, StopsWhereTheChainBreaks) {
  struct {
    const char* what;
    std::vector<FakeProcess> others;
    std::size_t length;
  } cases[] = {
      {"parent not visible", {}, 1},
      {"pid given to a younger process", {ancestor(4101, 1, "bash", 901), ancestor(1, 0, "systemd", 1)}, 1},
      {"parent 0, as after docker exec", {ancestor(4101, 0, "bash", 800)}, 2},
      {"a loop", {ancestor(4101, 4242, "bash", 900)}, 128},
      {"its own parent", {ancestor(4101, 4101, "bash", 800)}, 128},
  };
  for (auto& c : cases) {
    c.others.push_back(train());
    const auto host = make_memory_host(with(c.others));
    EXPECT_EQ(collect_ancestors(*host, collect_process(*host, 4242)).size(), c.length) << c.what;
  }
}

TEST(CollectProcesses, FindsJobsAndDaemons) {
  FakeProcess kthread = ancestor(2, 0, "raylet", 1);
  kthread.flags = 0x208040;
  FakeProcess verbs_only = ancestor(50, 1, "ib_write_bw", 60);
  verbs_only.fds = {"/dev/infiniband/rdma_cm"};
  FakeProcess listener = ancestor(811, 1, "sshd", 50);
  listener.cmdline = "sshd: /usr/sbin/sshd -D [listener] 0 of 10-100 startups";
  FakeProcess session = ancestor(812, 811, "sshd", 51);
  session.cmdline = "sshd: alice [priv]";
  auto tree = with({train(), kthread, verbs_only, listener, session, ancestor(900, 1, "slurmd", 5),
                    ancestor(901, 1, "bash", 5), ancestor(902, 1, "other", 5)});
  tree.denied = {"/proc/902/maps", "/proc/902/fd"};
  tree.files["/proc/meminfo"] = "";
  const ProcessScan scan = collect_processes(*make_memory_host(tree));
  auto jobs = pids(scan.jobs);
  auto daemons = pids(scan.daemons);
  std::sort(jobs.begin(), jobs.end());
  std::sort(daemons.begin(), daemons.end());
  EXPECT_EQ(jobs, (std::vector<std::int64_t>{50, 4242}));
  EXPECT_EQ(daemons, (std::vector<std::int64_t>{811, 900}));
  EXPECT_EQ(scan.seen, 7U);
  EXPECT_EQ(scan.denied, 1U);
  for (const auto& job : scan.jobs) EXPECT_EQ(job.kind, ProcessKind::kJob);
  for (const auto& daemon : scan.daemons) {
    EXPECT_EQ(daemon.kind, ProcessKind::kDaemon);
    EXPECT_TRUE(daemon.memlock);
    EXPECT_TRUE(daemon.initial_userns);
  }
}

TEST(CollectProcesses, NoProcAtAll) {
  const ProcessScan scan = collect_processes(*make_memory_host({}));
  EXPECT_EQ(scan.seen + scan.denied, 0U);
  EXPECT_TRUE(scan.jobs.empty() && scan.daemons.empty());
  EXPECT_FALSE(scan.hidden.empty());
}

TEST(CollectProcesses, HiddenOnesAreSaidToBe) {
  EXPECT_FALSE(collect_processes(*make_memory_host(with({train()}))).hidden.empty());
  MemoryTree tree = with({ancestor(1, 0, "systemd", 0), train()});
  EXPECT_TRUE(collect_processes(*make_memory_host(tree)).hidden.empty());
  tree.denied = {"/proc/4242/stat"};
  const ProcessScan scan = collect_processes(*make_memory_host(tree));
  EXPECT_EQ(scan.seen, 2U);
  EXPECT_EQ(scan.denied, 1U);
}

TEST(JobDaemonName, Names) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"sshd", "/usr/sbin/sshd -D", "sshd"},
      {"sshd", "sshd: /usr/sbin/sshd -D [listener] 1 of 10-100 startups", "sshd"},
      {"sshd", "sshd: alice [priv]", ""},
      {"sshd", "sshd: alice@pts/0", ""},
      {"sshd", "sshd: [accepted]", ""},
      {"sshd", "/usr/sbin/sshd -D -R", ""},
      {"sshd", "/usr/sbin/sshd -i", ""},
      {"sshd-session", "sshd-session: alice [priv]", ""},
      {"slurmd", "/usr/sbin/slurmd -D", "slurmd"},
      {"slurmstepd", "slurmstepd: [12.0]", ""},
      {"containerd", "/usr/bin/containerd", "containerd"},
      {"containerd-shim", "containerd-shim-runc-v2", ""},
      {"dockerd", "/usr/bin/dockerd", "docker"},
      {"crio", "", "crio"},
      {"pbs_mom", "", "pbs_mom"},
      {"raylet", "", "raylet"},
      {"condor_startd", "", "condor"},
      {"flux-broker-0", "", "flux"},
      {"bash", "sshd", ""},
      {"", "", ""},
  };
  for (const auto& [comm, cmdline, name] : cases)
    EXPECT_EQ(job_daemon_name(comm, cmdline), name) << comm << " " << cmdline;
}

MemoryTree machine() {
  MemoryTree tree;
  tree.files = {
      {"/proc/sys/kernel/hostname", "node07\n"},
      {"/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n"},
      {"/etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian \\\"12\\\"\"\n"},
      {"/proc/cmdline", "BOOT_IMAGE=/vmlinuz kho=off\n"},
      {"/proc/meminfo", "MemTotal: 1024 kB\n"},
      {"/proc/sys/vm/max_map_count", "65530\n"},
      {"/proc/sys/vm/overcommit_memory", "0\n"},
      {"/proc/modules", "nvidia-peermem 16384 0 - Live 0x0\nmlx5_ib 1 2 - Live 0x0\n"},
      {"/sys/class/infiniband/mlx5_0/fw_ver", "28.39.1002\n"},
      {"/sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n"},
      {"/sys/class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand\n"},
      {"/sys/class/infiniband/mlx5_0/ports/2/state", "4: ACTIVE\n"},
      {"/sys/class/infiniband/mlx5_0/ports/2/link_layer", "Ethernet\n"},
      {"/sys/class/infiniband/mlx5_1/ports/1/state", "1: DOWN\n"},
      {"/proc/driver/nvidia/version",
       "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.14  Release Build  (x@y)\nGCC version\n"},
      {"/proc/self/cgroup", "0::/kubepods/pod1/c1\n"},
      {"/sys/fs/cgroup/kubepods/pod1/c1/hugetlb.2MB.max", "max\n"},
      {"/sys/fs/cgroup/kubepods/pod1/c1/hugetlb.2MB.rsvd.max", "1\n"},
      {"/sys/fs/cgroup/kubepods/pod1/c1/hugetlb.1GB.max", "0\n"},
      {"/sys/fs/cgroup/kubepods/pod1/hugetlb.2MB.max", "4194304\n"},
      {"/sys/fs/cgroup/kubepods/pod1/c1/rdma.max", "mlx5_0 hca_handle=2 hca_object=max\nmlx5_9 hca_handle=1\n"},
      {"/sys/fs/cgroup/kubepods/pod1/c1/rdma.current", "mlx5_0 hca_handle=1 hca_object=20\n"},
      {"/sys/fs/cgroup/kubepods/rdma.max", "mlx5_0 hca_handle=9 hca_object=2000\n"},
      {"/sys/fs/cgroup/kubepods/rdma.current", "mlx5_0 hca_handle=1 hca_object=1999\n"},
      {"/proc/buddyinfo", "Node 0, zone DMA 1 2 3\nNode 0, zone Normal 4\n"},
  };
  return tree;
}

TEST(CollectMachine, EverythingWithItsSource) {
  const Facts f = collect_machine(*make_memory_host(machine()));
  EXPECT_EQ(f.host, "node07");
  EXPECT_EQ(*f.kernel, "6.1.0-18-amd64");
  EXPECT_EQ(f.kernel.source.path, "/proc/sys/kernel/osrelease");
  EXPECT_EQ(f.arch.missing, Missing::kNotAsked);
  EXPECT_EQ(*f.distro, "Debian \"12\"");
  EXPECT_EQ(*f.cmdline, "BOOT_IMAGE=/vmlinuz kho=off");
  EXPECT_EQ(f.meminfo.bytes.at("MemTotal"), 1024U * 1024);
  EXPECT_EQ(*f.sysctl.at("vm.max_map_count"), "65530");
  EXPECT_EQ(f.sysctl.at("vm.max_map_count").source.path, "/proc/sys/vm/max_map_count");
  EXPECT_EQ(f.sysctl.at("vm.hugetlb_shm_group").missing, Missing::kAbsent);
  EXPECT_TRUE(*f.modules.at("nvidia_peermem"));
  EXPECT_TRUE(*f.modules_complete);
  EXPECT_EQ(*f.versions.at("nvidia_driver"), "550.54.14");
  EXPECT_EQ(*f.nvidia_license, "Dual MIT/GPL");
  EXPECT_TRUE(*f.buddyinfo == "Node 0, zone DMA 1 2 3\nNode 0, zone Normal 4\n");
  EXPECT_EQ(f.kernel_log.missing, Missing::kNotAsked);
  EXPECT_EQ(f.inside_container.value, true);  // the cgroup path says kubepods
  EXPECT_TRUE(f.problems.empty());
}

TEST(CollectMachine, RdmaDevicesAndTheirCgroup) {
  const Facts f = collect_machine(*make_memory_host(machine()));
  EXPECT_TRUE(*f.rdma_present);
  ASSERT_EQ(f.devices.size(), 2U);
  const RdmaDevice& d = f.devices.at("mlx5_0");
  EXPECT_EQ(*d.state, "ACTIVE");
  EXPECT_EQ(*d.link_layer, "Ethernet");
  EXPECT_EQ(*d.firmware, "28.39.1002");
  EXPECT_EQ(*f.devices.at("mlx5_1").state, "DOWN");
  EXPECT_EQ(*d.cg_max_handle, 2U);
  EXPECT_EQ(*d.cg_current_handle, 1U);
  EXPECT_EQ(*d.cg_max_object, 2000U);  // the pod's parent is tighter, and counts its own use
  EXPECT_EQ(*d.cg_current_object, 1999U);
  EXPECT_FALSE(f.devices.at("mlx5_1").cg_max_handle);
  EXPECT_EQ(*f.hugetlb_limit.at("2MB"), 4194304U);
  EXPECT_EQ(*f.hugetlb_limit.at("1GB"), 0U);
  EXPECT_EQ(f.hugetlb_limit.size(), 2U);
}

TEST(CollectMachine, VersionOneCgroups) {
  MemoryTree tree;
  tree.files = {{"/sys/class/infiniband/rxe0/fw_ver", "\n"},
                {"/proc/self/cgroup", "5:hugetlb:/docker/ab\n4:rdma,misc:/docker/ab\n0::/\n"},
                {"/sys/fs/cgroup/hugetlb/hugetlb.2MB.limit_in_bytes", "9223372036854771712\n"},
                {"/sys/fs/cgroup/hugetlb/docker/ab/hugetlb.1GB.limit_in_bytes", "1073741824\n"},
                {"/sys/fs/cgroup/rdma/docker/ab/rdma.max", "rxe0 hca_handle=max hca_object=max\n"}};
  const Facts f = collect_machine(*make_memory_host(tree));
  EXPECT_EQ(*f.hugetlb_limit.at("2MB"), Limit::kInfinity);
  EXPECT_EQ(*f.hugetlb_limit.at("1GB"), 1073741824U);
  EXPECT_EQ(*f.devices.at("rxe0").cg_max_handle, Limit::kInfinity);
  EXPECT_EQ(f.devices.at("rxe0").firmware.missing, Missing::kMalformed);
}

TEST(CollectMachine, AbsentIsNotTheSameAsUnrecorded) {
  MemoryTree tree;
  tree.files["/sys/class/net/lo/mtu"] = "65536\n";
  Facts f = collect_machine(*make_memory_host(tree));
  EXPECT_EQ(f.rdma_present.value, false);
  f = collect_machine(*make_memory_host({}));
  EXPECT_FALSE(f.rdma_present.known());
  EXPECT_FALSE(f.modules_complete.known());
  EXPECT_EQ(f.modules_complete.missing, Missing::kAbsent);
  EXPECT_FALSE(f.inside_container.known());
  EXPECT_FALSE(f.distro.known());
  EXPECT_TRUE(f.problems.empty());
}

TEST(CollectMachine, RefusedFilesAreProblems) {
  auto tree = machine();
  tree.denied = {"/proc/modules", "/proc/cmdline", "/sys/class/infiniband"};
  const Facts f = collect_machine(*make_memory_host(tree));
  EXPECT_EQ(f.modules_complete.missing, Missing::kDenied);
  EXPECT_EQ(f.cmdline.missing, Missing::kDenied);
  EXPECT_EQ(f.rdma_present.missing, Missing::kDenied);
  EXPECT_TRUE(has_problem(f.problems, "cannot read /proc/modules: permission denied"));
  EXPECT_EQ(f.problems.size(), 3U);
}

TEST(CollectMachine, OsReleaseSpellings) {
  const std::pair<const char*, const char*> cases[] = {
      {"PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n", "Debian GNU/Linux 12 (bookworm)"},
      {"PRETTY_NAME='A \\ B'\n", "A \\ B"},
      {"PRETTY_NAME=Arch\n", "Arch"},
      {"PRETTY_NAME=\"\n", "\""},
      {"NAME=x\nPRETTY_NAME=\"x\\\\y\"\r\n", "x\\y"},
  };
  for (const auto& [text, name] : cases) {
    EXPECT_EQ(collect_machine(*make_memory_host({.files = {{"/usr/lib/os-release", text}}, .links = {}, .denied = {}}))
                  .distro.value,
              name)
        << text;
  }
}

TEST(InsideContainer, OnlyWhatProvesIt) {
  MemoryTree host_tree;
  host_tree.links = {{"/proc/self/ns/pid", "pid:[4026531836]"},       {"/proc/self/ns/user", "user:[4026531837]"},
                     {"/proc/self/ns/uts", "uts:[4026531838]"},       {"/proc/self/ns/ipc", "ipc:[4026531839]"},
                     {"/proc/self/ns/cgroup", "cgroup:[4026531835]"}, {"/proc/self/ns/mnt", "mnt:[4026531841]"},
                     {"/proc/1/ns/mnt", "mnt:[4026531841]"}};
  using Change = void (*)(MemoryTree&);
  const std::tuple<const char*, Change, std::optional<bool>> cases[] = {
      {"the machine itself", [](MemoryTree&) {}, false},
      {"PID 1 not readable", [](MemoryTree& t) { t.denied = {"/proc/1/ns/mnt"}; }, false},
      {"PID 1 not readable, own uts",
       [](MemoryTree& t) {
         t.denied = {"/proc/1/ns/mnt"};
         t.links["/proc/self/ns/uts"] = "uts:[4026532555]";
       },
       std::nullopt},
      {"own pid namespace", [](MemoryTree& t) { t.links["/proc/self/ns/pid"] = "pid:[4026532555]"; }, true},
      {"own mounts only", [](MemoryTree& t) { t.links["/proc/self/ns/mnt"] = "mnt:[4026532555]"; }, std::nullopt},
      {"docker",
       [](MemoryTree& t) {
         t.files["/.dockerenv"] = "";
         t.links["/proc/self/ns/mnt"] = "mnt:[4026532555]";
       },
       true},
      {"podman",
       [](MemoryTree& t) {
         t.files["/run/.containerenv"] = "";
         t.links.erase("/proc/self/ns/uts");
       },
       true},
      {"a machine made of an image", [](MemoryTree& t) { t.files["/.dockerenv"] = ""; }, false},
      {"pod with hostPID",
       [](MemoryTree& t) { t.files["/proc/self/cgroup"] = "0::/kubepods.slice/cri-containerd-ab.scope\n"; }, true},
      {"a service", [](MemoryTree& t) { t.files["/proc/self/cgroup"] = "0::/system.slice/docker.service\n"; }, false},
  };
  for (const auto& [what, change, expected] : cases) {
    MemoryTree tree = host_tree;
    change(tree);
    EXPECT_EQ(collect::collect_inside_container(*make_memory_host(tree)).value, expected) << what;
  }
}

TEST(KernelLog, KeepsWhatCanMatter) {
  const std::pair<const char*, bool> cases[] = {
      {"<3>[  1.2] mlx5_core 0000:05:00.0: mlx5_cmd_out_err:835:(pid 1): CREATE_MKEY(0x200) op_mod(0x0) failed", true},
      {"<3>[  1.2] infiniband mlx5_0: create_qp:3206", true},
      {"<6>[  1.2] efa 0000:00:06.0: Setup irq", true},
      {"<6>[  1.2] efa_0: Failed to process command REG_MR (opcode 8) comp_status 7 err -12", true},
      {"<4>[  1.2] NVRM: Xid (PCI:0000:05:00): 31", true},
      {"<4>[  1.2] rxe_mr_init_user: Unable to pin memory region err = -12", true},
      {"<4>[  1.2] python3 invoked oom-killer: gfp_mask=0x0", true},
      {"<3>[  1.2] Out of memory: Killed process 12 (python3)", true},
      {"<6>[  1.2] python3[77]: segfault at 0 ip 0", true},
      {"<6>[  1.2] ib_core: Unknown symbol ib_register_peer_memory_client (err 0)", true},
      {"<6>[  1.2] default route in the room of zoom", false},
      {"<6>[  1.2] EXT4-fs (vda): mounted filesystem", false},
      {"<6>[  1.2] amlx5 xefa boom", false},
      {"", false},
      {"<", false},
      {"e", false},
  };
  for (const auto& [line, kept] : cases) {
    const auto lines = collect::pick_kernel_lines("<6>[  1.0] eth0: up\n"s + line + "\n");
    ASSERT_EQ(lines.size(), kept ? 1U : 0U) << line;
    if (kept) {
      EXPECT_EQ(lines[0], std::string(line).substr(3));
    }
  }
}

TEST(KernelLog, IsBounded) {
  std::string text;
  for (int i = 0; i < 6000; ++i) text += fmt::format("<3>[{}] mlx5_core x\n", i);
  text += "<3>mlx5 " + std::string(100000, 'x');
  const auto lines = collect::pick_kernel_lines(text);
  ASSERT_EQ(lines.size(), 4096U);
  EXPECT_LE(lines.back().size(), 2048U);
  EXPECT_EQ(lines.front(), "[1905] mlx5_core x");
}

TEST(Facts, MergeKeepsWhatIsKnown) {
  Facts a;
  a.kernel = Fact<std::string>::of("6.1", {"log:1", ""});
  a.cmdline = Fact<std::string>::none(Missing::kDenied, "/proc/cmdline");
  a.meminfo.bytes["MemTotal"] = 1;
  a.devices["mlx5_0"].firmware = Fact<std::string>::of("28", {});
  a.problems = {"p"};
  Facts b;
  b.host = "node";
  b.kernel = Fact<std::string>::of("5.10", {"log:2", ""});
  b.cmdline = Fact<std::string>::of("kho=off", {"log:3", ""});
  b.arch = Fact<std::string>::none(Missing::kAbsent, "x");
  b.meminfo.bytes = {{"MemTotal", 2}, {"CmaFree", 3}};
  b.meminfo.source["CmaFree"] = {"log:4", "CmaFree"};
  b.devices["mlx5_0"].firmware = Fact<std::string>::of("29", {});
  b.devices["mlx5_0"].state = Fact<std::string>::of("ACTIVE", {});
  b.devices["mlx5_1"].name = "mlx5_1";
  b.modules["rdma_rxe"] = Fact<bool>::of(true, {});
  b.processes.resize(2);
  b.problems = {"p", "q"};
  merge_facts(a, b);
  EXPECT_EQ(a.host, "node");
  EXPECT_EQ(*a.kernel, "6.1");
  EXPECT_EQ(*a.cmdline, "kho=off");
  EXPECT_EQ(a.arch.missing, Missing::kAbsent);
  EXPECT_EQ(a.meminfo.bytes.at("MemTotal"), 1U);
  EXPECT_EQ(a.meminfo.source.at("CmaFree").path, "log:4");
  EXPECT_EQ(*a.devices.at("mlx5_0").firmware, "28");
  EXPECT_EQ(*a.devices.at("mlx5_0").state, "ACTIVE");
  EXPECT_EQ(a.devices.size(), 2U);
  EXPECT_TRUE(*a.modules.at("rdma_rxe"));
  EXPECT_EQ(a.processes.size(), 2U);
  EXPECT_EQ(a.problems, (std::vector<std::string>{"p", "q"}));
}

TEST(Facts, ProcessAt) {
  Facts f;
  process_at(f, {"node", 1, std::nullopt}).comm = "one";
  process_at(f, {"node", 1, 3}).comm = "ranked";
  EXPECT_EQ(process_at(f, {"node", 1, std::nullopt}).comm, "one");
  EXPECT_EQ(f.processes.size(), 2U);
  for (std::int64_t pid = 0; pid < 6000; ++pid) process_at(f, {"flood", pid, std::nullopt}).comm = "x";
  EXPECT_LE(f.processes.size(), 4096U);
  EXPECT_EQ(process_at(f, {"node", 1, 3}).comm, "ranked");
}

TEST(Facts, MissingNamesDiffer) {
  std::vector<std::string_view> names;
  for (const Missing m : {Missing::kNotAsked, Missing::kAbsent, Missing::kDenied, Missing::kMalformed,
                          Missing::kVanished, Missing::kError}) {
    names.push_back(missing_name(m));
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace pindown
