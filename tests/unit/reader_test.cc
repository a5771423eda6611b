// SPDX-License-Identifier: Apache-2.0
// The table of messages: one row here per wording, with what must be read of it. Lines are fed as a log has them.
#include "logs/reader.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "logs/nccl_version.h"
#include "logs/patterns.h"

namespace pindown::logs {
namespace {

std::vector<Event> read(const std::vector<std::string>& lines) {
  Shaper shaper;
  EventReader reader("a.log");
  std::uint64_t number = 0;
  for (const std::string& line : lines) {
    for (const ShapedLine& shaped : shaper.feed(++number, line)) reader.feed(shaped);
  }
  for (const ShapedLine& shaped : shaper.finish()) reader.feed(shaped);
  return reader.take();
}

struct Row {
  const char* line;
  Kind kind;
  const char* verb;
  int error;  // 0: none in the line
};

TEST(Reader, KnowsTheWordings) {
  const Row rows[] = {
      {"n1:71:128 [3] misc/ibvwrap.cc:194 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory",
       Kind::kRegMr, "ibv_reg_mr_iova2", ENOMEM},
      {"[2026-03-11 08:14:10] n1:71:128 [3] misc/ibvwrap.cc:212 (wrap_ibv_reg_mr_iova2) NCCL WARN Call to "
       "ibv_reg_mr_iova2 "
       "failed with error Cannot allocate memory",
       Kind::kRegMr, "ibv_reg_mr_iova2", ENOMEM},
      {"n1:71:128 [3] misc/ibvwrap.cu:252 NCCL WARN Call to ibv_reg_mr failed", Kind::kRegMr, "ibv_reg_mr", 0},
      {"ibvwrap.c: 106 NCCL WARN Call to ibv_reg_mr failed", Kind::kRegMr, "ibv_reg_mr", 0},
      {"Call to ibv_create_cq failed with error Cannot allocate memory", Kind::kCreateQueue, "ibv_create_cq", ENOMEM},
      {"n1:1:2 [0] misc/ibvwrap.cc:155 NCCL WARN Call to ibv_reg_dmabuf_mr failed with error Operation not supported",
       Kind::kRegDmabuf, "ibv_reg_dmabuf_mr", EOPNOTSUPP},
      {"n1:1:2 [0] misc/ibvwrap.cc:206 NCCL WARN Call to ibv_modify_qp failed with error No such device errno 19",
       Kind::kModifyQp, "ibv_modify_qp", ENODEV},
      {"n1:1:2 [0] misc/ibvwrap.cc:309 NCCL WARN Call to ibv_modify_qp failed with 110 Connection timed out, on dev "
       "mlx5_0:1, "
       "curr state INIT, next state RTR, local GID index 3, local GID ::, remote GID ::",
       Kind::kModifyQp, "ibv_modify_qp", ETIMEDOUT},
      {"n1:1:2 [0] NCCL INFO Call to ibv_set_ece failed with error Operation not supported errno 95", Kind::kMention,
       "ibv_set_ece", EOPNOTSUPP},
      {"n1:1:2 [0] NCCL INFO Call to ibv_reg_dmabuf_mr failed with error Bad file descriptor", Kind::kMention,
       "ibv_reg_dmabuf_mr", EBADF},
      {"[1769.1] [h:7:0]  ib_md.c:327  UCX  ERROR ibv_reg_mr(address=0x7e1100400000, length=3489120, access=0xf) "
       "failed: "
       "Cannot allocate memory",
       Kind::kRegMr, "ibv_reg_mr", ENOMEM},
      {"[1769.1] [h:7:0]  ib_log.c:246  UCX  ERROR mlx5_0: ibv_create_cq() failed: Cannot allocate memory : Please set "
       "max "
       "locked memory (ulimit -l) to 'unlimited' (current: 64 kbytes)",
       Kind::kCreateQueue, "ibv_create_cq", ENOMEM},
      {"E0602 04:48:31.885119 10240 rdma_context.cpp:198] Failed to register memory 0x31f04d2600: Bad address [14]",
       Kind::kRegMr, "", EFAULT},
      {"n1:1:2 [4] register_rail_mr_buffer:617 NCCL WARN NET/OFI Unable to register memory (type = 2) for device 4. "
       "RC: -22, "
       "Error: Invalid argument",
       Kind::kRegMr, "", EINVAL},
      {"[0] DAPL startup: RLIMIT_MEMLOCK too small", Kind::kMemlockWarning, "", 0},
      {"Error: crun: setrlimit `RLIMIT_MEMLOCK`: Operation not permitted: OCI permission denied",
       Kind::kSetrlimitRefused, "", EPERM},
      {"myprog: ibv_reg_mr() failed, errno 12 (Cannot allocate memory)", Kind::kRegMr, "ibv_reg_mr", ENOMEM},
      {"ibv_reg_mr failed (errno 14) (Ib failure: Bad address)", Kind::kRegMr, "ibv_reg_mr", EFAULT},
      {"mlx5_core 0000:a1:00.0: mlx5_cmd_out_err:800:(pid 7): CREATE_MKEY(0x200) op_mod(0x0) failed, status limits "
       "exceeded(0x8), syndrome (0x18af6), err(-12)",
       Kind::kMlx5Command, "CREATE_MKEY", ENOMEM},
      {"[loader] io_uring_queue_init(4096): Cannot allocate memory", Kind::kIoUring, "", ENOMEM},
      {"n1:1:2 [3] include/alloc.h:178 NCCL WARN Cuda failure 'out of memory'", Kind::kCudaOom, "", 0},
      {"/src/ibrc.cpp:570: ibv_reg_mr handle 0x7f01 mr 0x55d0c0", Kind::kMention, "", 0},
  };
  for (const Row& row : rows) {
    const auto events = read({row.line});
    ASSERT_EQ(events.size(), 1U) << row.line;
    EXPECT_EQ(kind_name(events[0].kind), kind_name(row.kind)) << row.line;
    EXPECT_EQ(events[0].kind, row.kind) << row.line;
    EXPECT_EQ(events[0].verb, row.verb) << row.line;
    EXPECT_EQ(events[0].error.value_or(0), row.error) << row.line;
  }
}

TEST(Reader, ProseIsNotAFailure) {
  for (const char* line :
       {"If you see `misc/ibvwrap.cc:278 NCCL WARN Call to ibv_reg_mr failed` raise the limit",
        "[10:02] ops: anyone seen \"Call to ibv_create_cq failed with error Cannot allocate memory\"?",
        "We once had a job where ibv_reg_mr failed because of the limit"}) {
    for (const Event& event : read({line})) EXPECT_FALSE(is_failure(event.kind)) << line;
  }
}

TEST(Reader, OrdinaryTextIsNothing) {
  EXPECT_TRUE(read({"Starting trainer", "test_cannot_allocate_memory PASSED", "key: value"}).empty());
}

TEST(Reader, ReadsSizesLimitsAndMemoryTypes) {
  auto e =
      read({"[1.1] [h:7:0] ib_md.c:348 UCX  ERROR ibv_reg_mr(address=(nil), length=10485760, access=0xf) failed: "
            "Cannot allocate memory : "
            "Please set max locked memory (ulimit -l) to 'unlimited' (current: 8192 kbytes)"});
  ASSERT_EQ(e.size(), 1U);
  EXPECT_EQ(e[0].length, 10485760U);
  EXPECT_EQ(e[0].address, 0U);
  EXPECT_EQ(e[0].limit, 8388608U);
  EXPECT_TRUE(e[0].limit_hint);
  e =
      read({"[1.1] [h:7:0] ucp_mm.c:76 UCX  ERROR failed to register address 0xb1c000000 (cuda) length 4194304 on "
            "md[7]=mlx5_0: "
            "Input/output error"});
  ASSERT_EQ(e.size(), 1U);
  EXPECT_EQ(e[0].kind, Kind::kEcho) << "UCX's Input/output error is its own status, not an errno";
  EXPECT_EQ(e[0].memory, MemoryType::kGpu);
}

TEST(Reader, CompletesOpenMpiHelpText) {
  const auto e = read({"The OpenFabrics (openib) BTL failed to initialize while trying to",
                       "allocate some locked memory.  This typically", "  Local host:    node1",
                       "  OMPI source:   btl_openib.c:828", "  Function:      ibv_create_cq()",
                       "  Device:        mlx4_0", "  Memlock limit: 65536"});
  ASSERT_EQ(e.size(), 1U);
  EXPECT_EQ(e[0].verb, "ibv_create_cq");
  EXPECT_EQ(e[0].device, "mlx4_0");
  EXPECT_EQ(e[0].limit, 65536U);
}

TEST(Reader, TracebackOfALibraryErrorIsItsEcho) {
  const auto library =
      read({"Traceback (most recent call last):", "  File \"a.py\", line 1, in f", "    x()",
            "torch.distributed.DistBackendError: NCCL error: unhandled system error, NCCL version 2.28.9"});
  ASSERT_EQ(library.size(), 2U);
  EXPECT_EQ(library[0].kind, Kind::kVersion);
  EXPECT_EQ(library[0].detail, "2.28.9");
  EXPECT_EQ(library[1].kind, Kind::kLibraryError);
  const auto own = read({"Traceback (most recent call last):", "  File \"a.py\", line 1, in f", "    open(p)",
                         "FileNotFoundError: [Errno 2] No such file or directory: 'x'"});
  ASSERT_EQ(own.size(), 1U);
  EXPECT_EQ(own[0].kind, Kind::kPythonException);
  EXPECT_EQ(own[0].line, 1U);
}

TEST(Reader, KeepsABoundedNumberAndCountsTheRest) {
  std::vector<std::string> lines(
      10000, "n1:1:2 [0] misc/ibvwrap.cc:153 NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory");
  const auto e = read(lines);
  EXPECT_LT(e.size(), 5000U);
  std::uint64_t total = 0;
  for (const Event& event : e) total += 1 + event.repeats;
  EXPECT_EQ(total, lines.size());
}

TEST(NcclVersion, FromThePositionOfTheMessage) {
  const auto hint = [](const char* line) { return nccl_version_hint(read({line}).at(0)); };
  EXPECT_EQ(hint("n:1:2 [0] misc/ibvwrap.cc:212 (wrap_ibv_reg_mr_iova2) NCCL WARN Call to ibv_reg_mr_iova2 failed with "
                 "error Bad address"),
            "2.30.7");
  EXPECT_EQ(hint("n:1:2 [0] misc/ibvwrap.cc:278 NCCL WARN Call to ibv_reg_mr_iova2 failed"), "2.12.7-2.12.12");
  EXPECT_EQ(hint("n:1:2 [0] misc/ibvwrap.cc:278 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Bad address"),
            "2.14.3-2.17.1");
  EXPECT_EQ(hint("n:1:2 [0] misc/ibvwrap.cc:217 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Bad address"), "")
      << "a vendor build: no hint is better than a wrong one";
}

TEST(Record, FurtherLinesSayWhatTheFirstLacks) {
  const auto events = read({"2026-03-02T08:41:12Z ERROR mover: ibv_reg_mr failed, arguments:", " addr: 0x7f00deadb000,",
                            " len: 8192,", ", error: Os { code: 14, kind: Uncategorized, message: \"Bad address\" }"});
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].error, EFAULT);
  EXPECT_EQ(events[0].address, 0x7f00deadb000U);
  EXPECT_EQ(events[0].length, 8192U);
  EXPECT_FALSE(events[0].cut);
}

TEST(Record, EndsWhereAnotherMessageBegins) {
  const auto events = read({"2026-03-02T08:41:12Z ERROR mover: ibv_reg_mr failed, arguments:",
                            "2026-03-02T08:41:13Z ERROR mover: open of weights: Permission denied"});
  ASSERT_GE(events.size(), 1U);
  EXPECT_FALSE(events[0].error);
  EXPECT_TRUE(events[0].cut);
}

TEST(Record, AReturnCodeIsNoErrno) {
  const auto events = read({"mover: ibv_reg_mr failed:", "  rc -1, code 9"});
  ASSERT_EQ(events.size(), 1U);
  EXPECT_FALSE(events[0].error);
}

TEST(Patterns, EveryRowIsUsable) {
  for (const Pattern& row : patterns()) EXPECT_GE(row.literal.size(), 4U) << row.regex;
}

}  // namespace
}  // namespace pindown::logs
