// SPDX-License-Identifier: Apache-2.0
// No check puts a name from the input into a command: every row is asked about situations whose names are shell code.
#include <cerrno>

#include "base/text.h"
#include "model/trail.h"
#include "situation_fixture.h"

namespace pindown {
namespace {

using logs::Kind;

constexpr const char* kHostile[] = {
    "PWNED$(touch x)", "PWNED';curl x|sh;'", "PWNED`id`", "PWNED\nrm -rf y\n", "PWNED\"; reboot #", "-PWNED --help",
};
constexpr Kind kFailures[] = {
    Kind::kRegMr,         Kind::kRegDmabuf,       Kind::kCreateQueue,      Kind::kAllocPd,
    Kind::kOpenDevice,    Kind::kDriverMissing,   Kind::kMrTooLarge,       Kind::kMemlockWarning,
    Kind::kForkHugepages, Kind::kRegisterableLow, Kind::kSetrlimitRefused, Kind::kContainerRefused,
    Kind::kModifyQp,      Kind::kCompletion,      Kind::kConnection,       Kind::kCudaOom,
    Kind::kHostOom,       Kind::kKilled,          Kind::kSegfault,         Kind::kShm,
    Kind::kTooManyFiles,  Kind::kIoUring,         Kind::kLibraryError,
};
constexpr int kErrors[] = {0, ENOMEM, EPERM, EACCES, EAGAIN, EFAULT, EINVAL, ENODEV, ENOENT, EOPNOTSUPP, ERANGE, 524};

/// Everything a stranger can name has the hostile name; limits are low so that as many rows as possible speak.
struct HostileScene {
  logs::Incident incident;
  logs::RunContext run;
  Facts facts;
  Process process;
  Trail trail;

  HostileScene(const std::string& name, Kind kind, int error, const std::string& prefix) {
    logs::Event& first = incident.first;
    first.kind = kind;
    if (error != 0) first.error = error;
    first.error_text = name;
    first.library = kind == Kind::kOpenDevice ? "nccl" : "ucx";
    first.verb = "ibv_reg_mr " + name;
    first.device = prefix + name;
    first.detail = name;
    first.shape.host = name;
    first.shape.pid = 77;
    first.input = name;
    first.raw = "IPC_LOCK capabilities " + name;
    first.length = 1U << 30;
    incident.hosts.insert(name);
    run.devices = {prefix + name, prefix + "0" + name};
    run.net_ib = true;
    run.nccl_version = "2.20.5" + name;
    facts_of(name, prefix);
  }

  void facts_of(const std::string& name, const std::string& prefix) {
    const Source at{name, name};
    facts.host = name;
    RdmaDevice& device = facts.devices[prefix + name];
    device.name = prefix + name;
    device.state = Fact<std::string>::of("PORT_DOWN " + name, at);
    for (auto* number : {&device.max_mr, &device.mr_count, &device.max_qp, &device.qp_count, &device.cg_max_handle,
                         &device.cg_current_handle, &device.cg_max_object, &device.cg_current_object}) {
      *number = Fact<std::uint64_t>::of(1000, at);
    }
    for (const std::string& unit : {name + ".service", std::string("docker.service"), std::string("slurmd.service")}) {
      facts.units.push_back({unit, {Limit{65536}, Limit{65536}}, at});
    }
    for (const std::string& engine : {name, std::string("docker"), std::string("podman")}) {
      ContainerCommand& command = facts.containers.emplace_back();
      command.engine = engine;
      command.user = name;
      command.source = at;
    }
    facts.limits_conf.push_back({name, "-", "memlock", "64G", at});
    facts.device_nodes.push_back({"/dev/infiniband/uverbs0" + name, "crw-------", "", at});
    facts.kernel = Fact<std::string>::of("7.0.0-nvidia" + name, at);
    facts.distro = Fact<std::string>::of("Ubuntu 22.04 " + name, at);
    facts.sshd_usepam = Fact<bool>::of(false, at);
    facts.gpus.emplace_back().product = Fact<std::string>::of("GeForce " + name, at);
    process_of(name, at);
  }

  void process_of(const std::string& name, const Source& at) {
    process.comm = name;
    process.cmdline = name;
    process.user = name;
    process.cgroup = "/system.slice/" + name + ".service";
    process.where.pid = 77;
    process.memlock = Fact<MemlockLimit>::of({Limit{65536}, Limit::unlimited()}, at);
    CapabilitySets caps;
    caps.effective = 0;
    caps.bounding = std::uint64_t{1} << kCapIpcLock;
    process.caps = Fact<CapabilitySets>::of(caps, at);
    process.initial_userns = Fact<bool>::of(true, at);
    facts.processes.push_back(process);
    for (const char* link : {"systemd", "sshd", "raylet"}) {
      TrailLink& made = trail.links.emplace_back();
      made.name = link + name;
      made.pid = static_cast<std::int64_t>(trail.links.size());
      made.soft = Limit{65536};
      made.hard = Limit::unlimited();
    }
  }

  Situation about(SubjectKind kind, bool known_limit, bool daemon) const {
    Situation s;
    s.kind = kind;
    s.facts = &facts;
    s.is_daemon = daemon;
    if (kind == SubjectKind::kIncident) {
      s.incident = &incident;
      s.run = &run;
      s.process = &process;
    }
    if (kind == SubjectKind::kProcess) {
      s.process = &process;
      s.trail = &trail;
      s.ipc_lock.usable = false;
    }
    if (known_limit)
      s.limit = {Limit{65536}, Limit::unlimited(), {facts.host, facts.host}, "shown", true, false, false};
    return s;
  }
};

/// The rows that gave a command, and the strings that a reader may paste into a shell.
std::size_t expect_clean(const Situation& s) {
  std::size_t seen = 0;
  for (const Check* row : all_checks()) {
    if (row->eval == nullptr) continue;
    const Outcome out = row->eval(s);
    std::vector<std::string> pasted = {out.decide, out.how};
    for (const Remedy& remedy : out.remedies) {
      pasted.insert(pasted.end(), remedy.commands.begin(), remedy.commands.end());
      pasted.push_back(remedy.verify);
    }
    for (const std::string& command : pasted) {
      if (!command.empty()) ++seen;
      EXPECT_EQ(command.find("PWNED"), std::string::npos) << row->code << ": " << command;
      EXPECT_EQ(command.find('\n'), std::string::npos) << row->code << ": " << command;
    }
  }
  return seen;
}

TEST(HostileNames, NeverReachACommandOfAFailure) {
  std::size_t seen = 0;
  for (const char* name : kHostile) {
    for (const Kind kind : kFailures) {
      for (const int error : kErrors) {
        for (const char* prefix : {"mlx5_", "mlx4_", "siw", ""}) {
          const HostileScene scene(name, kind, error, prefix);
          for (const bool known : {true, false})
            seen += expect_clean(scene.about(SubjectKind::kIncident, known, false));
        }
      }
    }
  }
  EXPECT_GT(seen, 1000U);  // the rows did speak
}

TEST(HostileNames, NeverReachACommandForALaunchedJob) {
  for (const char* name : kHostile) {
    for (const char* launcher : {"srun", "kubectl", "cri", "ray", "mpirun", "pdsh", "docker-json", "pyxis", "torque"}) {
      HostileScene scene(name, Kind::kRegMr, ENOMEM, "mlx5_");
      scene.run.launchers = {launcher, name};
      EXPECT_GT(expect_clean(scene.about(SubjectKind::kIncident, true, false)), 0U);
    }
  }
}

TEST(HostileNames, NeverReachACommandForALiveProcessOrMachine) {
  for (const char* name : kHostile) {
    HostileScene scene(name, Kind::kRegMr, ENOMEM, "mlx5_");
    for (const char* cgroup : {"/system.slice/", "/kubepods/", "/docker/", "/user.slice/user@1.service/"}) {
      scene.process.cgroup = cgroup + std::string(name) + ".service";
      for (const bool daemon : {true, false}) {
        EXPECT_GT(expect_clean(scene.about(SubjectKind::kProcess, true, daemon)), 0U);
      }
    }
    EXPECT_GT(expect_clean(scene.about(SubjectKind::kMachine, false, false)), 0U);
  }
}

}  // namespace
}  // namespace pindown
