// SPDX-License-Identifier: Apache-2.0
#include "facts/verbs.h"

#include <gtest/gtest.h>

namespace pindown {
namespace {

using namespace std::literals;

TEST(ProbeDevices, AreJoinedByName) {
  Facts facts;
  facts.devices["mlx5_0"].name = "mlx5_0";
  facts.devices["mlx5_0"].firmware = Fact<std::string>::of("28.39.1002", {});
  parse_probe_devices(
      "mlx5_0 max_mr_size=18446744073709551615 max_mr=16777216 max_qp=131072 max_cq=16777216 fw_ver=28\n"
      "rxe0 max_mr_size=18446744073709551615 max_mr=524287 max_qp=1048559 max_cq=1048575 fw_ver=\n",
      facts);
  ASSERT_EQ(facts.devices.size(), 2U);
  EXPECT_EQ(*facts.devices["mlx5_0"].max_mr, 16777216U);
  EXPECT_EQ(*facts.devices["mlx5_0"].max_mr_size, 18446744073709551615U);
  EXPECT_EQ(*facts.devices["mlx5_0"].firmware, "28.39.1002");
  EXPECT_EQ(*facts.devices["rxe0"].max_cq, 1048575U);
  EXPECT_EQ(facts.devices["rxe0"].max_mr_size.source.path, "pindown-probe devices");
}

TEST(ProbeDevices, ADeviceThatCannotBeOpenedSaysWhy) {
  Facts facts;
  parse_probe_devices("mlx5_0 error=13\nmlx5_1 error=999999\n", facts);
  EXPECT_EQ(facts.devices["mlx5_0"].max_mr_size.missing, Missing::kDenied);
  ASSERT_EQ(facts.problems.size(), 2U);
  EXPECT_EQ(facts.problems[0], "cannot open mlx5_0: EACCES");
  EXPECT_EQ(facts.problems[1], "cannot open mlx5_1: 999999");
}

TEST(ProbeDevices, NonsenseLeavesNothingBehind) {
  Facts facts;
  parse_probe_devices("\n\0x\nmlx5_0\nmlx5_0 max_mr=many\nmax_mr_size=1 max_mr=2\n"sv, facts);
  EXPECT_FALSE(facts.devices["mlx5_0"].max_mr.known());
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "d" + std::to_string(i) + " max_mr=1\n";
  parse_probe_devices(many, facts);
  EXPECT_LE(facts.devices.size(), 256U);
}

}  // namespace
}  // namespace pindown
