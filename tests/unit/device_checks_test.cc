// SPDX-License-Identifier: Apache-2.0
// PD5xx: what each row says of situations built by hand, guilty and innocent.
#include <errno.h>

#include "situation_fixture.h"

namespace pindown {
namespace {

using namespace testing;
using logs::Kind;
using logs::MemoryType;

Outcome ask(const Scene& scene, std::string_view code, SubjectKind kind = SubjectKind::kIncident) {
  return scene.ask(device_checks(), code, kind);
}

constexpr std::string_view kMkey =
    "mlx5_core 0000:a1:00.0: mlx5_cmd_out_err:800:(pid 77120): CREATE_MKEY(0x200) op_mod(0x0) failed, status limits "
    "exceeded(0x8), syndrome (0x18af6), err(-12)";
constexpr std::string_view kUar =
    "mlx5_core 0000:c4:00.0: mlx5_cmd_check:795:(pid 31807): ALLOC_UAR(0x802) op_mod(0x0) failed, status limits "
    "exceeded(0x8)";
constexpr std::string_view kQp =
    "mlx5_core 0000:c4:00.0: mlx5_cmd_out_err:803:(pid 5): CREATE_QP(0x500) op_mod(0x0) failed, status limits "
    "exceeded(0x8)";
constexpr std::string_view kEfa = "infiniband efa_0: Failed to process command REG_MR (opcode 7) comp_status 1 err -12";

TEST(DeviceChecks, EveryRowIsThere) {
  const auto table = device_checks();
  ASSERT_EQ(table.size(), 12U);
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(table[i].code, "PD5" + std::string(i < 9 ? "0" : "") + std::to_string(i + 1));
    EXPECT_NE(table[i].eval, nullptr) << table[i].code;
  }
}

TEST(TranslationTable, OpenMpisSumIsAWarningWithItsNumber) {
  Scene scene(Kind::kRegisterableLow);
  scene.incident.first.library = "openmpi";
  scene.incident.first.detail = "4096 MiB";
  const Outcome out = ask(scene, "PD501");
  expect_found(out, Certainty::kLikely, 90);
  EXPECT_EQ(out.severity, Severity::kWarning);
  EXPECT_NE(out.summary.find("4 GiB"), std::string::npos) << out.summary;
  EXPECT_FALSE(out.remedies.empty());
}

TEST(TranslationTable, OnlyMlx4HasOne) {
  Scene scene(Kind::kRegMr, ENOMEM);
  scene.unlimited();
  scene.incident.first.device = "mlx4_0";
  expect_found(ask(scene, "PD501"), Certainty::kLikely, 50, 69);
  scene.incident.first.device = "mlx5_0";
  expect_ruled_out(ask(scene, "PD501"), "mlx5");
  scene.incident.first.device = "bnxt_re0";
  expect_silent(ask(scene, "PD501"));
  scene.incident.first.device = "mlx4_0";
  scene.soft(Limit{65536});
  expect_silent(ask(scene, "PD501"));  // likely the limit, but the request's size is not known
  scene.capability(false);
  scene.incident.first.length = 1U << 20;
  expect_ruled_out(ask(scene, "PD501"), "limit");
}

TEST(MrTooLarge, TheLineItselfSaysSo) {
  Scene scene(Kind::kMrTooLarge, ENOSPC);
  expect_found(ask(scene, "PD502"), Certainty::kLikely, 90);
  scene.device("mlx5_0").max_mr_size = known<std::uint64_t>(std::uint64_t{1} << 36);
  const Outcome out = ask(scene, "PD502");
  expect_found(out, Certainty::kProven, 90);
  EXPECT_NE(out.summary.find("64 GiB"), std::string::npos) << out.summary;
}

TEST(MrTooLarge, ComparesLengthWithTheDevice) {
  Scene scene(Kind::kRegMr, EINVAL);
  scene.device("mlx5_0").max_mr_size = known<std::uint64_t>(std::uint64_t{1} << 36);
  expect_silent(ask(scene, "PD502"));  // no length
  scene.incident.first.length = (std::uint64_t{1} << 36) + 1;
  expect_found(ask(scene, "PD502"), Certainty::kLikely, 80);
  scene.incident.first.length = std::uint64_t{1} << 36;
  expect_ruled_out(ask(scene, "PD502"), "64 GiB");
  scene.incident.first.device = "mlx5_9";  // another device's ceiling says nothing about it
  scene.device("mlx5_1");
  expect_silent(ask(scene, "PD502"));
}

TEST(EfaQuota, KernelLineOrClearedLimit) {
  Scene scene(Kind::kRegMr, ENOMEM);
  scene.incident.first.library = "aws-ofi-nccl";
  expect_candidate(ask(scene, "PD503"));
  scene.facts.versions["efa_installer"] = known<std::string>("1.38.0");
  scene.unlimited();
  expect_found(ask(scene, "PD503"), Certainty::kLikely, 70, 79);
  scene.kernel(std::string(kEfa), Kind::kEfaCommand);
  expect_found(ask(scene, "PD503"), Certainty::kLikely, 85);
  Scene other(Kind::kRegMr, ENOMEM);
  other.unlimited();
  expect_silent(ask(other, "PD503"));
}

TEST(MrCount, KernelNamesTheKey) {
  Scene scene(Kind::kRegMr, ENOMEM);
  expect_silent(ask(scene, "PD504"));
  scene.unlimited();
  expect_candidate(ask(scene, "PD504"));
  scene.kernel(std::string(kMkey));
  expect_found(ask(scene, "PD504"), Certainty::kLikely, 85, 89);
  Scene async(Kind::kRegMr, ENOMEM);
  async.kernel("infiniband mlx5_0: create_mkey_callback:131:(pid 0): async reg mr failed. status -12",
               Kind::kMkeyAsync);
  expect_found(ask(async, "PD504"), Certainty::kLikely, 85, 89);
  async.incident.first.error = EFAULT;
  expect_silent(ask(async, "PD504"));
}

TEST(MrCount, KernelLineOfAnotherHostDayOrProcess) {
  Scene scene(Kind::kRegMr, ENOMEM);
  scene.unlimited().kernel(std::string(kMkey));
  logs::Shape& kernel = scene.run.kernel.front().shape;
  logs::Shape& failed = scene.incident.first.shape;
  kernel.host = "node09.example.org";
  failed.host = "node09";
  expect_found(ask(scene, "PD504"), Certainty::kLikely, 85);
  failed.host = "node02";
  expect_candidate(ask(scene, "PD504"));
  scene.incident.hosts = {"node02", "node09"};  // it failed there as well
  expect_found(ask(scene, "PD504"), Certainty::kLikely, 85);
  constexpr std::int64_t kDay = 86'400'000'000;
  kernel.time_us = 100 * kDay;
  failed.time_us = 101 * kDay;
  expect_found(ask(scene, "PD504"), Certainty::kLikely, 85);
  failed.time_us = 101 * kDay + 1;
  expect_candidate(ask(scene, "PD504"));
  kernel.time_us.reset();
  scene.soft(Limit{65536});  // explains the failure as well
  expect_candidate(ask(scene, "PD504"));
  failed.tid = 77120;  // the kernel names the thread
  expect_found(ask(scene, "PD504"), Certainty::kLikely, 85);
}

TEST(MrCount, CountsDecide) {
  Scene scene(Kind::kRegMr, ENOMEM);
  RdmaDevice& device = scene.device("mlx5_0");
  device.max_mr = known<std::uint64_t>(1000);
  for (const auto& [count, full] : {std::pair{979U, false}, {980U, true}, {1000U, true}}) {
    device.mr_count = known<std::uint64_t>(count);
    if (full) {
      expect_found(ask(scene, "PD504"), Certainty::kLikely, 80);
      EXPECT_EQ(ask(scene, "PD504", SubjectKind::kMachine).severity, Severity::kWarning);
    } else {
      expect_ruled_out(ask(scene, "PD504"), "979 of 1,000");
      expect_ruled_out(ask(scene, "PD504", SubjectKind::kMachine), "979 of 1,000");
    }
  }
}

TEST(MrCount, OldKernelLineOfALiveMachineIsANote) {
  Scene scene(Kind::kMention);
  scene.facts.kernel_log = known<std::vector<std::string>>({std::string(kMkey)});
  const Outcome out = ask(scene, "PD504", SubjectKind::kMachine);
  expect_found(out, Certainty::kPossible, 0);
  EXPECT_EQ(out.severity, Severity::kNote);
}

TEST(Uar, EnomemWhileOpeningIsNeverMemlock) {
  Scene scene(Kind::kOpenDevice, ENOMEM);
  scene.soft(Limit{65536});
  expect_candidate(ask(scene, "PD505"));  // any device
  scene.incident.first.device = "bnxt_re0";
  expect_candidate(ask(scene, "PD505"));
  scene.incident.first.device = "mlx5_0";
  expect_found(ask(scene, "PD505"), Certainty::kLikely, 70, 89);
  scene.kernel(std::string(kUar));
  expect_found(ask(scene, "PD505"), Certainty::kLikely, 90);
  scene.incident.first.shape.pid = 31807;
  expect_found(ask(scene, "PD505"), Certainty::kProven, 90);
  Scene denied(Kind::kOpenDevice, EACCES);
  expect_silent(ask(denied, "PD505"));
  Scene bare(Kind::kOpenDevice);
  expect_candidate(ask(bare, "PD505"));
}

TEST(Queues, KernelLimitOrCandidate) {
  Scene scene(Kind::kCreateQueue, ENOMEM);
  expect_candidate(ask(scene, "PD506"));
  scene.unlimited();
  expect_candidate(ask(scene, "PD506"));  // mappings and CMA pins are as open
  scene.kernel(std::string(kQp));
  expect_found(ask(scene, "PD506"), Certainty::kLikely, 90);
  Scene low(Kind::kCreateQueue, ENOMEM);
  low.soft(Limit{65536});
  expect_silent(ask(low, "PD506"));  // a 64 KiB limit explains a queue
  Scene buffer(Kind::kRegMr, ENOMEM);
  buffer.unlimited();
  expect_silent(ask(buffer, "PD506"));
}

TEST(Queues, CountsDecide) {
  Scene scene(Kind::kCreateQueue, ENOMEM);
  scene.unlimited();
  RdmaDevice& device = scene.device("mlx5_0");
  device.max_qp = known<std::uint64_t>(256);
  device.qp_count = known<std::uint64_t>(12);
  expect_ruled_out(ask(scene, "PD506"), "12 of 256");
  device.qp_count = known<std::uint64_t>(255);
  expect_found(ask(scene, "PD506"), Certainty::kLikely, 80);
}

TEST(FirmwarePages, OnlyWithItsKernelLine) {
  Scene scene(Kind::kRegMr, ENOMEM);
  expect_silent(ask(scene, "PD507"));
  scene.kernel("mlx5_core 0000:c4:00.0: give_pages:375:(pid 9): failed to allocate page");
  expect_found(ask(scene, "PD507"), Certainty::kLikely, 80);
  EXPECT_EQ(ask(scene, "PD507").severity, std::nullopt);
  Scene oom(Kind::kHostOom);
  expect_silent(ask(oom, "PD507"));
  oom.run.net_ib = true;
  expect_candidate(ask(oom, "PD507"));
}

TEST(RdmaCgroup, EagainAndTheNumbers) {
  Scene scene(Kind::kRegMr, EAGAIN);
  expect_candidate(ask(scene, "PD508"));
  RdmaDevice& device = scene.device("mlx5_0");
  device.cg_max_object = known<std::uint64_t>(2000);
  device.cg_current_object = known<std::uint64_t>(2000);
  const Outcome full = ask(scene, "PD508");
  expect_found(full, Certainty::kProven, 85);
  EXPECT_EQ(full.evidence.size(), 3U);
  device.cg_current_object = known<std::uint64_t>(10);
  expect_candidate(ask(scene, "PD508"));
  device.cg_max_object = Fact<std::uint64_t>::none(Missing::kAbsent, "job.log:3");
  device.cg_max_handle = Fact<std::uint64_t>::none(Missing::kAbsent, "job.log:3");
  expect_ruled_out(ask(scene, "PD508"), "caps nothing on mlx5_0");
  scene.incident.first.error = ENOMEM;
  expect_silent(ask(scene, "PD508"));
  Scene connect(Kind::kModifyQp, EAGAIN);
  expect_silent(ask(connect, "PD508"));
}

TEST(RdmaCgroup, FullOnALiveMachineIsAWarning) {
  Scene scene(Kind::kMention);
  RdmaDevice& device = scene.device("mlx5_0");
  device.cg_max_handle = known<std::uint64_t>(4);
  device.cg_current_handle = known<std::uint64_t>(3);
  expect_silent(ask(scene, "PD508", SubjectKind::kMachine));
  device.cg_current_handle = known<std::uint64_t>(4);
  EXPECT_EQ(ask(scene, "PD508", SubjectKind::kMachine).severity, Severity::kWarning);
}

TEST(Mismatch, DriverMissingIsAFaultUnlessTheJobWentOn) {
  Scene went(Kind::kDriverMissing);
  went.went_on();
  EXPECT_EQ(ask(went, "PD509").severity, Severity::kWarning);
  Scene scene(Kind::kDriverMissing);
  const Outcome out = ask(scene, "PD509");
  expect_found(out, Certainty::kLikely, 90);
  EXPECT_EQ(out.severity, std::nullopt);
}

TEST(Mismatch, EfaInstallerVersionDecides) {
  Scene scene(Kind::kRegMr, EINVAL);
  scene.memory(MemoryType::kGpu);
  scene.incident.first.library = "aws-ofi-nccl";
  expect_candidate(ask(scene, "PD509"));
  for (const auto& [version, old] :
       {std::pair{"1.28.0", true}, {"1.29.0", true}, {"1.29.1", false}, {"1.30", false}, {"2.0.0", false}}) {
    scene.facts.versions["efa_installer"] = known<std::string>(version);
    if (old) {
      expect_found(ask(scene, "PD509"), Certainty::kLikely, 70);
    } else {
      expect_ruled_out(ask(scene, "PD509"), version);
    }
  }
  scene.facts.versions["efa_installer"] = known<std::string>("1.28.0");
  scene.run.nccl_version = "2.18.5";
  expect_ruled_out(ask(scene, "PD509"), "2.18.5");
  scene.run.nccl_version = "2.19.3";
  expect_found(ask(scene, "PD509"), Certainty::kLikely, 70);
  scene.env("FI_EFA_SET_CUDA_SYNC_MEMOPS", "0");
  expect_ruled_out(ask(scene, "PD509"), "FI_EFA_SET_CUDA_SYNC_MEMOPS=0");
  scene.incident.first.library = "nccl";
  expect_silent(ask(scene, "PD509"));
}

TEST(Mismatch, QueueWithAnOddErrnoIsACandidate) {
  expect_candidate(ask(Scene(Kind::kCreateQueue, EINVAL), "PD509"));
  expect_silent(ask(Scene(Kind::kCreateQueue, ENOMEM), "PD509"));
}

TEST(Siw, OnlyOldKernelsWithCapabilityAndAFiniteLimit) {
  Scene scene(Kind::kRegMr, ENOMEM);
  scene.incident.first.device = "siw0";
  scene.kernel_release("6.1.0-18-amd64").capability(true).soft(Limit{8U << 20});
  expect_found(ask(scene, "PD510"), Certainty::kLikely, 70);
  scene.kernel_release("6.8.0-45-generic");
  expect_ruled_out(ask(scene, "PD510"), "6.8");
  scene.kernel_release("6.7.12");
  scene.unlimited();
  expect_ruled_out(ask(scene, "PD510"), "unlimited");
  scene.soft(Limit{8U << 20}).capability(false);
  expect_ruled_out(ask(scene, "PD510"), "CAP_IPC_LOCK");
  scene.incident.first.device = "mlx5_0";
  expect_silent(ask(scene, "PD510"));
}

TEST(Siw, LiveProcessWithoutFactsIsUnknown) {
  Scene scene(Kind::kMention);
  scene.device("siw0");
  expect_unknown(ask(scene, "PD510", SubjectKind::kProcess));
  scene.kernel_release("6.1.0").capability(true).soft(Limit{65536});
  EXPECT_EQ(ask(scene, "PD510", SubjectKind::kProcess).severity, Severity::kWarning);
  scene.device("mlx5_0");
  expect_silent(ask(scene, "PD510", SubjectKind::kProcess));
}

TEST(VendorLimit, ErrnoThatTheCoreNeverReturns) {
  Scene scene(Kind::kRegMr, ENOSPC);
  expect_candidate(ask(scene, "PD511"));
  scene.incident.first.device = "hns_0";
  expect_found(ask(scene, "PD511"), Certainty::kLikely, 50, 69);
  scene.incident.first.device.clear();
  scene.incident.first.error = ERANGE;  // no path of the core or of mlx5 answers it
  expect_found(ask(scene, "PD511"), Certainty::kLikely, 50, 69);
  scene.incident.first.error = ENOMEM;
  expect_silent(ask(scene, "PD511"));
  Scene status(Kind::kRegMr, EIO);  // UCX's own status word
  status.incident.first.verb.clear();
  expect_silent(ask(status, "PD511"));
}

TEST(Port, StateDecides) {
  Scene scene(Kind::kOpenDevice);
  expect_silent(ask(scene, "PD512"));
  scene.device("mlx5_0").state = known<std::string>("PORT_DOWN");
  expect_found(ask(scene, "PD512"), Certainty::kLikely, 70);
  scene.device("mlx5_0").state = known<std::string>("INACTIVE");
  expect_found(ask(scene, "PD512"), Certainty::kLikely, 70);
  scene.device("mlx5_0").state = known<std::string>("4: ACTIVE");
  expect_ruled_out(ask(scene, "PD512"), "mlx5_0");
  Scene buffer(Kind::kRegMr, ENOMEM);
  buffer.device("mlx5_0").state = known<std::string>("PORT_DOWN");
  expect_silent(ask(buffer, "PD512"));
}

TEST(Port, LiveMachine) {
  Scene scene(Kind::kMention);
  scene.device("mlx5_0").state = known<std::string>("PORT_DOWN");
  EXPECT_EQ(ask(scene, "PD512", SubjectKind::kMachine).severity, Severity::kWarning);
  scene.device("mlx5_1").state = known<std::string>("PORT_ACTIVE");
  EXPECT_EQ(ask(scene, "PD512", SubjectKind::kMachine).severity, Severity::kNote);
}

TEST(DeviceChecks, AJobThatWentOnIsOnlyDegraded) {
  Scene scene(Kind::kCreateQueue, ENOMEM);
  scene.unlimited().went_on().kernel(std::string(kQp));
  EXPECT_EQ(ask(scene, "PD506").severity, Severity::kWarning);
}

TEST(DeviceChecks, TextFromOutsideIsEscaped) {
  Scene scene(Kind::kRegMr, ERANGE);
  scene.incident.first.device = "hns_\x1b[31m";
  const Outcome out = ask(scene, "PD511");
  EXPECT_EQ(out.summary.find('\x1b'), std::string::npos) << out.summary;
}

}  // namespace
}  // namespace pindown
