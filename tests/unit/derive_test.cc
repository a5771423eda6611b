// SPDX-License-Identifier: Apache-2.0
#include "checks/derive.h"

#include <gtest/gtest.h>

namespace pindown {
namespace {

logs::Incident failed_on(const std::string& host) {
  logs::Incident incident;
  incident.first.shape.host = host;
  return incident;
}

void add_device(Facts& facts, const std::string& host, std::uint64_t regions) {
  RdmaDevice& device = facts.devices[host.empty() ? "mlx5_0" : host + "/mlx5_0"];
  device.name = "mlx5_0";
  device.host = host;
  device.mr_count = Fact<std::uint64_t>::of(regions, {"paste:1", "", host});
}

TEST(FactsOf, KeepsTheDevicesOfTheFailingMachine) {
  Facts facts;
  add_device(facts, "gpu07", 7);
  add_device(facts, "gpu08", 8);
  const Facts own = facts_of(failed_on("gpu08"), facts);
  ASSERT_EQ(own.devices.size(), 1U);
  EXPECT_EQ(*own.devices.at("mlx5_0").mr_count, 8U);
}

TEST(FactsOf, ADeviceOfNobodyInParticularIsTheFailingMachinesToo) {
  Facts facts;
  add_device(facts, "gpu07", 7);
  add_device(facts, "", 9);
  EXPECT_EQ(*facts_of(failed_on("gpu08"), facts).devices.at("mlx5_0").mr_count, 9U);
  EXPECT_EQ(facts_of(failed_on("gpu08"), {}).devices.size(), 0U);
}

TEST(FactsOf, ShortAndFullNamesAreOneMachine) {
  Facts facts;
  add_device(facts, "gpu08.example.org", 8);
  EXPECT_EQ(facts_of(failed_on("gpu08"), facts).devices.size(), 1U);
}

TEST(FactsOf, DropsTheGpusOfOtherMachines) {
  Facts facts;
  facts.gpus.push_back({.index = 0, .host = "gpu07"});
  facts.gpus.push_back({.index = 1, .host = ""});
  const Facts own = facts_of(failed_on("gpu08"), facts);
  ASSERT_EQ(own.gpus.size(), 1U);
  EXPECT_EQ(own.gpus[0].index, 1);
}

}  // namespace
}  // namespace pindown
