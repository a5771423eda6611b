// SPDX-License-Identifier: Apache-2.0
// PD3xx: what each row says of situations built by hand, guilty and innocent.
#include <cerrno>

#include "situation_fixture.h"

namespace pindown {
namespace {

using namespace testing;
using logs::Kind;

constexpr std::uint64_t kKib = 1024;
constexpr std::uint64_t kMib = kKib * 1024;
constexpr std::uint64_t kDockerDefault = 0xa80425fb;  // CapBnd of a default container
constexpr std::uint64_t kWithIpcLock = 0xa80465fb;    // the same and bit 14
constexpr std::uint64_t kAllCapabilities = 0x1ffffffffff;

/// A failing line with the process and limit beside it; Scene has no place for them.
struct Box : Scene {
  LimitView view;
  CapabilityView capability;
  bool with_process = false;
  bool is_daemon = false;
  Trail trail;

  explicit Box(Kind kind = Kind::kRegMr, std::optional<int> error = ENOMEM) : Scene(kind, error) {}

  Box& has(Limit value) {
    view.soft = value;
    view.of_job = true;
    view.from = "the job printed it";
    view.source = {"job.log:2", "Max locked memory"};
    return *this;
  }
  Box& host(const std::string& name) {
    incident.first.shape.host = name;
    incident.hosts.insert(name);
    return *this;
  }
  Box& caps(std::uint64_t effective, std::uint64_t bounding) {
    with_process = true;
    CapabilitySets sets;
    sets.effective = effective;
    sets.bounding = bounding;
    process.caps = known(sets);
    capability.usable = false;
    return *this;
  }
  ContainerCommand& runs(const std::string& engine, std::uint64_t line) {
    ContainerCommand& out = facts.containers.emplace_back();
    out.engine = engine;
    out.source = {"job.log:" + std::to_string(line), engine + " run image"};
    return out;
  }
  Box& unit(const std::string& name, Limit value, std::uint64_t line = 5) {
    facts.units.push_back({name, {value, value}, {"job.log:" + std::to_string(line), "LimitMEMLOCK"}});
    return *this;
  }
  Box& node(const std::string& path, const std::string& mode, const std::string& error = {}) {
    facts.device_nodes.push_back({path, mode, error, {"job.log:6", path}});
    return *this;
  }
  Box& live(const std::string& comm, const std::string& cgroup, Limit value) {
    with_process = true;
    process.comm = comm;
    process.cgroup = cgroup;
    process.where.pid = 4242;
    process.memlock = Fact<MemlockLimit>::of({value, value}, {"/proc/4242/limits", "Max locked memory"});
    view = {value, value, process.memlock.source, "/proc/4242/limits", true, false};
    if (!capability.usable) capability.usable = false;
    return *this;
  }
  Process& other(const std::string& comm, std::int64_t pid, Limit value) {
    Process& out = facts.processes.emplace_back();
    out.kind = ProcessKind::kDaemon;
    out.comm = comm;
    out.where.pid = pid;
    out.memlock = Fact<MemlockLimit>::of({value, value}, {"/proc/" + std::to_string(pid) + "/limits", comm});
    return out;
  }
  Box& rdma() {
    facts.rdma_present = known(true);
    return *this;
  }

  Outcome asks(std::string_view code, SubjectKind kind = SubjectKind::kIncident) const {
    Situation s;
    s.kind = kind;
    s.facts = &facts;
    s.limit = view;
    s.ipc_lock = capability;
    s.is_daemon = is_daemon;
    if (kind == SubjectKind::kIncident) {
      s.incident = &incident;
      s.run = &run;
      s.from_log_alone = true;
    }
    if (with_process) s.process = &process;
    if (!trail.links.empty()) s.trail = &trail;
    return ask(container_checks(), code, s);
  }
  Outcome asks_live(std::string_view code) const { return asks(code, SubjectKind::kProcess); }
};

bool cites(const Outcome& out, std::string_view source) {
  for (const Evidence& each : out.evidence) {
    if (each.source == source) return true;
  }
  return false;
}

bool remedies_say(const Outcome& out, std::string_view words) {
  for (const Remedy& remedy : out.remedies) {
    for (const std::string& command : remedy.commands) {
      if (command.find(words) != std::string::npos) return true;
    }
  }
  return false;
}

TEST(ContainerChecks, EveryRowIsThere) {
  const auto table = container_checks();
  ASSERT_EQ(table.size(), 11U);
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(table[i].code, "PD3" + std::string(i < 9 ? "0" : "") + std::to_string(i + 1));
    EXPECT_NE(table[i].eval, nullptr) << table[i].code;
  }
}

// ---- PD301

TEST(ContainerInherits, DockerIdAndLowLimit) {
  const Outcome out = Box().host("5f3c9a7d10be").has(Limit{64 * kKib}).asks("PD301");
  expect_found(out, Certainty::kLikely, 70, 70);
  EXPECT_NE(out.summary.find("64 KiB"), std::string::npos) << out.summary;
  EXPECT_TRUE(cites(out, "job.log:7"));
  EXPECT_TRUE(cites(out, "job.log:2"));
  EXPECT_TRUE(remedies_say(out, "docker run --ulimit memlock=-1:-1"));
  EXPECT_FALSE(out.severity.has_value());
}

TEST(ContainerInherits, UnknownLimitIsACandidateThatNamesTheContainer) {
  const Outcome out = Box().host("5f3c9a7d10be").asks("PD301");
  expect_candidate(out);
  EXPECT_NE(out.decide.find("docker exec 5f3c9a7d10be"), std::string::npos) << out.decide;
  EXPECT_EQ(out.weight, 60);
}

TEST(ContainerInherits, JobThatWentOnIsAWarning) {
  Box box;
  box.host("5f3c9a7d10be").has(Limit{64 * kKib}).went_on();
  EXPECT_EQ(box.asks("PD301").severity, Severity::kWarning);
}

TEST(ContainerInherits, RuledOutByItsOwnRunLineOrAnUnlimitedLimit) {
  Box asked;
  asked.host("5f3c9a7d10be").runs("docker", 3).ulimit_memlock = MemlockLimit{Limit::unlimited(), Limit::unlimited()};
  expect_ruled_out(asked.asks("PD301"), "job.log:3");
  expect_ruled_out(Box().host("5f3c9a7d10be").has(Limit::unlimited()).asks("PD301"), "unlimited");
}

TEST(ContainerInherits, TheNearestRunLineAboveCounts) {
  Box box;
  box.has(Limit{32 * kKib});
  box.runs("podman", 3).ulimit_memlock = MemlockLimit{Limit::unlimited(), Limit::unlimited()};
  box.runs("podman", 5);
  box.runs("docker", 40).ulimit_memlock = MemlockLimit{Limit::unlimited(), Limit::unlimited()};
  const Outcome out = box.asks("PD301");
  expect_found(out, Certainty::kLikely, 70);
  EXPECT_TRUE(cites(out, "job.log:5"));
  EXPECT_NE(out.summary.find("podman inherits"), std::string::npos) << out.summary;
}

TEST(ContainerInherits, LinkIsProvenOnlyWithRunLineAndDaemonOfTheSameLimit) {
  Box box;
  box.host("5f3c9a7d10be").has(Limit{8 * kMib});
  box.incident.first.length = 64 * kMib;
  box.incident.first.memory = logs::MemoryType::kHost;
  box.incident.first.limit_hint = true;  // the library says CAP_IPC_LOCK is not effective
  expect_found(box.asks("PD301"), Certainty::kLikely, 70);
  box.runs("docker", 3);
  expect_found(box.asks("PD301"), Certainty::kLikely, 70);
  box.unit("containerd.service", Limit{8 * kMib});
  expect_found(box.asks("PD301"), Certainty::kProven, 70);
  box.facts.units.front().memlock = {Limit{64 * kKib}, Limit{64 * kKib}};
  expect_found(box.asks("PD301"), Certainty::kLikely, 70);
}

TEST(ContainerInherits, PrivilegedRootIsOnlyACandidate) {
  Box box;
  box.has(Limit{8 * kMib});
  box.runs("docker", 3).privileged = true;
  expect_candidate(box.asks("PD301"));
  box.facts.containers.front().user = "1000";
  expect_found(box.asks("PD301"), Certainty::kLikely, 70);
}

TEST(ContainerInherits, NotForPodsSlurmContainersBareHostsOrOtherErrnos) {
  expect_silent(Box().host("llm-train-worker-1").has(Limit{8 * kMib}).asks("PD301"));
  expect_silent(Box().host("node07").has(Limit{8 * kMib}).asks("PD301"));
  Box pyxis;
  pyxis.has(Limit{8 * kMib}).run.launchers = {"pyxis", "srun"};
  expect_silent(pyxis.asks("PD301"));
  Box fault(Kind::kRegMr, EFAULT);
  expect_silent(fault.host("5f3c9a7d10be").has(Limit{8 * kMib}).asks("PD301"));
  Box open(Kind::kOpenDevice, ENOMEM);
  expect_silent(open.host("5f3c9a7d10be").has(Limit{8 * kMib}).asks("PD301"));
}

TEST(ContainerInherits, Daemons) {
  struct Case {
    const char* comm;
    Limit limit;
    bool rdma;
    Outcome::Kind kind;
    std::optional<Severity> severity;
  };
  const Case cases[] = {
      {"containerd", Limit{8 * kMib}, true, Outcome::Kind::kFound, std::nullopt},
      {"containerd", Limit{8 * kMib}, false, Outcome::Kind::kFound, Severity::kNote},
      {"containerd", Limit{256 * kMib}, true, Outcome::Kind::kFound, Severity::kWarning},
      {"dockerd", Limit{8 * kMib}, true, Outcome::Kind::kFound, Severity::kWarning},
      {"crio", Limit{64 * kKib}, true, Outcome::Kind::kFound, std::nullopt},
      {"containerd", Limit::unlimited(), true, Outcome::Kind::kRuledOut, std::nullopt},
      {"sshd", Limit{8 * kMib}, true, Outcome::Kind::kNotApplicable, std::nullopt},
  };
  for (const Case& each : cases) {
    Box box;
    box.live(each.comm, "/system.slice/x.service", each.limit).is_daemon = true;
    if (each.rdma) box.rdma();
    const Outcome out = box.asks_live("PD301");
    EXPECT_EQ(out.kind, each.kind) << each.comm << ' ' << out.summary << out.why;
    EXPECT_EQ(out.severity, each.severity) << each.comm;
    if (out.kind == Outcome::Kind::kFound) {
      EXPECT_EQ(out.certainty, Certainty::kLikely);
    }
  }
}

TEST(ContainerInherits, LiveProcessBelowAShim) {
  Box box;
  box.live("python3", "/system.slice/docker-0123.scope", Limit{8 * kMib});
  expect_found(box.asks_live("PD301"), Certainty::kLikely, 70);
  box.live("python3", "/kubepods.slice/pod1/cri-containerd-0.scope", Limit{8 * kMib});
  expect_silent(box.asks_live("PD301"));
  box.live("python3", "/user.slice/session-3.scope", Limit{8 * kMib});
  expect_silent(box.asks_live("PD301"));
  box.trail.links.push_back(
      {"containerd.service", 900, Limit{8 * kMib}, Limit{8 * kMib}, true, "/proc/900/limits", "", ""});
  expect_found(box.asks_live("PD301"), Certainty::kLikely, 70);
  box.live("python3", "/system.slice/docker-0123.scope", Limit::unlimited());
  expect_ruled_out(box.asks_live("PD301"), "unlimited");
}

// ---- PD302

TEST(WrongUnit, DockerServiceRaisedContainerStillLow) {
  Box box;
  box.host("5f3c9a7d10be").has(Limit{8 * kMib}).unit("docker.service", Limit::unlimited());
  const Outcome out = box.asks("PD302");
  expect_found(out, Certainty::kLikely, 75);
  EXPECT_TRUE(cites(out, "job.log:5"));
  EXPECT_TRUE(remedies_say(out, "containerd.service.d/90-pindown-memlock.conf"));
  EXPECT_GT(out.weight, box.asks("PD301").weight);
}

TEST(WrongUnit, NotWhenTheUnitIsLowOrContainerdIsHigh) {
  expect_ruled_out(Box().has(Limit{64 * kKib}).unit("docker.service", Limit{64 * kKib}).asks("PD302"),
                   "docker.service itself");
  expect_ruled_out(Box()
                       .has(Limit{8 * kMib})
                       .unit("docker.service", Limit::unlimited())
                       .unit("containerd.service", Limit::unlimited())
                       .asks("PD302"),
                   "containerd.service");
  expect_candidate(Box().host("5f3c9a7d10be").unit("docker.service", Limit::unlimited()).asks("PD302"));
  expect_silent(Box().has(Limit{8 * kMib}).asks("PD302"));
}

TEST(WrongUnit, LiveDaemonsSayIt) {
  Box box;
  box.live("python3", "/system.slice/docker-0123.scope", Limit{8 * kMib});
  box.other("dockerd", 800, Limit::unlimited());
  box.other("containerd", 700, Limit{8 * kMib});
  expect_found(box.asks_live("PD302"), Certainty::kLikely, 75);
  box.facts.processes.back().memlock.value->soft = Limit::unlimited();
  expect_silent(box.asks_live("PD302"));
}

// ---- PD303

TEST(UlimitRefused, TheRuntimeSaysSo) {
  Box box(Kind::kSetrlimitRefused, EPERM);
  box.incident.first.library = "crun";
  box.runs("podman", 3);
  Outcome out = box.asks("PD303");
  expect_found(out, Certainty::kProven, 90);
  EXPECT_EQ(out.severity, Severity::kError);
  EXPECT_TRUE(cites(out, "job.log:3"));
  EXPECT_EQ(out.remedies.front().id, "user-hard-limit");
  box.incident.first.library = "runc";
  box.facts.containers.front().engine = "docker";
  EXPECT_EQ(box.asks("PD303").remedies.front().id, "outer-runtime-limit");
  expect_silent(Box(Kind::kRegMr, EPERM).asks("PD303"));
}

// ---- PD304

Box pod(Kind kind = Kind::kRegMr, int error = ENOMEM) {
  Box box(kind, error);
  box.host("llm-train-worker-1").run.launchers = {"kubectl"};
  return box;
}

TEST(PodRoute, KnownAndUnknownLimit) {
  const Outcome out = pod().has(Limit{8 * kMib}).asks("PD304");
  expect_found(out, Certainty::kLikely, 56, 70);  // above PD101
  EXPECT_TRUE(remedies_say(out, "kubectl delete pod"));
  const Outcome open = pod().asks("PD304");
  expect_candidate(open);
  EXPECT_EQ(open.weight, 62);
  EXPECT_NE(open.decide.find("kubectl exec llm-train-worker-1 -- grep"), std::string::npos) << open.decide;
  const Outcome name = Box().host("llm-train-worker-1").asks("PD304");  // nothing but a name: a question
  expect_candidate(name);
  EXPECT_LT(name.weight, open.weight);
}

TEST(PodRoute, InnocentPodsAndOtherPlaces) {
  expect_ruled_out(pod().has(Limit::unlimited()).asks("PD304"), "unlimited");
  Box capable = pod();
  capable.capability = {true, "CapEff has bit 14", {}};
  expect_ruled_out(capable.has(Limit{8 * kMib}).asks("PD304"), "CapEff has bit 14");
  expect_silent(Box().host("5f3c9a7d10be").has(Limit{8 * kMib}).asks("PD304"));
  expect_silent(pod(Kind::kRegMr, EFAULT).has(Limit{8 * kMib}).asks("PD304"));
  expect_silent(pod(Kind::kRegDmabuf, ENOMEM).has(Limit{8 * kMib}).asks("PD304"));
}

TEST(PodRoute, ASlurmNodeWithAPodsNameIsNoPod) {
  Box box;
  box.host("gpu-worker-1-worker-1").has(Limit{8 * kMib}).run.launchers = {"srun", "slurm"};
  expect_silent(box.asks("PD304"));
  expect_silent(box.asks("PD301"));
}

TEST(PodRoute, LiveProcess) {
  Box box;
  box.live("python3", "/kubepods.slice/pod1/cri-containerd-0.scope", Limit{8 * kMib});
  expect_found(box.asks_live("PD304"), Certainty::kLikely, 65);
  box.live("python3", "/kubepods.slice/pod1/cri-containerd-0.scope", Limit{256 * kMib});
  EXPECT_EQ(box.asks_live("PD304").severity, Severity::kWarning);
  box.capability.usable.reset();
  box.view.soft.reset();
  expect_unknown(box.asks_live("PD304"));
}

// ---- PD305

TEST(NotEffective, BoundingOnlyInAPod) {
  Box box;
  box.host("llm-train-worker-1").has(Limit{8 * kMib}).caps(0, kWithIpcLock);
  box.process.euid = known(std::uint32_t{1000});
  const Outcome out = box.asks("PD305");
  expect_found(out, Certainty::kLikely, 80);
  EXPECT_NE(out.summary.find("uid 1000"), std::string::npos) << out.summary;
  EXPECT_GT(out.weight, box.asks("PD304").weight);
  box.incident.first.length = 64 * kMib;
  box.incident.first.memory = logs::MemoryType::kHost;
  expect_found(box.asks("PD305"), Certainty::kProven, 80);
}

TEST(NotEffective, OnlyWhereSomebodyGrantedIt) {
  // A full bounding set is every user's on a bare host.
  expect_silent(Box().host("node07").has(Limit{8 * kMib}).caps(0, kAllCapabilities).asks("PD305"));
  expect_found(Box().host("5f3c9a7d10be").has(Limit{8 * kMib}).caps(0, kAllCapabilities).asks("PD305"),
               Certainty::kLikely, 80);
  expect_found(Box().host("node07").has(Limit{8 * kMib}).caps(0, kWithIpcLock).asks("PD305"), Certainty::kLikely, 80);
  expect_silent(Box().host("5f3c9a7d10be").has(Limit{8 * kMib}).caps(0, kDockerDefault).asks("PD305"));
  expect_ruled_out(Box().has(Limit{8 * kMib}).caps(kWithIpcLock, kWithIpcLock).asks("PD305"), "effective");
  expect_ruled_out(Box().has(Limit::unlimited()).caps(0, kWithIpcLock).asks("PD305"), "unlimited");
  Box root;
  root.has(Limit{8 * kMib}).caps(0, kWithIpcLock).process.euid = known(std::uint32_t{0});
  expect_silent(root.asks("PD305"));
  Box fault(Kind::kRegMr, EFAULT);
  expect_silent(fault.has(Limit{8 * kMib}).caps(0, kWithIpcLock).asks("PD305"));
}

TEST(NotEffective, LiveIsProvenOrFine) {
  Box box;
  box.caps(0, kWithIpcLock).live("python3", "/kubepods.slice/pod1/cri-containerd-0.scope", Limit{8 * kMib});
  expect_found(box.asks_live("PD305"), Certainty::kProven, 80);
  box.live("python3", "/kubepods.slice/pod1/cri-containerd-0.scope", Limit::unlimited());
  expect_ruled_out(box.asks_live("PD305"), "unlimited");
  // A unit's CapabilityBoundingSet= cuts the set down as well, and a session is no container either.
  for (const char* cgroup : {"/system.slice/trainer.service", "/user.slice/user-7.slice/session-3.scope", ""}) {
    box.live("python3", cgroup, Limit{8 * kMib});
    expect_silent(box.asks_live("PD305"));
  }
}

// ---- PD306

TEST(UserNamespace, HeldButVoid) {
  Box box;
  box.has(Limit{64 * kKib}).caps(kAllCapabilities, kAllCapabilities);
  box.process.initial_userns = known(false);
  const Outcome out = box.asks("PD306");
  expect_found(out, Certainty::kLikely, 85);
  EXPECT_NE(out.summary.find("64 KiB"), std::string::npos) << out.summary;
  box.process.initial_userns = known(true);
  expect_ruled_out(box.asks("PD306"), "first user namespace");
  box.process.initial_userns = {};
  box.capability.usable.reset();
  expect_candidate(box.asks("PD306"));
  EXPECT_GE(box.asks("PD306").weight, 65);
  box.caps(0, kAllCapabilities);
  expect_silent(box.asks("PD306"));
}

TEST(UserNamespace, Live) {
  Box box;
  box.caps(kAllCapabilities, kAllCapabilities).live("python3", "/user.slice/libpod-0.scope", Limit{64 * kKib});
  expect_unknown(box.asks_live("PD306"));
  box.process.initial_userns = known(false);
  expect_found(box.asks_live("PD306"), Certainty::kProven, 85);
  box.live("python3", "/user.slice/libpod-0.scope", Limit::unlimited());
  expect_ruled_out(box.asks_live("PD306"), "unlimited");
}

// ---- PD307

TEST(Admission, CertaintyFollowsTheWords) {
  Box box(Kind::kContainerRefused, std::nullopt);
  box.incident.first.raw =
      "pods \"a\" is forbidden: violates PodSecurity \"baseline:latest\": non-default capabilities (container \"a\" "
      "must not "
      "include \"IPC_LOCK\" in securityContext.capabilities.add)";
  expect_found(box.asks("PD307"), Certainty::kProven, 90);
  box.incident.first.raw =
      "unable to validate against any security context constraint: [capabilities.add: Invalid value]";
  const Outcome out = box.asks("PD307");
  expect_found(out, Certainty::kLikely, 70, 89);
  EXPECT_EQ(out.remedies.front().id, "openshift-scc");
  box.incident.first.raw = "unable to validate against any security context constraint: [fsGroup: Invalid value]";
  expect_candidate(box.asks("PD307"));
  expect_silent(Box().asks("PD307"));
}

// ---- PD308

TEST(ShimOlder, PastedUnit) {
  Box box;
  box.host("5f3c9a7d10be").has(Limit{8 * kMib}).unit("containerd.service", Limit::unlimited());
  const Outcome out = box.asks("PD308");
  expect_found(out, Certainty::kLikely, 75);
  EXPECT_NE(out.summary.find("8 MiB"), std::string::npos) << out.summary;
  expect_ruled_out(Box().has(Limit{8 * kMib}).unit("containerd.service", Limit{8 * kMib}).asks("PD308"), "8 MiB");
  expect_candidate(Box().host("5f3c9a7d10be").unit("containerd.service", Limit::unlimited()).asks("PD308"));
  expect_silent(Box().has(Limit{8 * kMib}).asks("PD308"));
}

TEST(ShimOlder, LiveShimBelowContainerd) {
  Box box;
  box.live("python3", "/kubepods.slice/pod1/cri-containerd-0.scope", Limit{8 * kMib});
  box.other("containerd", 700, Limit::unlimited());
  box.trail.links.push_back(
      {"containerd-shim", 900, Limit{8 * kMib}, Limit{8 * kMib}, true, "/proc/900/limits", "", ""});
  const Outcome out = box.asks_live("PD308");
  expect_found(out, Certainty::kLikely, 80);
  EXPECT_TRUE(cites(out, "/proc/900/limits"));
  EXPECT_TRUE(cites(out, "/proc/700/limits"));
  EXPECT_GT(out.weight, box.asks_live("PD304").weight);
  box.facts.processes.back().memlock.value->soft = Limit{8 * kMib};
  expect_ruled_out(box.asks_live("PD308"), "pid 900");
}

// ---- PD309

TEST(DeviceAbsent, InAContainer) {
  Box box(Kind::kOpenDevice, std::nullopt);
  box.host("c0ffee12ab34").went_on();
  const Outcome out = box.asks("PD309");
  expect_found(out, Certainty::kLikely, 60);
  EXPECT_EQ(out.severity, Severity::kWarning);
  EXPECT_TRUE(remedies_say(out, "--device /dev/infiniband"));
}

TEST(DeviceAbsent, RunLineAndListing) {
  Box box(Kind::kOpenDevice, ENOENT);
  box.runs("docker", 3);
  expect_found(box.asks("PD309"), Certainty::kLikely, 75);
  box.facts.containers.front().infiniband_device = true;
  expect_candidate(box.asks("PD309"));
  box.node("/dev/infiniband", "", "No such file or directory");
  expect_found(box.asks("PD309"), Certainty::kProven, 80);
}

TEST(DeviceAbsent, BareHost) {
  Box box(Kind::kOpenDevice, std::nullopt);
  box.host("node07");
  expect_candidate(box.asks("PD309"));
  box.node("/dev/infiniband/uverbs0", "crw-rw-rw-");
  expect_ruled_out(box.asks("PD309"), "job.log:6");
}

TEST(DeviceAbsent, ErrnosOfOtherCauses) {
  for (const int number : {ENOMEM, EAGAIN, EMFILE, EACCES}) {
    Box box(Kind::kOpenDevice, number);
    expect_silent(box.host("c0ffee12ab34").asks("PD309"));
  }
  Box uar(Kind::kOpenDevice, std::nullopt);
  uar.host("c0ffee12ab34")
      .kernel("mlx5_core 0000:c4:00.0: mlx5_cmd_check:795:(pid 1): ALLOC_UAR(0x802) op_mod(0x0) failed");
  expect_silent(uar.asks("PD309"));
  Box blocked(Kind::kOpenDevice, EPERM);
  expect_found(blocked.host("c0ffee12ab34").asks("PD309"), Certainty::kLikely, 70);
  EXPECT_GT(blocked.asks("PD309").weight, blocked.asks("PD310").weight);
}

TEST(DeviceAbsent, Machine) {
  Box box;
  expect_silent(box.asks("PD309", SubjectKind::kMachine));
  box.node("/dev/infiniband", "", "No such file or directory");
  expect_silent(box.asks("PD309", SubjectKind::kMachine));
  expect_found(box.rdma().asks("PD309", SubjectKind::kMachine), Certainty::kProven, 60);
}

// ---- PD310

TEST(Privilege, OpenAndModes) {
  Box box(Kind::kOpenDevice, EACCES);
  box.host("node07");
  expect_found(box.asks("PD310"), Certainty::kLikely, 75, 75);
  box.node("/dev/infiniband/umad0", "crw-------").node("/dev/infiniband/uverbs0", "crw-------");
  const Outcome out = box.asks("PD310");
  expect_found(out, Certainty::kLikely, 85, 85);
  EXPECT_NE(out.summary.find("uverbs0"), std::string::npos) << out.summary;
  box.with_process = true;
  box.process.euid = known(std::uint32_t{0});
  expect_found(box.asks("PD310"), Certainty::kLikely, 75, 75);  // root passes the mode
}

TEST(Privilege, SecurityPolicy) {
  Box box(Kind::kOpenDevice, EACCES);
  box.kernel(
      "audit: type=1400 avc:  denied  { read write } for pid=1 comm=\"python3\" name=\"uverbs0\" dev=\"devtmpfs\"",
      Kind::kAvcDenied);
  const Outcome out = box.asks("PD310");
  expect_found(out, Certainty::kLikely, 88);
  EXPECT_TRUE(cites(out, "job.log:90"));
}

TEST(Privilege, EpermOfARegistration) {
  expect_candidate(Box(Kind::kRegMr, EPERM).asks("PD310"));
  expect_found(Box(Kind::kRegMr, EPERM).has(Limit{8 * kMib}).asks("PD310"), Certainty::kLikely, 60);
  expect_silent(Box(Kind::kRegMr, EPERM).has(Limit{0}).asks("PD310"));  // PD110
  Box shell(Kind::kRegMr, EPERM);
  shell.has(Limit{8 * kMib}).view.of_job = false;  // the job's own limit may be 0
  expect_candidate(shell.asks("PD310"));
  EXPECT_FALSE(remedies_say(Box(Kind::kRegMr, EPERM).has(Limit{8 * kMib}).asks("PD310"), "chmod"));
  expect_silent(Box(Kind::kRegMr, ENOMEM).has(Limit{8 * kMib}).asks("PD310"));
  Box devx(Kind::kCreateQueue, EPERM);
  devx.incident.first.verb = "mlx5dv_devx_obj_create";
  expect_found(devx.asks("PD310"), Certainty::kLikely, 75);
}

TEST(Privilege, WithoutErrno) {
  Box box(Kind::kOpenDevice, std::nullopt);
  expect_candidate(box.host("node07").asks("PD310"));
  box.node("/dev/infiniband/uverbs0", "crw-rw-rw-");
  expect_ruled_out(box.asks("PD310"), "uverbs0");
  Box uar(Kind::kOpenDevice, ENOMEM);
  expect_silent(uar.asks("PD310"));
}

// ---- PD311

constexpr const char* kAvc =
    "audit: type=1400 avc:  denied  { ipc_lock } for pid=71 comm=\"python3\" capability=14 "
    "scontext=system_u:system_r:container_t";
constexpr const char* kAppArmor =
    "audit: type=1400 apparmor=\"DENIED\" operation=\"capable\" profile=\"docker-default\" capability=14 "
    "capname=\"ipc_lock\"";

TEST(Lsm, DeniesTheCapability) {
  Box box;
  box.has(Limit{8 * kMib}).kernel(kAvc, Kind::kAvcDenied);
  const Outcome out = box.asks("PD311");
  expect_found(out, Certainty::kLikely, 80);
  EXPECT_EQ(out.remedies.front().id, "selinux-allow-ipc-lock");
  Box armour;
  armour.kernel(kAppArmor, Kind::kAvcDenied);
  EXPECT_EQ(armour.asks("PD311").remedies.front().id, "apparmor-allow-ipc-lock");
}

TEST(Lsm, OnlyWhereTheLimitCounts) {
  Box box;
  box.has(Limit::unlimited()).kernel(kAvc, Kind::kAvcDenied);
  expect_ruled_out(box.asks("PD311"), "unlimited");
  Box fault(Kind::kRegMr, EFAULT);
  fault.kernel(kAvc, Kind::kAvcDenied);
  expect_silent(fault.asks("PD311"));
  Box other;
  other.has(Limit{8 * kMib}).kernel("avc:  denied  { sys_admin } for pid=1 capability=21", Kind::kAvcDenied);
  expect_silent(other.asks("PD311"));
  Box machine;
  machine.facts.kernel_log = Fact<std::vector<std::string>>::of({kAvc}, {"dmesg", ""});
  const Outcome out = machine.asks("PD311", SubjectKind::kMachine);
  expect_found(out, Certainty::kLikely, 80);
  EXPECT_EQ(out.severity, Severity::kWarning);
}

}  // namespace
}  // namespace pindown
