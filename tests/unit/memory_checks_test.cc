// SPDX-License-Identifier: Apache-2.0
// PD6xx: what each row says of situations built by hand, guilty and innocent.
#include <errno.h>

#include "situation_fixture.h"

namespace pindown {
namespace {

using namespace testing;
using logs::Kind;
using logs::MemoryType;

Outcome ask(const Scene& scene, std::string_view code, SubjectKind kind = SubjectKind::kIncident) {
  return scene.ask(memory_checks(), code, kind);
}

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

TEST(MemoryChecks, EveryRowIsThere) {
  const auto table = memory_checks();
  ASSERT_EQ(table.size(), 8U);
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(table[i].code, "PD60" + std::to_string(i + 1));
    EXPECT_NE(table[i].eval, nullptr) << table[i].code;
  }
}

TEST(MemoryChecks, PagesSpeakAgainstTheMyths) {
  for (const std::string_view code : {"PD601", "PD603"}) {
    for (const Check& row : memory_checks()) {
      if (row.code != code) continue;
      EXPECT_NE(row.page.why.find("vercommit"), std::string_view::npos) << code;
      EXPECT_NE(row.page.why.find("fragmentation"), std::string_view::npos) << code;
      EXPECT_NE(row.page.why.find("log_num_qp"), std::string_view::npos) << code;
    }
  }
}

TEST(Kho, ImpossibleAccountingWithUnlimitedMemlock) {
  Scene scene(Kind::kRegMr, ENOMEM);
  scene.meminfo("CmaTotal", 0).meminfo("CmaFree", 9 * kGiB).unlimited();
  const Outcome out = ask(scene, "PD601");
  expect_found(out, Certainty::kLikely, 85);
  EXPECT_NE(out.summary.find("9 GiB"), std::string::npos) << out.summary;
  EXPECT_FALSE(out.remedies.empty());
}

TEST(Kho, UnknownLimitIsStillLikelyALowOneIsNot) {
  Scene scene(Kind::kRegMr, ENOMEM);
  scene.meminfo("CmaTotal", kGiB / 32).meminfo("CmaFree", 9 * kGiB);
  expect_found(ask(scene, "PD601"), Certainty::kLikely, 70, 79);
  scene.soft(Limit{65536});
  const Outcome out = ask(scene, "PD601");
  expect_found(out, Certainty::kPossible, 0);
  EXPECT_EQ(out.severity, Severity::kNote);
}

TEST(Kho, RuledOutByNumbersCommandLineOrKernel) {
  Scene scene(Kind::kRegMr, ENOMEM);
  scene.unlimited().meminfo("CmaTotal", kGiB).meminfo("CmaFree", kGiB / 2);
  expect_ruled_out(ask(scene, "PD601"), "CmaFree 512 MiB, CmaTotal 1 GiB");
  scene.meminfo("CmaFree", kGiB);  // an unused CMA area is all free
  expect_ruled_out(ask(scene, "PD601"), "CmaFree 1 GiB, CmaTotal 1 GiB");
  scene.meminfo("CmaFree", 9 * kGiB).cmdline("root=/dev/sda1 kho=off quiet");
  expect_ruled_out(ask(scene, "PD601"), "kho=off");
  Scene old(Kind::kRegMr, ENOMEM);
  old.unlimited().kernel_release("5.15.0-101-generic");
  expect_ruled_out(ask(old, "PD601"), "5.15.0-101-generic");
}

TEST(Kho, SuspectKernelsAreCandidates) {
  Scene scene(Kind::kRegMr, ENOMEM);
  scene.unlimited().kernel_release("7.0.0-1019-nvidia");
  const Outcome out = ask(scene, "PD601");
  expect_candidate(out);
  EXPECT_EQ(out.weight, 62);  // above the bare limit, which is seen unlimited
  scene.kernel_release("7.0.0-31-generic");
  EXPECT_LT(ask(scene, "PD601").weight, 50);
  scene.facts.arch = known<std::string>("aarch64");
  EXPECT_EQ(ask(scene, "PD601").weight, 62);
}

TEST(Kho, OnlyEnomemOnHostMemory) {
  Scene scene(Kind::kRegMr, EFAULT);
  scene.meminfo("CmaTotal", 0).meminfo("CmaFree", 9 * kGiB).unlimited();
  expect_silent(ask(scene, "PD601"));
  scene.incident.first.error = ENOMEM;
  scene.memory(MemoryType::kGpu);
  expect_silent(ask(scene, "PD601"));
}

TEST(Kho, LiveMachine) {
  Scene scene(Kind::kMention);
  for (const SubjectKind kind : {SubjectKind::kMachine, SubjectKind::kProcess}) {
    Scene bad = scene;
    bad.meminfo("CmaTotal", 0).meminfo("CmaFree", 9 * kGiB);
    EXPECT_EQ(ask(bad, "PD601", kind).severity, Severity::kWarning);
    Scene sane = scene;
    sane.meminfo("CmaTotal", 0).meminfo("CmaFree", 0);
    expect_ruled_out(ask(sane, "PD601", kind), "CmaFree 0 bytes");
    Scene unread = scene;
    unread.kernel_release("7.0.0-31-generic");
    expect_unknown(ask(unread, "PD601", kind));
    expect_silent(ask(scene, "PD601", kind));
  }
}

TEST(CmaMovable, ShareOfRamDecides) {
  Scene scene(Kind::kRegMr, ENOMEM);
  scene.unlimited().meminfo("MemTotal", 64 * kGiB).meminfo("CmaTotal", 32 * kGiB).meminfo("CmaFree", kGiB);
  expect_found(ask(scene, "PD602"), Certainty::kLikely, 50, 69);
  scene.meminfo("CmaTotal", 2 * kGiB);
  expect_candidate(ask(scene, "PD602"));
  scene.meminfo("CmaTotal", kGiB / 16).meminfo("CmaFree", 0).cmdline("quiet");
  expect_ruled_out(ask(scene, "PD602"), "64 MiB");
  scene.cmdline("quiet movablecore=30G");
  expect_candidate(ask(scene, "PD602"));
  scene.soft(Limit{65536});
  expect_silent(ask(scene, "PD602"));
}

TEST(CmaMovable, LeavesOrphanCmaToKho) {
  Scene scene(Kind::kRegMr, ENOMEM);
  scene.unlimited().meminfo("MemTotal", 64 * kGiB).meminfo("CmaTotal", 2 * kGiB).meminfo("CmaFree", 9 * kGiB);
  expect_silent(ask(scene, "PD602"));
}

Scene with_maps(std::uint64_t count) {
  Scene scene(Kind::kRegMr, ENOMEM);
  Process process;
  process.map_count = known(count);
  scene.facts.processes.push_back(process);
  return scene;
}

TEST(MapCount, RatioDecides) {
  expect_ruled_out(ask(with_maps(1204), "PD603"), "1,204 of 65,530 maps");
  expect_found(ask(with_maps(65000), "PD603"), Certainty::kLikely, 80);
  Scene scene = with_maps(65530);
  scene.unlimited();
  expect_found(ask(scene, "PD603"), Certainty::kLikely, 80);
  scene.env("RDMAV_FORK_SAFE", "1");
  expect_found(ask(scene, "PD603"), Certainty::kProven, 80);
  scene.facts.sysctl["vm.max_map_count"] = known<std::string>("1048576\n");
  expect_ruled_out(ask(scene, "PD603"), "65,530 of 1,048,576 maps");
}

TEST(MapCount, WithoutACountForkProtectionMakesItACandidate) {
  Scene scene(Kind::kRegMr, ENOMEM);
  expect_silent(ask(scene, "PD603"));
  scene.unlimited();
  EXPECT_EQ(ask(scene, "PD603").weight, 30);
  scene.env("IBV_FORK_SAFE", "1");
  const Outcome out = ask(scene, "PD603");
  expect_candidate(out);
  EXPECT_EQ(out.weight, 60);
  scene.soft(Limit{65536});
  expect_silent(ask(scene, "PD603"));
}

TEST(MapCount, LiveProcess) {
  Scene scene(Kind::kMention);
  expect_silent(ask(scene, "PD603", SubjectKind::kProcess));
  scene.process.map_count = Fact<std::uint64_t>::none(Missing::kDenied, "/proc/4242/maps");
  // Unreadable maps matter only of a process that is known to use RDMA.
  expect_silent(ask(scene, "PD603", SubjectKind::kProcess));
  scene.process.nccl_mapped = known<std::string>("/usr/lib/libnccl.so.2");
  expect_unknown(ask(scene, "PD603", SubjectKind::kProcess));
  scene.process.map_count = known<std::uint64_t>(900);
  expect_ruled_out(ask(scene, "PD603", SubjectKind::kProcess), "900 of 65,530");
  scene.process.map_count = known<std::uint64_t>(64500);
  EXPECT_EQ(ask(scene, "PD603", SubjectKind::kProcess).severity, Severity::kWarning);
  scene.process.map_count = known<std::uint64_t>(65530);
  EXPECT_EQ(ask(scene, "PD603", SubjectKind::kProcess).severity, Severity::kError);
  expect_silent(ask(scene, "PD603", SubjectKind::kMachine));
}

TEST(ForkHugepages, HintOrVariables) {
  expect_found(ask(Scene(Kind::kForkHugepages, EINVAL), "PD604"), Certainty::kLikely, 90);
  Scene scene(Kind::kRegMr, EINVAL);
  expect_silent(ask(scene, "PD604"));
  scene.env("RDMAV_FORK_SAFE", "1");
  expect_candidate(ask(scene, "PD604"));
  scene.meminfo("HugePages_Total", 512);
  expect_found(ask(scene, "PD604"), Certainty::kLikely, 70, 89);
  scene.env("RDMAV_HUGEPAGES_SAFE", "1");
  expect_ruled_out(ask(scene, "PD604"), "RDMAV_HUGEPAGES_SAFE");
  scene.memory(MemoryType::kGpu);
  expect_silent(ask(scene, "PD604"));
}

TEST(HugetlbCgroup, LimitDecides) {
  Scene scene(Kind::kRegMr, EFAULT);
  scene.incident.first.length = 27262976;
  scene.facts.hugetlb_limit["2MB"] = known<std::uint64_t>(0);
  expect_found(ask(scene, "PD605"), Certainty::kLikely, 85);
  scene.facts.hugetlb_limit["2MB"] = known<std::uint64_t>(27262975);
  expect_found(ask(scene, "PD605"), Certainty::kLikely, 85);
  scene.facts.hugetlb_limit["2MB"] = known<std::uint64_t>(27262976);
  expect_ruled_out(ask(scene, "PD605"), "26 MiB");
  scene.facts.hugetlb_limit["2MB"] = known<std::uint64_t>(0);
  scene.memory(MemoryType::kGpu);
  expect_silent(ask(scene, "PD605"));
  Scene other(Kind::kRegMr, ENOMEM);
  other.facts.hugetlb_limit["2MB"] = known<std::uint64_t>(0);
  expect_silent(ask(other, "PD605"));
}

TEST(HugetlbCgroup, UcxToldToUseHugePages) {
  Scene scene(Kind::kRegMr, EFAULT);
  expect_silent(ask(scene, "PD605"));
  scene.env("UCX_RC_MLX5_ALLOC", "huge,thp,md,mmap,heap");
  expect_candidate(ask(scene, "PD605"));
  scene.incident.first.shape.host = "ds-worker-2";
  scene.incident.first.shape.kubernetes = true;
  scene.meminfo("HugePages_Free", 2048);
  expect_found(ask(scene, "PD605"), Certainty::kLikely, 60, 84);
}

TEST(UnpinnableMapping, WordsOrHostMemory) {
  Scene scene(Kind::kRegMr, EFAULT);
  expect_silent(ask(scene, "PD606"));  // a GPU is likelier
  scene.memory(MemoryType::kHost);
  EXPECT_EQ(ask(scene, "PD606").weight, 35);
  scene.incident.first.raw = "fi_mr_reg of /dev/dax0.0 failed: Operation not supported";
  expect_found(ask(scene, "PD606"), Certainty::kLikely, 70);
  scene.incident.first.error = ENOMEM;
  expect_silent(ask(scene, "PD606"));
}

TEST(ReadOnly, NeverMoreThanACandidate) {
  Scene scene(Kind::kRegMr, EFAULT);
  scene.memory(MemoryType::kHost);
  EXPECT_EQ(ask(scene, "PD607").weight, 30);
  scene.echo(Kind::kEcho, "model.safetensors mapped read-only");
  const Outcome out = ask(scene, "PD607");
  expect_candidate(out);
  EXPECT_EQ(out.weight, 45);
}

TEST(CallerBug, AddressAndLength) {
  struct Row {
    std::optional<std::uint64_t> address, length;
    Outcome::Kind kind;
  };
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  const Row rows[] = {
      {0, 4096, Outcome::Kind::kFound},
      {0x7f0000000000, 0, Outcome::Kind::kFound},
      {0x7f0000000000, (std::uint64_t{1} << 46) + 1, Outcome::Kind::kFound},
      {0x7f0000000000, std::uint64_t{1} << 46, Outcome::Kind::kRuledOut},
      {0x7f0000000000, kAll, Outcome::Kind::kFound},
      {0, kAll, Outcome::Kind::kCandidate},  // implicit on-demand paging, if the flags say so
      {std::nullopt, std::nullopt, Outcome::Kind::kNotApplicable},
  };
  for (const Row& row : rows) {
    Scene scene(Kind::kRegMr, EFAULT);
    scene.incident.first.address = row.address;
    scene.incident.first.length = row.length;
    EXPECT_EQ(ask(scene, "PD608").kind, row.kind) << row.address.value_or(1) << ' ' << row.length.value_or(1);
  }
  Scene implicit(Kind::kRegMr, EFAULT);
  implicit.incident.first.address = 0;
  implicit.incident.first.length = kAll;
  for (const auto& [flags, kind] :
       {std::pair{"access=0x4f)", Outcome::Kind::kRuledOut}, {"access=0xf)", Outcome::Kind::kFound}}) {
    implicit.incident.first.raw = std::string("ibv_reg_mr(address=0x0, ") + flags + " failed";
    EXPECT_EQ(ask(implicit, "PD608").kind, kind) << flags;
  }
}

}  // namespace
}  // namespace pindown
