// SPDX-License-Identifier: Apache-2.0
// Which node a file is named for.
#include "model/attribute.h"

#include <gtest/gtest.h>

namespace pindown {
namespace {

TEST(NodeInName, IsOneThatSpeaksOrOneOfItsKind) {
  const KnownNodes hosts({"gpu-12", "cn0007.cluster.example"});
  EXPECT_EQ(node_in_name("/tmp/x/gpu-12.limits.txt", hosts), "gpu-12");
  EXPECT_EQ(node_in_name("limits_CN0007.txt", hosts), "cn0007");
  EXPECT_EQ(node_in_name("gpu-3.txt", hosts), "gpu-3") << "another node of that kind";
}

TEST(NodeInName, GuessesNothing) {
  const KnownNodes hosts({"gpu-12", "login"});
  EXPECT_EQ(node_in_name("job.out", hosts), "");
  EXPECT_EQ(node_in_name("gpu-12-and-gpu-13.txt", hosts), "gpu-12") << "the one that speaks";
  EXPECT_EQ(node_in_name("gpu-1-gpu-2.txt", hosts), "") << "two of its kind";
  EXPECT_EQ(node_in_name("mygpu-12x.txt", hosts), "") << "a part of a word";
  EXPECT_EQ(node_in_name("", hosts), "");
  EXPECT_EQ(node_in_name("gpu-12/limits.txt", hosts), "") << "the folder's name is not looked at";
}

}  // namespace
}  // namespace pindown
