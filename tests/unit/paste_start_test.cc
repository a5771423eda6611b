// SPDX-License-Identifier: Apache-2.0
// Which typed commands start a run, and which only look.
#include <gtest/gtest.h>

#include "facts/paste.h"

namespace pindown {
namespace {

TEST(StartedCommand, RunsDo) {
  EXPECT_EQ(started_command("$ mpirun -np 2 ./osu_bw | tail -2"), "mpirun -np 2 ./osu_bw | tail -2");
  EXPECT_EQ(started_command("[me@n1 ~]$ cd bench && NCCL_DEBUG=INFO ./run.sh"), "cd bench && NCCL_DEBUG=INFO ./run.sh");
  EXPECT_TRUE(started_command("root@7d41c0a9be12:/# python train.py"));
  EXPECT_TRUE(started_command("$ export A=1; srun ./job"));
}

TEST(StartedCommand, LooksDoNot) {
  for (const char* line :
       {"$ tail -n 5 train.log", "$ kubectl -n ml logs pod-1", "$ ssh n2 ulimit -l", "$ export A=1",
        "$ sudo dmesg | tail", "$ docker exec c1 ls /dev/infiniband", "$ ", "$", "# a comment", "+ ./run.sh",
        "loss $ 5", "$ nvidia-smi -q -x", "$ clush -w n1 \"grep locked /proc/9/limits\""}) {
    EXPECT_FALSE(started_command(line)) << line;
  }
}

}  // namespace
}  // namespace pindown
