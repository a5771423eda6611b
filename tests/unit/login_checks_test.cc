// SPDX-License-Identifier: Apache-2.0
// PD1xx and PD2xx: what PAM makes of a limits.conf line, and which check speaks up for situations built by hand.
// No file of the machine is read.
#include <gtest/gtest.h>

#include <cerrno>

#include "checks/check.h"
#include "checks/limit_common.h"
#include "checks/login_rows.h"
#include "checks/pam_lines.h"
#include "model/trail.h"

namespace pindown {
namespace {

using Kind = Outcome::Kind;

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::uint64_t kGiB = 1024 * kMiB;
constexpr Limit kUnlimited = Limit::unlimited();

Outcome run_check(std::string_view code, const Situation& s) {
  for (const auto table : {login_checks(), service_checks()}) {
    for (const Check& row : table) {
      if (row.code == code) return row.eval(s);
    }
  }
  ADD_FAILURE() << "no row " << code;
  return {};
}

Source at(int line, std::string text) {
  return {"train.log:" + std::to_string(line), std::move(text)};
}

LimitsConfLine conf(std::string domain, std::string type, std::string item, std::string value) {
  Source source = at(90, domain + " " + type + " " + item + " " + value);
  return {std::move(domain), std::move(type), std::move(item), std::move(value), std::move(source)};
}

/// A failing ibv_reg_mr with ENOMEM in a log; members are changed by each test before use.
struct LogCase {
  logs::Incident incident;
  logs::RunContext run;
  Facts facts;
  Process process;
  Situation s;

  LogCase() {
    incident.first.kind = logs::Kind::kRegMr;
    incident.first.library = "nccl";
    incident.first.verb = "ibv_reg_mr";
    incident.first.error = ENOMEM;
    incident.first.input = "train.log";
    incident.first.line = 12;
    incident.first.raw = "NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory";
    s.kind = SubjectKind::kIncident;
    s.incident = &incident;
    s.run = &run;
    s.facts = &facts;
    s.from_log_alone = true;
  }
  LogCase(const LogCase&) = delete;
  LogCase& operator=(const LogCase&) = delete;

  void job_limit(Limit soft, std::optional<Limit> hard = std::nullopt) {
    s.limit.soft = soft;
    s.limit.hard = hard;
    s.limit.of_job = true;
    s.limit.source = at(20, "max locked memory (kbytes, -l)");
    s.limit.from = "the job printed it";
  }
  void shell_limit(Limit soft) {
    Process shell;
    shell.kind = ProcessKind::kShell;
    shell.memlock = Fact<MemlockLimit>::of({soft, std::nullopt}, at(30, "unlimited"));
    facts.processes.push_back(shell);
  }
  void distro(std::string name) { facts.distro = Fact<std::string>::of(name, at(40, name)); }
};

/// A live process with its ancestors, PID 1 first.
struct LiveCase {
  Facts facts;
  Process process;
  Trail trail;
  Situation s;

  LiveCase() {
    process.where.pid = 4242;
    process.comm = "python3";
    s.kind = SubjectKind::kProcess;
    s.process = &process;
    s.facts = &facts;
    s.ipc_lock.usable = false;
    facts.rdma_present = Fact<bool>::of(true, {"/sys/class/infiniband", ""});
  }
  LiveCase(const LiveCase&) = delete;
  LiveCase& operator=(const LiveCase&) = delete;

  void limit(Limit soft, Limit hard) {
    s.limit.soft = soft;
    s.limit.hard = hard;
    s.limit.of_job = true;
    s.limit.source = {"/proc/4242/limits", "Max locked memory"};
  }
  void links(std::vector<std::pair<std::string, Limit>> chain, Limit hard = kUnlimited) {
    std::optional<Limit> above;
    std::int64_t pid = 1;
    for (auto& [name, soft] : chain) {
      TrailLink link;
      link.name = name;
      link.pid = pid;
      link.soft = soft;
      link.hard = hard;
      link.set_here = above && *above != soft;
      above = soft;
      pid += 100;
      trail.links.push_back(link);
    }
    s.trail = &trail;
  }
  /// A session of alice over ssh that has what sshd itself has.
  void ssh_session(Limit of_sshd) {
    limit(of_sshd, of_sshd);
    process.cgroup = "/user.slice/user-1000.slice/session-3.scope";
    links({{"systemd", Limit{512 * kMiB}}, {"ssh.service", of_sshd}, {"sshd: alice", of_sshd}, {"python3", of_sshd}});
  }
};

// --- PAM -------------------------------------------------------------------------------------------------------------

TEST(PamValue, ReadsAsPamLimitsDoes) {
  struct Row {
    std::string text;
    std::optional<Limit> old_pam;  // up to 1.5.3
    std::optional<Limit> new_pam;  // since 1.6.1
  };
  const auto kib = [](std::uint64_t n) { return std::optional(Limit{n * kKiB}); };
  const auto none = std::optional<Limit>();
  const std::vector<Row> rows = {
      {"unlimited", kUnlimited, kUnlimited},
      {"UNLIMITED", kUnlimited, kUnlimited},
      {"infinity", kUnlimited, kUnlimited},
      {"-1", kUnlimited, kUnlimited},
      {"-", kUnlimited, kUnlimited},
      {"65536", kib(65536), kib(65536)},
      {"64G", kib(64), kib(64)},
      {"2g", kib(2), kib(2)},
      {"0x800", kib(0), kib(0)},
      {"0", kib(0), kib(0)},
      {"abc", none, none},
      {"", none, none},
      {"unlimit", none, none},
      {"2048.9", kib(2048), kib(2048)},
      {"1e6", kib(1), kib(1)},
      {"1,000", kib(1), kib(1)},
      {"+64", kib(64), kib(64)},
      {"064", kib(64), kib(64)},
      {"-5", kUnlimited, kUnlimited},
      {"-0", kib(0), kib(0)},
      {"18014398509481982", kib(18014398509481982ULL), kib(18014398509481982ULL)},
      {"18014398509481983", kUnlimited, kUnlimited},
      {"99999999999999999999999999", kUnlimited, kUnlimited},
      {"unlimited\r", kUnlimited, none},
      {"65536\r", kib(65536), kib(65536)},
      {"unlimited  \t", kUnlimited, kUnlimited},
      {"unlimited junk", kUnlimited, none},
      {"2048 KB", kib(2048), kib(2048)},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(pam_value(row.text, PamParser::kFirstWord), row.old_pam) << row.text;
    EXPECT_EQ(pam_value(row.text, PamParser::kRestOfLine), row.new_pam) << row.text;
  }
}

TEST(PamLine, NamesOnlyLinesThatAreReadOtherwise) {
  struct Row {
    LimitsConfLine line;
    bool problem;
    std::optional<Limit> reads_as;
    bool by_version;
  };
  const auto none = std::optional<Limit>();
  const std::vector<Row> rows = {
      {conf("*", "-", "memlock", "unlimited"), false, none, false},
      {conf("*", "SOFT", "MemLock", "Unlimited"), false, none, false},
      {conf("@hpc", "hard", "memlock", "65536"), false, none, false},
      {conf("*", "soft", "memlock", "65536K"), false, none, false},
      {conf("*", "soft", "nofile", "1048576"), false, none, false},
      {conf("*", "soft", "nofile", "64G"), false, none, false},
      {conf("0:10", "-", "memlock", "unlimited"), false, none, false},
      {conf("*", "soft", "memlock", "64G"), true, Limit{64 * kKiB}, false},
      {conf("*", "hard", "memlock", "64GB"), true, Limit{64 * kKiB}, false},
      {conf("*", "-", "memlock", "0x4000000"), true, Limit{0}, false},
      {conf("*", "-", "memlock", "1,000,000"), true, Limit{1 * kKiB}, false},
      {conf("*", "-", "memlock", "unlimit"), true, none, false},
      {conf("*", "both", "memlock", "unlimited"), true, none, false},
      {conf("*", "seft", "memlock", "unlimited"), true, none, false},
      {conf("*", "soft", "memlok", "unlimited"), true, none, false},
      {conf("*", "soft", "mem_lock", "unlimited"), true, none, false},
      {conf("alice,bob", "-", "memlock", "unlimited"), true, none, false},
      {conf("\"alice\"", "-", "memlock", "unlimited"), true, none, false},
      {conf("%hpc", "-", "memlock", "unlimited"), true, none, false},
      {conf("\xef\xbb\xbf*", "-", "memlock", "unlimited"), true, none, false},
      {conf("*", "-", "memlock", "unlimited\r"), true, none, true},
      {conf("*", "-", "memlock", "unlimited^M$"), true, none, true},
      {conf("*", "-", "memlock", "unlimited for rdma"), true, none, true},
  };
  for (const Row& row : rows) {
    const auto problem = line_problem(row.line);
    ASSERT_EQ(problem.has_value(), row.problem) << row.line.source.text;
    if (!problem) continue;
    EXPECT_EQ(problem->reads_as, row.reads_as) << row.line.source.text;
    EXPECT_EQ(problem->depends_on_version, row.by_version) << row.line.source.text;
    EXPECT_FALSE(problem->why.empty());
  }
}

TEST(PamLine, WordsAfterTheValueComeFromTheLineItself) {
  LimitsConfLine line = conf("*", "-", "memlock", "unlimited");
  line.source.text = "* - memlock unlimited for rdma";
  ASSERT_TRUE(line_problem(line));
  EXPECT_TRUE(line_problem(line)->depends_on_version);
  line.source.text = "/etc/security/limits.conf:* - memlock unlimited   # for rdma";
  EXPECT_FALSE(line_problem(line));
  line.source.text = "something else";
  EXPECT_FALSE(line_problem(line));
}

TEST(PamEffective, ClassBeatsOrderAndLaterBeatsEarlier) {
  const std::vector<LimitsConfLine> by_class = {conf("alice", "-", "memlock", "64"),
                                                conf("*", "-", "memlock", "unlimited")};
  EXPECT_EQ(pam_effective(by_class, {.user = "alice"}).soft, Limit{64 * kKiB});
  EXPECT_EQ(pam_effective(by_class, {.user = "Alice"}).soft, kUnlimited);  // domains are case-sensitive
  const std::vector<LimitsConfLine> by_order = {conf("*", "-", "memlock", "unlimited"),
                                                conf("*", "soft", "memlock", "64")};
  const LinesOutcome later = pam_effective(by_order, {.user = "alice"});
  EXPECT_EQ(later.soft, Limit{64 * kKiB});
  EXPECT_EQ(later.hard, kUnlimited);
  EXPECT_EQ(later.soft_line, &by_order[1]);
  const std::vector<LimitsConfLine> clamp = {conf("*", "soft", "memlock", "unlimited"),
                                             conf("*", "hard", "memlock", "128")};
  EXPECT_EQ(pam_effective(clamp, {.user = "alice"}).soft, Limit{128 * kKiB});
}

TEST(PamEffective, RootNeedsItsOwnLineOnDebian) {
  const std::vector<LimitsConfLine> star = {conf("*", "-", "memlock", "unlimited")};
  const PamSubject debian_root{.user = "root", .root = true, .explicit_root = true};
  EXPECT_FALSE(pam_effective(star, debian_root).soft);
  EXPECT_EQ(pam_effective(star, {.user = "root", .root = true}).soft, kUnlimited);
  EXPECT_EQ(pam_effective({conf("0:100", "-", "memlock", "64")}, debian_root).soft, Limit{64 * kKiB});
  EXPECT_EQ(pam_effective({conf(":0", "-", "memlock", "64")}, debian_root).soft, Limit{64 * kKiB});
  EXPECT_FALSE(pam_effective({conf("1:100", "-", "memlock", "64")}, debian_root).soft);
  EXPECT_EQ(pam_effective({conf("root", "-", "memlock", "64")}, debian_root).soft, Limit{64 * kKiB});
}

// --- small helpers ---------------------------------------------------------------------------------------------------

TEST(UlimitCommand, TellsCommandsFromQueriesAndOutput) {
  const std::vector<std::pair<std::string, std::optional<Limit>>> rows = {
      {"ulimit -l 64", Limit{64 * kKiB}},
      {"+ ulimit -Sl 8192", Limit{8 * kMiB}},
      {"cd /srv && ulimit -S -l 65536; srun ./a", Limit{64 * kMiB}},
      {"ulimit -l unlimited", kUnlimited},
      {"ulimit -l", std::nullopt},
      {"ulimit -l: 64", std::nullopt},
      {"ulimit -n 64", std::nullopt},
      {"max locked memory (kbytes, -l) 64", std::nullopt},
      {"ulimit", std::nullopt},
      {"", std::nullopt},
  };
  for (const auto& [text, want] : rows) EXPECT_EQ(login::ulimit_command(text), want) << text;
}

TEST(LimitCommon, ServiceOfCgroup) {
  EXPECT_EQ(limits::service_of("/system.slice/ray.service"), "ray.service");
  EXPECT_EQ(limits::service_of("/system.slice/ray.service/workers"), "ray.service");
  EXPECT_EQ(limits::service_of("/user.slice/user-1000.slice/session-3.scope"), "");
  EXPECT_EQ(limits::service_of("/user.slice/user-1000.slice/user@1000.service/app.slice/x.scope"), "user@1000.service");
  EXPECT_EQ(limits::service_of("/kubepods.slice/kubepods-pod1.slice/cri-containerd-abc.scope"), "");
  EXPECT_EQ(limits::service_of(""), "");
}

TEST(LimitCommon, DistroDecidesWhetherPamResets) {
  const std::vector<std::pair<std::string, bool>> rows = {
      {"Debian GNU/Linux 12 (bookworm)", true},
      {"Debian GNU/Linux 13 (trixie)", false},
      {"Ubuntu 24.04.1 LTS", true},
      {"Ubuntu 25.04", false},
      {"Rocky Linux 9.4 (Blue Onyx)", false},
      {"Debian GNU/Linux sid", false},
  };
  for (const auto& [name, resets] : rows) {
    Facts facts;
    facts.distro = Fact<std::string>::of(name, {"/etc/os-release", name});
    EXPECT_EQ(limits::distro_of(facts).pam_resets(), resets) << name;
  }
}

TEST(LimitCommon, HostileNamesNeverReachACommand) {
  EXPECT_EQ(limits::safe_word("ray.service", "X"), "ray.service");
  EXPECT_EQ(limits::safe_word("a;rm -rf /", "X"), "X");
  EXPECT_EQ(limits::safe_word("-rf", "X"), "X");
  EXPECT_EQ(limits::safe_word("$(id)", "X"), "X");
  EXPECT_EQ(limits::safe_word("", "X"), "X");
}

// --- PD101 on logs
// -----------------------------------------------------------------------------------------------------

TEST(MemlockTooLow, EnomemWithoutLimitIsACandidate) {
  LogCase c;
  const Outcome out = run_check("PD101", c.s);
  EXPECT_EQ(out.kind, Kind::kCandidate);
  EXPECT_EQ(out.weight, 50);
  EXPECT_NE(out.decide.find("/proc/PID/limits"), std::string::npos);
}

TEST(MemlockTooLow, DecidesInTheLaunchersWords) {
  LogCase slurm;
  slurm.run.launchers = {"srun", "slurm"};
  EXPECT_TRUE(run_check("PD101", slurm.s).decide.starts_with("srun "));
  LogCase mpi;
  mpi.run.launchers = {"mpirun"};
  EXPECT_TRUE(run_check("PD101", mpi.s).decide.starts_with("mpirun "));
  LogCase pod;
  pod.run.launchers = {"kubectl"};
  EXPECT_TRUE(run_check("PD101", pod.s).decide.starts_with("kubectl exec "));
}

TEST(MemlockTooLow, LowLimitOfTheJobIsFound) {
  LogCase c;
  c.incident.first.kind = logs::Kind::kCreateQueue;
  c.incident.first.verb = "ibv_create_cq";
  c.job_limit(Limit{64 * kKiB});
  const Outcome out = run_check("PD101", c.s);
  ASSERT_EQ(out.kind, Kind::kFound);
  EXPECT_EQ(out.certainty, Certainty::kLikely);
  EXPECT_FALSE(out.severity);
  EXPECT_NE(out.summary.find("64 KiB"), std::string::npos);
  ASSERT_EQ(out.evidence.size(), 2U);
  EXPECT_EQ(out.evidence[0].source, "train.log:12");
  EXPECT_EQ(out.evidence[1].source, "train.log:20");
  EXPECT_FALSE(out.remedies.empty());
}

TEST(MemlockTooLow, JobThatWentOnIsAWarning) {
  LogCase c;
  c.job_limit(Limit{64 * kKiB});
  c.incident.continued = true;
  EXPECT_EQ(run_check("PD101", c.s).severity, Severity::kWarning);
}

TEST(MemlockTooLow, ClearedByUnlimitedOrCapability) {
  LogCase unlimited;
  unlimited.job_limit(kUnlimited);
  EXPECT_EQ(run_check("PD101", unlimited.s).kind, Kind::kRuledOut);
  LogCase capable;
  capable.job_limit(Limit{64 * kKiB});
  capable.s.ipc_lock.usable = true;
  capable.s.ipc_lock.why = "CapEff has bit 14";
  const Outcome out = run_check("PD101", capable.s);
  ASSERT_EQ(out.kind, Kind::kRuledOut);
  EXPECT_NE(out.why.find("CapEff has bit 14"), std::string::npos);
}

TEST(MemlockTooLow, OtherErrnosAndPathsAreRuledOut) {
  for (const int error : {EFAULT, EINVAL, EAGAIN, EOPNOTSUPP}) {
    LogCase c;
    c.job_limit(Limit{64 * kKiB});
    c.incident.first.error = error;
    EXPECT_EQ(run_check("PD101", c.s).kind, Kind::kRuledOut) << error;
  }
  LogCase dmabuf;
  dmabuf.incident.first.kind = logs::Kind::kRegDmabuf;
  EXPECT_EQ(run_check("PD101", dmabuf.s).kind, Kind::kRuledOut);
  LogCase open;
  open.incident.first.kind = logs::Kind::kOpenDevice;
  EXPECT_EQ(run_check("PD101", open.s).kind, Kind::kRuledOut);
  LogCase modify;
  modify.incident.first.kind = logs::Kind::kModifyQp;
  modify.job_limit(Limit{64 * kKiB});
  EXPECT_EQ(run_check("PD101", modify.s).kind, Kind::kNotApplicable);
}

TEST(MemlockTooLow, LibraryWarningNamesTheLimit) {
  LogCase c;
  c.incident.first.kind = logs::Kind::kMemlockWarning;
  c.incident.first.error.reset();
  EXPECT_EQ(run_check("PD101", c.s).kind, Kind::kFound);
  c.incident.first.limit = Limit::kInfinity;
  EXPECT_EQ(run_check("PD101", c.s).kind, Kind::kRuledOut);
}

TEST(MemlockTooLow, UcxSilentAboutTheLimitWeighsLess) {
  LogCase c;
  c.incident.first.library = "ucx";
  const Outcome out = run_check("PD101", c.s);
  EXPECT_EQ(out.kind, Kind::kCandidate);
  EXPECT_LT(out.weight, 30);
}

TEST(MemlockTooLow, YieldsToTheNamedLink) {
  LogCase c;
  c.job_limit(Limit{64 * kKiB});
  ASSERT_EQ(run_check("PD101", c.s).kind, Kind::kFound);
  c.facts.sshd_usepam = Fact<bool>::of(false, at(50, "UsePAM no"));
  const Outcome link = run_check("PD102", c.s);
  EXPECT_EQ(link.kind, Kind::kFound);
  EXPECT_GT(link.weight, run_check("PD101", c.s).weight);  // the report then leaves PD101 out
}

TEST(MemlockTooLow, EffectiveCapabilityIsOnlyAQuestion) {
  LogCase c;
  c.job_limit(Limit{64 * kKiB});
  CapabilitySets caps;
  caps.effective = std::uint64_t{1} << kCapIpcLock;
  c.process.caps = Fact<CapabilitySets>::of(caps, at(21, "CapEff"));
  c.s.process = &c.process;
  const Outcome open = run_check("PD101", c.s);
  EXPECT_EQ(open.kind, Kind::kCandidate);
  EXPECT_NE(open.why.find("64 KiB"), std::string::npos) << open.why;
  caps.effective = 0;
  c.process.caps = Fact<CapabilitySets>::of(caps, at(21, "CapEff"));
  EXPECT_EQ(run_check("PD101", c.s).kind, Kind::kFound);
}

TEST(MemlockTooLow, OnlyWhatIsCharged) {
  LogCase c;
  c.job_limit(Limit{64 * kKiB});
  c.incident.first.raw = "ibv_reg_mr(address=0x7f0000000000, length=1073741824, access=0x4f) failed";
  EXPECT_EQ(run_check("PD101", c.s).kind, Kind::kRuledOut);  // on-demand paging
  c.incident.first.raw = "ibv_reg_mr(address=0x7f0000000000, length=1073741824, access=0xf) failed";
  EXPECT_EQ(run_check("PD101", c.s).kind, Kind::kFound);
  c.incident.first.kind = logs::Kind::kCreateQueue;
  for (const auto& [device, kind] : {std::pair{"rxe0", Kind::kRuledOut},
                                     {"efa_0", Kind::kRuledOut},
                                     {"mlx5_0", Kind::kFound},
                                     {"siw0", Kind::kFound}}) {
    c.run.devices = {device};
    EXPECT_EQ(run_check("PD101", c.s).kind, kind) << device;
  }
  c.run.devices = {"mlx5_0", "rxe0"};
  EXPECT_EQ(run_check("PD101", c.s).kind, Kind::kFound);
  c.incident.first.kind = logs::Kind::kAllocPd;
  EXPECT_EQ(run_check("PD101", c.s).kind, Kind::kCandidate);
}

TEST(LimitsConf, UnlimitedShellAccusesNobody) {
  LogCase c;
  c.distro("Ubuntu 22.04");
  c.facts.sshd_usepam = Fact<bool>::of(false, at(50, "usepam no"));
  c.facts.limits_conf = {conf("*", "-", "memlock", "unlimited")};
  Process root;
  root.kind = ProcessKind::kShell;
  root.user = "root";
  c.facts.processes.push_back(root);
  for (const char* code : {"PD102", "PD105"}) EXPECT_EQ(run_check(code, c.s).kind, Kind::kCandidate) << code;
  c.s.limit.soft = kUnlimited;
  for (const char* code : {"PD102", "PD105"}) EXPECT_EQ(run_check(code, c.s).kind, Kind::kRuledOut) << code;
  c.s.limit.soft = Limit{64 * kKiB};
  for (const char* code : {"PD102", "PD105"}) EXPECT_EQ(run_check(code, c.s).kind, Kind::kFound) << code;
}

// --- PAM rows on logs
// ----------------------------------------------------------------------------------------------------

TEST(SshdUsePam, OffIsFoundOnIsRuledOut) {
  LogCase c;
  c.run.launchers = {"mpirun"};
  c.job_limit(Limit{8 * kMiB});
  c.facts.sshd_usepam = Fact<bool>::of(false, at(50, "usepam no"));
  const Outcome off = run_check("PD102", c.s);
  ASSERT_EQ(off.kind, Kind::kFound);
  EXPECT_EQ(off.certainty, Certainty::kLikely);
  EXPECT_GT(off.weight, 55);
  c.facts.sshd_usepam = Fact<bool>::of(true, at(50, "usepam yes"));
  EXPECT_EQ(run_check("PD102", c.s).kind, Kind::kRuledOut);
  c.facts.sshd_usepam = {};
  EXPECT_EQ(run_check("PD102", c.s).kind, Kind::kNotApplicable);
  c.shell_limit(kUnlimited);  // local shell fine, remote rank not
  EXPECT_EQ(run_check("PD102", c.s).kind, Kind::kCandidate);
}

TEST(SshdUsePam, SaysNothingOfSlurmJobs) {
  LogCase c;
  c.run.launchers = {"srun", "slurm"};
  c.job_limit(Limit{8 * kMiB});
  c.facts.sshd_usepam = Fact<bool>::of(false, at(50, "usepam no"));
  EXPECT_EQ(run_check("PD102", c.s).kind, Kind::kNotApplicable);
}

TEST(PamLimitsNotInStack, OnlyWhereLimitsConfWouldDo) {
  LogCase c;
  c.run.launchers = {"mpirun"};
  EXPECT_EQ(run_check("PD103", c.s).kind, Kind::kNotApplicable);
  c.facts.limits_conf = {conf("*", "-", "memlock", "unlimited")};
  EXPECT_EQ(run_check("PD103", c.s).kind, Kind::kCandidate);
  c.facts.sshd_usepam = Fact<bool>::of(false, at(50, "usepam no"));
  EXPECT_EQ(run_check("PD103", c.s).kind, Kind::kNotApplicable);
}

TEST(LimitsConfLine, ProvenWhenTheLimitIsWhatPamReads) {
  LogCase c;
  c.facts.limits_conf = {conf("*", "soft", "memlock", "64G"), conf("*", "hard", "memlock", "64G")};
  EXPECT_EQ(run_check("PD104", c.s).kind, Kind::kCandidate);
  c.job_limit(Limit{64 * kKiB});
  const Outcome out = run_check("PD104", c.s);
  ASSERT_EQ(out.kind, Kind::kFound);
  EXPECT_EQ(out.certainty, Certainty::kProven);
  EXPECT_FALSE(out.severity);
  c.job_limit(Limit{8 * kMiB});  // another value: this line did not decide
  EXPECT_EQ(run_check("PD104", c.s).severity, Severity::kNote);
}

TEST(LimitsConfLine, LaterGoodLineMakesUpForIt) {
  LogCase c;
  c.facts.limits_conf = {conf("*", "-", "memlock", "64G"), conf("*", "-", "memlock", "unlimited")};
  EXPECT_EQ(run_check("PD104", c.s).kind, Kind::kNotApplicable);
}

TEST(LimitsConfLine, CarriageReturnDependsOnPam) {
  LogCase c;
  c.facts.limits_conf = {conf("*", "-", "memlock", "unlimited\r")};
  EXPECT_EQ(run_check("PD104", c.s).kind, Kind::kCandidate);
  c.distro("Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(run_check("PD104", c.s).kind, Kind::kNotApplicable);
  c.distro("Debian GNU/Linux 13 (trixie)");
  EXPECT_EQ(run_check("PD104", c.s).kind, Kind::kCandidate);
  c.job_limit(Limit{64 * kKiB});
  EXPECT_EQ(run_check("PD104", c.s).kind, Kind::kFound);
}

TEST(LimitsConfRoot, OnlyOnDebianAndOnlyForRoot) {
  LogCase c;
  c.job_limit(Limit{8 * kMiB});
  c.facts.limits_conf = {conf("*", "-", "memlock", "unlimited")};
  c.process.euid = Fact<std::uint32_t>::of(0, at(60, "Uid: 0"));
  c.s.process = &c.process;
  EXPECT_EQ(run_check("PD105", c.s).kind, Kind::kCandidate);
  c.distro("Ubuntu 22.04.4 LTS");
  EXPECT_EQ(run_check("PD105", c.s).kind, Kind::kFound);
  c.distro("Rocky Linux 9.4 (Blue Onyx)");
  EXPECT_EQ(run_check("PD105", c.s).kind, Kind::kRuledOut);
  c.distro("Ubuntu 22.04.4 LTS");
  c.facts.limits_conf.push_back(conf("root", "-", "memlock", "unlimited"));
  EXPECT_EQ(run_check("PD105", c.s).kind, Kind::kNotApplicable);
  c.facts.limits_conf.pop_back();
  c.process.euid = Fact<std::uint32_t>::of(1000, at(60, "Uid: 1000"));
  EXPECT_EQ(run_check("PD105", c.s).kind, Kind::kNotApplicable);
}

TEST(LimitsConfOverridden, WinnerMustBeTheLimitSeen) {
  LogCase c;
  c.facts.limits_conf = {conf("*", "-", "memlock", "unlimited"), conf("@hpc", "-", "memlock", "64")};
  EXPECT_EQ(run_check("PD106", c.s).kind, Kind::kCandidate);
  c.job_limit(Limit{64 * kKiB});
  EXPECT_EQ(run_check("PD106", c.s).kind, Kind::kFound);
  c.job_limit(Limit{8 * kMiB});
  EXPECT_EQ(run_check("PD106", c.s).kind, Kind::kNotApplicable);
  c.facts.limits_conf = {conf("@hpc", "-", "memlock", "unlimited"), conf("*", "-", "memlock", "64")};
  c.job_limit(Limit{64 * kKiB});
  EXPECT_EQ(run_check("PD106", c.s).kind, Kind::kNotApplicable);  // whether alice is in hpc is not known
}

// --- process rows on logs --------------------------------------------------------------------------------------------

TEST(SoftBelowHard, NeedsAHardLimitThatWouldDo) {
  LogCase c;
  c.job_limit(Limit{64 * kKiB}, kUnlimited);
  const Outcome out = run_check("PD107", c.s);
  ASSERT_EQ(out.kind, Kind::kFound);
  EXPECT_EQ(out.remedies.front().commands, std::vector<std::string>{"ulimit -l unlimited"});
  c.job_limit(Limit{64 * kKiB}, Limit{128 * kKiB});
  EXPECT_EQ(run_check("PD107", c.s).kind, Kind::kNotApplicable);
  c.job_limit(Limit{64 * kKiB}, Limit{64 * kKiB});
  EXPECT_EQ(run_check("PD107", c.s).kind, Kind::kNotApplicable);
}

TEST(ProcessOlderThanFix, NeedsAShellThatHasEnough) {
  LogCase c;
  c.job_limit(Limit{64 * kKiB});
  EXPECT_EQ(run_check("PD109", c.s).kind, Kind::kNotApplicable);
  c.shell_limit(kUnlimited);
  EXPECT_EQ(run_check("PD109", c.s).kind, Kind::kCandidate);
  c.facts.limits_conf = {conf("*", "-", "memlock", "unlimited")};
  EXPECT_EQ(run_check("PD109", c.s).kind, Kind::kFound);
  c.run.launchers = {"srun", "slurm"};
  EXPECT_EQ(run_check("PD109", c.s).kind, Kind::kNotApplicable);
}

TEST(MemlockZero, EpermTable) {
  LogCase c;
  EXPECT_EQ(run_check("PD110", c.s).kind, Kind::kNotApplicable);  // ENOMEM
  c.incident.first.error = EPERM;
  EXPECT_EQ(run_check("PD110", c.s).kind, Kind::kCandidate);
  EXPECT_NE(run_check("PD101", c.s).kind, Kind::kFound);
  c.job_limit(Limit{0});
  const Outcome zero = run_check("PD110", c.s);
  ASSERT_EQ(zero.kind, Kind::kFound);
  EXPECT_EQ(zero.certainty, Certainty::kProven);
  EXPECT_GT(zero.weight, run_check("PD101", c.s).weight);
  c.job_limit(Limit{8 * kMiB});
  EXPECT_EQ(run_check("PD110", c.s).kind, Kind::kRuledOut);
  EXPECT_EQ(run_check("PD101", c.s).kind, Kind::kRuledOut);
}

TEST(LimitDividedByDevices, Arithmetic) {
  LogCase c;
  c.incident.first.length = 80 * kGiB;
  c.job_limit(Limit{256 * kGiB});
  c.run.devices = {"mlx5_0", "mlx5_1"};
  EXPECT_EQ(run_check("PD111", c.s).kind, Kind::kNotApplicable);  // 160 GiB fit
  c.run.devices = {"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"};
  const Outcome out = run_check("PD111", c.s);
  ASSERT_EQ(out.kind, Kind::kFound);
  EXPECT_NE(out.summary.find("320 GiB"), std::string::npos);
  c.incident.first.length = 300 * kGiB;  // too large for one device already
  EXPECT_EQ(run_check("PD111", c.s).kind, Kind::kNotApplicable);
  c.incident.first.length = Limit::kInfinity;
  EXPECT_EQ(run_check("PD111", c.s).kind, Kind::kNotApplicable);
}

TEST(LoweredByAncestor, UlimitCommandInTheLog) {
  LogCase c;
  c.job_limit(Limit{64 * kKiB});
  EXPECT_EQ(run_check("PD113", c.s).kind, Kind::kNotApplicable);
  c.s.limit.source = at(21, "+ ulimit -l 64");
  const Outcome out = run_check("PD113", c.s);
  ASSERT_EQ(out.kind, Kind::kFound);
  EXPECT_EQ(out.certainty, Certainty::kLikely);
  c.s.limit.source = at(21, "+ ulimit -l 32");  // another value than the job has
  EXPECT_EQ(run_check("PD113", c.s).kind, Kind::kNotApplicable);
}

TEST(NoLimitConfigured, FromALogOnlyACandidate) {
  LogCase c;
  c.job_limit(Limit{8 * kMiB});
  EXPECT_EQ(run_check("PD112", c.s).kind, Kind::kCandidate);
  c.job_limit(Limit{9 * kMiB});
  EXPECT_EQ(run_check("PD112", c.s).kind, Kind::kNotApplicable);
}

// --- services and schedulers on logs
// -----------------------------------------------------------------------------------

struct SlurmCase : LogCase {
  SlurmCase() { run.launchers = {"srun", "slurm"}; }
  void slurmd(Limit soft, Limit hard) {
    Process p;
    p.kind = ProcessKind::kDaemon;
    p.comm = "slurmd";
    p.memlock = Fact<MemlockLimit>::of({soft, hard}, at(70, "Max locked memory"));
    facts.processes.push_back(p);
  }
  void conf_says(const char* key, const char* value) {
    facts.slurm_conf[key] = Fact<std::string>::of(value, at(71, value));
  }
};

TEST(SlurmLimit, NothingKnownGivesBothCandidates) {
  SlurmCase c;
  const Outcome propagate = run_check("PD202", c.s);
  const Outcome slurmd = run_check("PD203", c.s);
  EXPECT_EQ(propagate.kind, Kind::kCandidate);
  EXPECT_EQ(slurmd.kind, Kind::kCandidate);
  EXPECT_LT(slurmd.weight, 50);
  c.run.launchers.insert("pyxis");
  EXPECT_GT(run_check("PD203", c.s).weight, run_check("PD101", c.s).weight);
}

TEST(SlurmLimit, SlurmdLow) {
  SlurmCase c;
  c.job_limit(Limit{64 * kKiB});
  c.slurmd(Limit{64 * kKiB}, Limit{64 * kKiB});
  const Outcome slurmd = run_check("PD203", c.s);
  EXPECT_EQ(slurmd.kind, Kind::kFound);
  EXPECT_EQ(run_check("PD202", c.s).kind, Kind::kRuledOut);
  EXPECT_GT(slurmd.weight, run_check("PD101", c.s).weight);
}

TEST(SlurmLimit, SlurmdUnlimitedMeansPropagation) {
  SlurmCase c;
  c.job_limit(Limit{8 * kMiB});
  c.slurmd(kUnlimited, kUnlimited);
  c.conf_says("PropagateResourceLimits", "ALL");
  c.conf_says("PropagateResourceLimitsExcept", "(null)");
  EXPECT_EQ(run_check("PD202", c.s).kind, Kind::kFound);
  EXPECT_EQ(run_check("PD203", c.s).kind, Kind::kRuledOut);
}

TEST(SlurmLimit, NotPropagatedMeansSlurmd) {
  SlurmCase c;
  c.job_limit(Limit{8 * kMiB});
  c.conf_says("PropagateResourceLimitsExcept", "MEMLOCK,STACK");
  EXPECT_EQ(run_check("PD203", c.s).kind, Kind::kFound);
  EXPECT_EQ(run_check("PD202", c.s).kind, Kind::kRuledOut);
}

TEST(SlurmLimit, JobsHardLimitIsSlurmds) {
  SlurmCase high;
  high.job_limit(Limit{64 * kKiB}, kUnlimited);
  EXPECT_EQ(run_check("PD202", high.s).kind, Kind::kFound);
  EXPECT_EQ(run_check("PD203", high.s).kind, Kind::kRuledOut);
  SlurmCase low;
  low.job_limit(Limit{64 * kKiB}, Limit{64 * kKiB});
  EXPECT_EQ(run_check("PD203", low.s).kind, Kind::kFound);
}

TEST(SlurmLimit, SaysNothingElsewhereOrWhenCleared) {
  LogCase other;
  other.job_limit(Limit{64 * kKiB});
  EXPECT_EQ(run_check("PD202", other.s).kind, Kind::kNotApplicable);
  EXPECT_EQ(run_check("PD203", other.s).kind, Kind::kNotApplicable);
  SlurmCase cleared;
  cleared.job_limit(kUnlimited);
  EXPECT_EQ(run_check("PD203", cleared.s).kind, Kind::kNotApplicable);
}

TEST(LauncherDaemon, CandidateUntilItsLimitIsShown) {
  LogCase c;
  c.run.launchers = {"ray"};
  c.job_limit(Limit{64 * kKiB});
  EXPECT_EQ(run_check("PD204", c.s).kind, Kind::kCandidate);
  Process raylet;
  raylet.kind = ProcessKind::kDaemon;
  raylet.comm = "raylet";
  raylet.memlock = Fact<MemlockLimit>::of({Limit{64 * kKiB}, Limit{64 * kKiB}}, at(80, "Max locked memory"));
  c.facts.processes = {raylet};
  EXPECT_EQ(run_check("PD204", c.s).kind, Kind::kFound);
  c.facts.processes[0].memlock.value->soft = kUnlimited;
  EXPECT_EQ(run_check("PD204", c.s).kind, Kind::kRuledOut);
}

TEST(ServiceDefault, PastedUnitWithTheJobsLimit) {
  LogCase c;
  c.job_limit(Limit{8 * kMiB});
  c.facts.units = {{"train.service", {Limit{8 * kMiB}, Limit{8 * kMiB}}, at(81, "LimitMEMLOCK=8388608")}};
  const Outcome out = run_check("PD201", c.s);
  ASSERT_EQ(out.kind, Kind::kFound);
  EXPECT_EQ(out.remedies.front().commands[0], "mkdir -p /etc/systemd/system/train.service.d");
  c.facts.units[0].unit = "containerd.service";
  EXPECT_EQ(run_check("PD201", c.s).kind, Kind::kNotApplicable);
  c.facts.units[0].unit = "ssh.service";
  EXPECT_EQ(run_check("PD201", c.s).kind, Kind::kNotApplicable);
}

// --- live ------------------------------------------------------------------------------------------------------------

TEST(LimitLive, PolicyDecidesSeverity) {
  LiveCase low;
  low.limit(Limit{8 * kMiB}, Limit{8 * kMiB});
  EXPECT_EQ(run_check("PD101", low.s).kind, Kind::kFound);
  EXPECT_EQ(run_check("PD101", low.s).certainty, Certainty::kLikely);
  EXPECT_FALSE(run_check("PD101", low.s).severity);
  LiveCase tight;
  tight.limit(Limit{256 * kMiB}, Limit{256 * kMiB});
  EXPECT_EQ(run_check("PD101", tight.s).severity, Severity::kWarning);
  LiveCase enough;
  enough.limit(Limit{2 * kGiB}, Limit{2 * kGiB});
  EXPECT_EQ(run_check("PD101", enough.s).kind, Kind::kRuledOut);
  LiveCase capable;
  capable.limit(Limit{64 * kKiB}, Limit{64 * kKiB});
  capable.s.ipc_lock.usable = true;
  EXPECT_EQ(run_check("PD101", capable.s).kind, Kind::kRuledOut);
  LiveCase open;
  open.limit(Limit{64 * kKiB}, Limit{64 * kKiB});
  open.s.ipc_lock.usable.reset();
  EXPECT_EQ(run_check("PD101", open.s).kind, Kind::kUnknown);
}

TEST(LimitLive, NeedIsComparedWithWhatIsPinnedAlready) {
  LiveCase c;
  c.limit(Limit{8 * kMiB}, Limit{8 * kMiB});
  c.s.need = {4 * kMiB, "--need 4M"};
  EXPECT_EQ(run_check("PD101", c.s).kind, Kind::kRuledOut);
  c.process.vm_pin = Fact<std::uint64_t>::of(5 * kMiB, {"/proc/4242/status", "VmPin"});
  const Outcome out = run_check("PD101", c.s);
  ASSERT_EQ(out.kind, Kind::kFound);
  EXPECT_EQ(out.certainty, Certainty::kProven);
}

TEST(LimitLive, LoweredInAShellNamesThePid) {
  LiveCase c;
  c.limit(Limit{64 * kKiB}, Limit{64 * kKiB});
  c.links({{"systemd", kUnlimited},
           {"sshd.service", kUnlimited},
           {"sshd: alice", kUnlimited},
           {"bash", Limit{64 * kKiB}},
           {"python3", Limit{64 * kKiB}}});
  const Outcome out = run_check("PD113", c.s);
  ASSERT_EQ(out.kind, Kind::kFound);
  EXPECT_EQ(out.certainty, Certainty::kProven);
  EXPECT_NE(out.summary.find("pid 301 bash"), std::string::npos) << out.summary;
  EXPECT_GT(out.weight, run_check("PD101", c.s).weight);
}

TEST(LimitLive, DefaultOfTheSshServiceIsNobodysWork) {
  LiveCase c;
  c.ssh_session(Limit{8 * kMiB});
  EXPECT_EQ(run_check("PD112", c.s).kind, Kind::kFound);
  EXPECT_EQ(run_check("PD113", c.s).kind, Kind::kNotApplicable);
  EXPECT_EQ(run_check("PD201", c.s).kind, Kind::kNotApplicable);
  EXPECT_EQ(run_check("PD102", c.s).kind, Kind::kCandidate);
}

TEST(LimitLive, UsePamOffIsNoCauseWhereNoSshdIsAbove) {
  for (const bool ssh : {true, false}) {
    LiveCase c;
    c.limit(Limit{8 * kMiB}, Limit{8 * kMiB});
    c.facts.sshd_usepam = Fact<bool>::of(false, at(50, "usepam no"));
    c.process.cgroup = "/user.slice/user-1000.slice/session-3.scope";
    c.links({{"systemd", Limit{512 * kMiB}},
             {ssh ? "sshd" : "login", Limit{8 * kMiB}},
             {ssh ? "sshd: alice" : "bash", Limit{8 * kMiB}},
             {"python3", Limit{8 * kMiB}}});
    EXPECT_EQ(run_check("PD102", c.s).kind == Kind::kNotApplicable, !ssh);
  }
}

TEST(LimitLive, NobodySetItOnlyWhereEveryFileWasRead) {
  LiveCase c;
  c.ssh_session(Limit{8 * kMiB});
  c.facts.limits_conf_unread = "/etc/security/limits.d/90-site.conf";
  EXPECT_EQ(run_check("PD112", c.s).kind, Kind::kUnknown);
  c.facts.limits_conf_unread.clear();
  c.facts.units.push_back({"ssh.service", {Limit{8 * kMiB}, Limit{8 * kMiB}}, at(60, "LimitMEMLOCK=8M"), false});
  EXPECT_EQ(run_check("PD112", c.s).kind, Kind::kNotApplicable);
}

TEST(LimitLive, ServiceDefault) {
  LiveCase c;
  c.limit(Limit{8 * kMiB}, Limit{8 * kMiB});
  c.process.cgroup = "/system.slice/train.service";
  c.links({{"systemd", Limit{512 * kMiB}}, {"train.service", Limit{8 * kMiB}}, {"python3", Limit{8 * kMiB}}});
  const Outcome out = run_check("PD201", c.s);
  ASSERT_EQ(out.kind, Kind::kFound);
  EXPECT_NE(out.summary.find("train.service has no LimitMEMLOCK"), std::string::npos) << out.summary;
  EXPECT_EQ(run_check("PD112", c.s).kind, Kind::kNotApplicable);
  EXPECT_EQ(run_check("PD113", c.s).kind, Kind::kNotApplicable);
}

TEST(LimitLive, SlurmStepTellsPropagationFromSlurmd) {
  LiveCase propagated;
  propagated.limit(Limit{8 * kMiB}, kUnlimited);
  propagated.links({{"systemd", Limit{512 * kMiB}}, {"slurmstepd", kUnlimited}, {"python3", Limit{8 * kMiB}}});
  EXPECT_EQ(run_check("PD202", propagated.s).kind, Kind::kFound);
  EXPECT_EQ(run_check("PD203", propagated.s).kind, Kind::kRuledOut);
  EXPECT_EQ(run_check("PD113", propagated.s).kind, Kind::kNotApplicable);
  LiveCase low;
  low.limit(Limit{8 * kMiB}, Limit{8 * kMiB});
  low.links({{"systemd", Limit{512 * kMiB}}, {"slurmd.service", Limit{8 * kMiB}}, {"python3", Limit{8 * kMiB}}},
            Limit{8 * kMiB});
  EXPECT_EQ(run_check("PD203", low.s).kind, Kind::kFound);
  EXPECT_EQ(run_check("PD202", low.s).kind, Kind::kRuledOut);
}

TEST(LimitLive, PamResetOnOldDebian) {
  LiveCase c;
  c.facts.distro = Fact<std::string>::of("Debian GNU/Linux 12 (bookworm)", {"/etc/os-release", ""});
  c.limit(Limit{512 * kMiB}, Limit{512 * kMiB});
  c.links({{"systemd", Limit{512 * kMiB}},
           {"ssh.service", kUnlimited},
           {"sshd: alice", Limit{512 * kMiB}},
           {"python3", Limit{512 * kMiB}}});
  EXPECT_EQ(run_check("PD108", c.s).kind, Kind::kFound);
  EXPECT_EQ(run_check("PD113", c.s).kind, Kind::kNotApplicable);
  c.facts.distro = Fact<std::string>::of("Debian GNU/Linux 13 (trixie)", {"/etc/os-release", ""});
  EXPECT_EQ(run_check("PD108", c.s).kind, Kind::kNotApplicable);
  EXPECT_EQ(run_check("PD113", c.s).kind, Kind::kFound);
}

TEST(LimitLive, PamResetBySuAndSudo) {
  for (const char* opener : {"su", "sudo"}) {
    LiveCase c;
    c.facts.distro = Fact<std::string>::of("Debian GNU/Linux 12 (bookworm)", {"/etc/os-release", ""});
    c.limit(Limit{512 * kMiB}, Limit{512 * kMiB});
    c.links({{"systemd", Limit{512 * kMiB}},
             {"bash", kUnlimited},
             {opener, Limit{512 * kMiB}},
             {"python3", Limit{512 * kMiB}}});
    Prediction session;
    session.entry = opener;
    c.s.session = &session;
    EXPECT_EQ(run_check("PD108", c.s).kind, Kind::kFound) << opener;
    // PID 1 has as much itself: no more would come from it.
    c.links({{"systemd", Limit{512 * kMiB}}, {opener, Limit{512 * kMiB}}, {"python3", Limit{512 * kMiB}}});
    EXPECT_EQ(run_check("PD108", c.s).kind, Kind::kNotApplicable) << opener;
  }
}

TEST(LimitLive, StackOfSuWithoutPamLimits) {
  LiveCase c;
  c.limit(Limit{8 * kMiB}, Limit{8 * kMiB});
  c.links({{"systemd", Limit{512 * kMiB}},
           {"job.service", Limit{8 * kMiB}},
           {"su", Limit{8 * kMiB}},
           {"python3", Limit{8 * kMiB}}});
  Prediction session;
  session.entry = "su";
  TrailLink link;
  link.name = std::string(kPamWithoutLimits) + " (su)";
  link.source = "/etc/pam.d/su";
  session.links.push_back(link);
  c.s.session = &session;
  EXPECT_EQ(run_check("PD103", c.s).kind, Kind::kNotApplicable) << "limits.conf would not have raised it";
  c.facts.limits_conf.push_back(
      {"*", "-", "memlock", "unlimited", {"/etc/security/limits.conf:1", "* - memlock unlimited"}});
  const Outcome out = run_check("PD103", c.s);
  ASSERT_EQ(out.kind, Kind::kFound);
  EXPECT_NE(out.summary.find("su's PAM stack"), std::string::npos) << out.summary;
  EXPECT_GT(out.weight, run_check("PD201", c.s).weight);
}

/// A service whose unit says unlimited and whose process has less.
struct ServiceCase : LiveCase {
  explicit ServiceCase(std::optional<bool> newer) {
    limit(Limit{8 * kMiB}, Limit{8 * kMiB});
    process.cgroup = "/system.slice/train.service";
    links({{"systemd", Limit{512 * kMiB}}, {"train.service", Limit{8 * kMiB}}, {"python3", Limit{8 * kMiB}}});
    facts.units.push_back({"train.service",
                           {kUnlimited, kUnlimited},
                           {"/etc/systemd/system/train.service.d/a.conf:2", "LimitMEMLOCK=infinity"},
                           newer});
  }
};

TEST(LimitLive, AServiceOlderThanItsUnitIsNotOneThatLowersItsLimit) {
  ServiceCase edited(true);
  EXPECT_EQ(run_check("PD109", edited.s).kind, Kind::kFound);
  EXPECT_GT(run_check("PD109", edited.s).weight, run_check("PD201", edited.s).weight);
  EXPECT_EQ(run_check("PD113", edited.s).kind, Kind::kNotApplicable);
  ServiceCase lowered(false);
  EXPECT_EQ(run_check("PD113", lowered.s).kind, Kind::kFound);
  EXPECT_GT(run_check("PD113", lowered.s).weight, run_check("PD201", lowered.s).weight);
  EXPECT_EQ(run_check("PD109", lowered.s).kind, Kind::kNotApplicable);
  ServiceCase unknown(std::nullopt);
  EXPECT_EQ(run_check("PD113", unknown.s).kind, Kind::kNotApplicable);
  EXPECT_EQ(run_check("PD109", unknown.s).kind, Kind::kNotApplicable);
}

TEST(LimitLive, DaemonsAreJudgedForTheirChildren) {
  LiveCase c;
  c.s.is_daemon = true;
  c.s.ipc_lock.usable = true;  // root's own capability says nothing of a user's job
  c.process.comm = "slurmd";
  c.process.cgroup = "/system.slice/slurmd.service";
  c.limit(Limit{8 * kMiB}, Limit{8 * kMiB});
  EXPECT_EQ(run_check("PD203", c.s).kind, Kind::kFound);
  EXPECT_EQ(run_check("PD201", c.s).kind, Kind::kNotApplicable);
  EXPECT_GT(run_check("PD203", c.s).weight, run_check("PD101", c.s).weight);
  c.facts.rdma_present = Fact<bool>::of(false, {"/sys/class/infiniband", ""});
  EXPECT_EQ(run_check("PD203", c.s).severity, Severity::kNote);
  c.limit(kUnlimited, kUnlimited);
  EXPECT_EQ(run_check("PD203", c.s).kind, Kind::kNotApplicable);
}

TEST(LimitLive, SshdItselfIsOnlyANote) {
  LiveCase c;
  c.s.is_daemon = true;
  c.process.comm = "sshd";
  c.process.cgroup = "/system.slice/ssh.service";
  c.limit(Limit{8 * kMiB}, Limit{8 * kMiB});
  EXPECT_EQ(run_check("PD201", c.s).severity, Severity::kNote);
  const Outcome low = run_check("PD101", c.s);
  EXPECT_TRUE(low.kind != Kind::kFound || low.severity == Severity::kNote);
}

TEST(LimitLive, ContainerRuntimesAreLeftToTheirOwnCode) {
  LiveCase c;
  c.s.is_daemon = true;
  c.process.comm = "containerd";
  c.process.cgroup = "/system.slice/containerd.service";
  c.limit(Limit{8 * kMiB}, Limit{8 * kMiB});
  for (const char* code : {"PD101", "PD201", "PD203", "PD204"}) {
    EXPECT_EQ(run_check(code, c.s).kind, Kind::kNotApplicable) << code;
  }
}

TEST(LimitLive, ZeroWithoutCapability) {
  LiveCase c;
  c.limit(Limit{0}, Limit{0});
  EXPECT_EQ(run_check("PD110", c.s).certainty, Certainty::kProven);
  c.s.ipc_lock.usable = true;
  EXPECT_EQ(run_check("PD110", c.s).kind, Kind::kRuledOut);
}

// --- the tables ------------------------------------------------------------------------------------------------------

TEST(LimitTables, EveryRowCanBeEvaluatedOnNothing) {
  const Facts facts;
  Situation nothing;
  nothing.facts = &facts;
  for (const auto table : {login_checks(), service_checks()}) {
    for (const Check& row : table) {
      ASSERT_NE(row.eval, nullptr) << row.code;
      EXPECT_EQ(row.eval(nothing).kind, Kind::kNotApplicable) << row.code;
    }
  }
}

TEST(LimitTables, CodesAreCompleteAndInOrder) {
  ASSERT_EQ(login_checks().size(), 13U);
  ASSERT_EQ(service_checks().size(), 4U);
  int code = 101;
  for (const Check& row : login_checks()) EXPECT_EQ(row.code, "PD" + std::to_string(code++));
  code = 201;
  for (const Check& row : service_checks()) EXPECT_EQ(row.code, "PD" + std::to_string(code++));
}

TEST(LimitTables, NoRemedySuggestsSudoUlimit) {
  LogCase c;
  c.job_limit(Limit{64 * kKiB}, kUnlimited);
  for (const auto table : {login_checks(), service_checks()}) {
    for (const Check& row : table) {
      for (const Remedy& remedy : row.eval(c.s).remedies) {
        EXPECT_FALSE(remedy.id.empty() || remedy.title.empty() || remedy.commands.empty() || remedy.verify.empty())
            << row.code;
        for (const std::string& command : remedy.commands) EXPECT_EQ(command.find("sudo ulimit"), std::string::npos);
      }
      EXPECT_EQ(row.page.fix.find("sudo ulimit"), std::string_view::npos) << row.code;
    }
  }
}

}  // namespace
}  // namespace pindown
