// SPDX-License-Identifier: Apache-2.0
// Trails from made-up chains: which link set the limit, which lowered it, what a link is called.
#include "model/trail.h"

#include <gtest/gtest.h>

#include "facts/proc.h"

namespace pindown {
namespace {

constexpr std::uint64_t kMiB = 1U << 20;
constexpr std::uint64_t kUnread = ~1ULL;  // limits that could not be read

Process link(std::int64_t pid, std::string comm, std::uint64_t soft, std::string cgroup = "/user.slice",
             std::string cmdline = "") {
  Process p;
  p.where.pid = pid;
  p.comm = std::move(comm);
  p.cmdline = std::move(cmdline);
  p.cgroup = std::move(cgroup);
  const std::string path = "/proc/" + std::to_string(pid) + "/limits";
  if (soft == kUnread) {
    p.memlock = Fact<MemlockLimit>::none(Missing::kDenied, path);
  } else {
    p.memlock = Fact<MemlockLimit>::of({Limit{soft}, Limit{soft}}, {path, "Max locked memory " + std::to_string(soft)});
  }
  return p;
}

/// Chains are written from the top down, as people read them; derive_trail wants the subject first.
Trail trail_of(std::vector<Process> down) {
  return derive_trail({down.rbegin(), down.rend()});
}

struct SetCase {
  const char* what;
  std::int64_t top_pid;
  std::vector<std::uint64_t> soft;
  int set, lowered;
};

TEST(Trail, WhoSetIt) {
  constexpr auto kInf = Limit::kInfinity;
  const SetCase cases[] = {
      {"same all the way", 1, {64, 64, 64}, 0, -1},
      {"one process", 1, {64}, 0, -1},
      {"top is not PID 1", 77, {64, 64}, -1, -1},
      {"lowered in the middle", 1, {64, 8, 8}, 1, 1},
      {"lowered at the subject", 1, {64, 64, 8}, 2, 2},
      {"lowered from unlimited", 1, {kInf, 8, 8}, 1, 1},
      {"raised", 1, {8, 64, 64}, 1, -1},
      {"lowered, then raised above", 1, {64, 8, 128}, 2, -1},
      {"lowered, then raised to the same", 1, {64, 8, 64}, 2, -1},
      {"lowered, then raised a little", 1, {64, 8, 16}, 2, 1},
      {"lowered twice", 1, {64, 32, 8}, 2, 2},
      {"raised, then lowered", 1, {8, 64, 16}, 2, 2},
      {"unread parent: nobody can say", 1, {64, kUnread, 8}, -1, -1},
      {"unread above the link that set it", 1, {kUnread, 64, 8}, 2, 2},
      {"subject unread", 1, {64, 8, kUnread}, -1, -1},
      {"PID 1 unread", 1, {kUnread, 8}, -1, -1},
  };
  for (const auto& c : cases) {
    std::vector<Process> down;
    for (std::size_t i = 0; i < c.soft.size(); ++i) {
      down.push_back(link(i == 0 ? c.top_pid : 100 + static_cast<std::int64_t>(i), "p", c.soft[i]));
    }
    const Trail trail = trail_of(down);
    ASSERT_EQ(trail.links.size(), c.soft.size()) << c.what;
    EXPECT_EQ(set_at(trail), c.set) << c.what;
    EXPECT_EQ(lowered_at(trail), c.lowered) << c.what;
    for (std::size_t i = 0; i < c.soft.size(); ++i) {
      const bool differs = i > 0 && c.soft[i] != kUnread && c.soft[i - 1] != kUnread && c.soft[i] != c.soft[i - 1];
      EXPECT_EQ(trail.links[i].set_here, differs) << c.what << " link " << i;
      EXPECT_EQ(trail.links[i].soft.has_value(), c.soft[i] != kUnread) << c.what;
      EXPECT_EQ(trail.links[i].note, differs ? "set here" : "") << c.what;
    }
  }
}

TEST(Trail, NamesTellUnitsAndSessions) {
  const Trail trail = trail_of({
      link(1, "systemd", 64 * kMiB, "/init.scope"),
      link(811, "sshd", 8 * kMiB, "/system.slice/sshd.service",
           "sshd: /usr/sbin/sshd -D [listener] 0 of 10-100 startups"),
      link(4100, "sshd", 8 * kMiB, "/user.slice/user-1000.slice/session-3.scope", "sshd: alice [priv]"),
      link(4101, "sshd-session", 8 * kMiB, "/user.slice/user-1000.slice/session-3.scope", "sshd-session: alice@pts/0"),
      link(4102, "bash", 8 * kMiB, "/user.slice/user-1000.slice/session-3.scope", "-bash"),
      link(4242, "python3", 8 * kMiB, "/user.slice/user-1000.slice/session-3.scope", "python3 train.py"),
  });
  std::vector<std::string> names;
  for (const auto& l : trail.links) names.push_back(l.name);
  EXPECT_EQ(names, (std::vector<std::string>{"systemd", "sshd.service", "sshd: alice", "sshd-session: alice", "bash",
                                             "python3"}));
  EXPECT_EQ(trail.links[1].pid, 811);
  EXPECT_EQ(trail.links[1].source, "/proc/811/limits");
  EXPECT_EQ(trail.links[1].text, "Max locked memory 8388608");
  EXPECT_EQ(trail.subject.pid, 4242);
  EXPECT_EQ(trail.subject.process, "python3 train.py");
}

TEST(Trail, OnlyTheFirstProcessOfAUnitHasItsName) {
  const std::string user = "/user.slice/user-1000.slice/user@1000.service";
  const Trail trail = trail_of({
      link(1, "systemd", 1, "/init.scope"),
      link(10, "containerd", 1, "/system.slice/containerd.service"),
      link(11, "containerd-shim", 1, "/system.slice/containerd.service"),
      link(12, "systemd", 1, user + "/init.scope"),
      link(13, "worker", 1, user + "/app.slice/my.service"),
      link(14, "", 1, user + "/app.slice/my.service/payload"),
      link(15, "x", 1, "/.service"),
  });
  std::vector<std::string> names;
  for (const auto& l : trail.links) names.push_back(l.name);
  EXPECT_EQ(names, (std::vector<std::string>{"systemd", "containerd.service", "containerd-shim", "user@1000.service",
                                             "my.service", "?", "x"}));
}

Fact<CapabilitySets> effective(std::uint64_t mask) {
  CapabilitySets caps;
  caps.effective = mask;
  return Fact<CapabilitySets>::of(caps, {});
}

TEST(Trail, Summary) {
  Process p = link(42, "python3", 8 * kMiB);
  EXPECT_EQ(derive_trail({p}).summary, "VmPin unknown · CAP_IPC_LOCK unknown");
  p.vm_pin = Fact<std::uint64_t>::of(5347738, {});
  p.caps = effective(0);
  EXPECT_EQ(derive_trail({p}).summary, "VmPin 5.1 MiB · CAP_IPC_LOCK no");
  p.caps = effective(1ULL << kCapIpcLock);
  EXPECT_EQ(derive_trail({p}).summary, "VmPin 5.1 MiB · CAP_IPC_LOCK unknown");
  p.initial_userns = Fact<bool>::of(true, {});
  EXPECT_EQ(derive_trail({p}).summary, "VmPin 5.1 MiB · CAP_IPC_LOCK yes");
  p.initial_userns = Fact<bool>::of(false, {});
  EXPECT_EQ(derive_trail({p}).summary, "VmPin 5.1 MiB · CAP_IPC_LOCK void in its user namespace");
}

TEST(Trail, Empty) {
  const Trail trail = derive_trail({});
  EXPECT_TRUE(trail.links.empty());
  EXPECT_EQ(set_at(trail), -1);
  EXPECT_EQ(lowered_at(trail), -1);
}

}  // namespace
}  // namespace pindown
