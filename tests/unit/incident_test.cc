// SPDX-License-Identifier: Apache-2.0
// What failed first, what followed, did the job go on: rows are small logs.
#include "logs/incident.h"

#include <gtest/gtest.h>

#include "logs/reader.h"

namespace pindown::logs {
namespace {

constexpr const char* kReg =
    "n1:71:128 [0] misc/ibvwrap.cc:194 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory";
constexpr const char* kRegOther =
    "n2:72:129 [1] misc/ibvwrap.cc:194 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory";
constexpr const char* kProxy =
    "n1:71:128 [0] proxy.cc:1492 NCCL WARN [Proxy Service 0] Failed to execute operation Connect from rank 0, retcode "
    "2";
constexpr const char* kClosed =
    "n2:72:129 [1] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer n1<3>";
constexpr const char* kCudaOom = "n1:71:128 [0] include/alloc.h:178 NCCL WARN Cuda failure 'out of memory'";

using Logs = std::vector<std::pair<std::string, std::vector<std::string>>>;

LogFindings derive_all(const Logs& logs) {
  std::vector<Event> events;
  for (const auto& [name, lines] : logs) {
    Shaper shaper;
    EventReader reader(name);
    std::uint64_t number = 0;
    for (const std::string& line : lines) {
      for (const ShapedLine& shaped : shaper.feed(++number, line)) reader.feed(shaped);
    }
    for (const ShapedLine& shaped : shaper.finish()) reader.feed(shaped);
    for (Event& event : reader.take()) events.push_back(std::move(event));
  }
  return derive_incidents(std::move(events));
}

LogFindings derive(const std::vector<std::string>& lines) {
  return derive_all({{"a.log", lines}});
}

TEST(Incident, EchoesAreAttachedWhereverTheyStand) {
  const LogFindings log = derive({kClosed, kProxy, kReg, kRegOther});
  ASSERT_EQ(log.incidents.size(), 1U);
  EXPECT_EQ(log.incidents[0].first.kind, Kind::kRegMr);
  EXPECT_EQ(log.incidents[0].first.line, 3U);
  EXPECT_EQ(log.incidents[0].occurrences, 2U);
  EXPECT_EQ(log.incidents[0].echo_count, 2U);
  EXPECT_EQ(log.incidents[0].hosts.size(), 2U);
  EXPECT_EQ(log.incidents[0].rank_count(), 2U);
}

TEST(Incident, ADifferentFirstFailureStaysFirst) {
  const LogFindings log = derive({kCudaOom, kReg});
  ASSERT_EQ(log.incidents.size(), 2U);
  EXPECT_EQ(log.incidents[0].first.kind, Kind::kCudaOom);
}

TEST(Incident, TimeDecidesAcrossFilesWhenEveryFailureHasOne) {
  const std::string late = std::string("2026-03-02T07:14:09Z stdout F ") + kReg;
  const std::string early = std::string("2026-03-02T07:14:02Z stdout F ") + kCudaOom;
  const LogFindings log = derive_all({{"rank0.log", {late}}, {"rank1.log", {early}}});
  ASSERT_EQ(log.incidents.size(), 2U);
  EXPECT_EQ(log.incidents[0].first.input, "rank1.log");
}

TEST(Incident, GoesOnOnlyIfWorkFollowsAndNoEnd) {
  const char* step1 = "step 10 | loss 6.91";
  const char* step2 = "step 20 | loss 6.40";
  EXPECT_FALSE(derive({kReg}).incidents[0].continued);
  EXPECT_TRUE(derive({kReg, step1, step2}).incidents[0].continued);
  EXPECT_FALSE(derive({step1, step2, kReg}).incidents[0].continued) << "work before the failure proves nothing";
  EXPECT_FALSE(derive({kReg, step1}).incidents[0].continued) << "one counter may be a remark";
  EXPECT_FALSE(derive({kReg, step1, step2, "srun: error: n1: task 0: Exited with exit code 1"}).incidents[0].continued);
}

TEST(Incident, OrphanedEchoesStillSayThatSomethingFailed) {
  const LogFindings log = derive({kProxy});
  ASSERT_EQ(log.incidents.size(), 1U);
  EXPECT_EQ(log.incidents[0].first.kind, Kind::kLibraryError);
}

TEST(Incident, HealthyRunHasNone) {
  const LogFindings log =
      derive({"NCCL version 2.21.5+cuda12.4",
              "g:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB e:1.2.3.4<0>",
              "g:1:2 [0] NCCL INFO Channel 00/0 : 8[0] -> 0[0] [receive] via NET/IB/0/GDRDMA",
              "g:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 16 - Init COMPLETE"});
  EXPECT_TRUE(log.incidents.empty());
  EXPECT_TRUE(log.recognised);
  EXPECT_TRUE(log.initialised);
  EXPECT_EQ(log.context.nccl_version, "2.21.5");
  EXPECT_EQ(log.context.devices.size(), 2U);
  EXPECT_EQ(log.context.relaxed_ordering, true);
  EXPECT_TRUE(log.context.gdr_channels);
  EXPECT_FALSE(log.context.host_channels);
}

}  // namespace
}  // namespace pindown::logs
