// SPDX-License-Identifier: Apache-2.0
// logs/shape.h: one table of lines with every field they must give, one of texts that must stay as they are, one of
// sequences (joined, split, held lines), one of names.
#include "logs/shape.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace pindown::logs {
namespace {

using namespace std::string_view_literals;
using Number = std::optional<std::int64_t>;

constexpr std::int64_t kJan02 = 1'767'323'045'000'000;  // 2026-01-02T03:04:05Z
constexpr std::int64_t kJan22 = 1'769'076'672'000'000;  // 2026-01-22T10:11:12Z
constexpr std::int64_t kMar11 = 1'773'216'850'000'000;  // 2026-03-11T08:14:10Z

std::vector<ShapedLine> shape_all(const std::vector<std::string_view>& lines) {
  Shaper shaper;
  std::vector<ShapedLine> out;
  std::uint64_t number = 0;
  for (const std::string_view line : lines) {
    for (ShapedLine& shaped : shaper.feed(++number, line)) out.push_back(std::move(shaped));
  }
  for (ShapedLine& shaped : shaper.finish()) out.push_back(std::move(shaped));
  return out;
}

std::vector<std::string> texts(const std::vector<ShapedLine>& lines) {
  std::vector<std::string> out;
  for (const ShapedLine& line : lines) out.push_back(line.shape.text);
  return out;
}

/// Fields not named must be empty.
struct Row {
  std::string_view in;
  std::string_view text;
  std::string_view wrapper = "";
  std::string_view host = "";
  Number pid = {}, tid = {}, rank = {}, dev = {}, time = {};
  std::string_view launcher = "";
  bool kubernetes = false, nccl = false, ucx = false;
};

constexpr std::string_view kWarn =
    "misc/ibvwrap.cc:194 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory";

const Row kRows[] = {
    // libraries alone
    {.in = "", .text = ""},
    {.in = "n1:71:128 [3] NCCL INFO Using network IB",
     .text = "NCCL INFO Using network IB",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .nccl = true},
    {.in =
         "gpu-a07:21810:21867 [0] misc/ibvwrap.cc:278 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Bad address",
     .text = "misc/ibvwrap.cc:278 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Bad address",
     .host = "gpu-a07",
     .pid = 21810,
     .tid = 21867,
     .dev = 0,
     .nccl = true},
    {.in = "node1.cluster.local:1:2 [11] NCCL INFO x",
     .text = "NCCL INFO x",
     .host = "node1.cluster.local",
     .pid = 1,
     .tid = 2,
     .dev = 11,
     .nccl = true},
    {.in = "10.0.0.7:1:2 [0] NCCL INFO x",
     .text = "NCCL INFO x",
     .host = "10.0.0.7",
     .pid = 1,
     .tid = 2,
     .dev = 0,
     .nccl = true},
    {.in = "fe80::1:71:128 [0] NCCL INFO x",
     .text = "NCCL INFO x",
     .host = "fe80::1",
     .pid = 71,
     .tid = 128,
     .dev = 0,
     .nccl = true},
    {.in = "n_1:71:128 [-1] NCCL INFO x",
     .text = "NCCL INFO x",
     .host = "n_1",
     .pid = 71,
     .tid = 128,
     .dev = -1,
     .nccl = true},
    {.in = "n1:71:128 NCCL CALL ncclAllReduce(1)",
     .text = "NCCL CALL ncclAllReduce(1)",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .nccl = true},
    {.in = "n1:71:128 [2] INFO NET/IB : Using x",
     .text = "INFO NET/IB : Using x",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 2,
     .nccl = true},
    {.in = "n1:71:128 [2] 12.5 commAlloc:77 NCCL TRACE x",
     .text = "12.5 commAlloc:77 NCCL TRACE x",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 2,
     .nccl = true},
    {.in = "ip-10-0-4-7:88:190 [4] register_rail_mr_buffer:617 NCCL WARN NET/OFI Unable to register memory (type = 2) "
           "for device 4. RC: -22, Error: Invalid argument",
     .text = "register_rail_mr_buffer:617 NCCL WARN NET/OFI Unable to register memory (type = 2) for device 4. RC: "
             "-22, Error: Invalid argument",
     .host = "ip-10-0-4-7",
     .pid = 88,
     .tid = 190,
     .dev = 4,
     .nccl = true},
    {.in = "[2026-03-11 08:14:10] n1:71:128 [3] misc/ibvwrap.cc:212 (wrap_ibv_reg_mr_iova2) NCCL WARN x",
     .text = "misc/ibvwrap.cc:212 (wrap_ibv_reg_mr_iova2) NCCL WARN x",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .time = kMar11,
     .nccl = true},
    {.in = "[2026-03-11 08:14:10.123] n1:71:128 [3] NCCL INFO x",
     .text = "NCCL INFO x",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .time = kMar11 + 123'000,
     .nccl = true},
    {.in = "2026-03-11 08:14:10 n1:71:128 [3] NCCL INFO x",
     .text = "NCCL INFO x",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .time = kMar11,
     .nccl = true},
    {.in = "2026/03/11 08:14:10 n1:71:128 [3] NCCL INFO x",
     .text = "NCCL INFO x",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .time = kMar11,
     .nccl = true},
    {.in = "[08:14:10.5] n1:71:128 [3] NCCL INFO x",
     .text = "NCCL INFO x",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .nccl = true},
    {.in = "Mar 11 08:14:10 n1:71:128 [3] NCCL INFO x",
     .text = "NCCL INFO x",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .nccl = true},
    {.in = "2026-05-02 09:10:11,200 n1:71:128 [3] NCCL INFO x",
     .text = "NCCL INFO x",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .time = 1'777'713'011'200'000,
     .nccl = true},
    {.in = "2026-05-02 09:10:11,200 INFO n1:71:128 [3] NCCL INFO x",
     .text = "NCCL INFO x",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .time = 1'777'713'011'200'000,
     .nccl = true},
    {.in = "[3] NCCL WARN half of a prefix", .text = "NCCL WARN half of a prefix", .dev = 3},
    {.in = "[1731000211.118341] [5f3c9a7d10be:41  :0]          ib_log.c:246  UCX  ERROR mlx5_0: ibv_create_cq() failed",
     .text = "ib_log.c:246  UCX  ERROR mlx5_0: ibv_create_cq() failed",
     .host = "5f3c9a7d10be",
     .pid = 41,
     .time = 1'731'000'211'118'341,
     .ucx = true},
    {.in = "[1770401133.771202] [dsw:5120:0]           ib_md.c:327  UCX  ERROR x",
     .text = "ib_md.c:327  UCX  ERROR x",
     .host = "dsw",
     .pid = 5120,
     .time = 1'770'401'133'771'202,
     .ucx = true},
    {.in = "[1770401133.771202] [n7:5120:a] async.c:1 UCX  WARN x",
     .text = "async.c:1 UCX  WARN x",
     .host = "n7",
     .pid = 5120,
     .time = 1'770'401'133'771'202,
     .ucx = true},
    {.in = "[5f3c9a7d10be:00041] pml_ucx.c:309  Error: Failed to create UCP worker",
     .text = "pml_ucx.c:309  Error: Failed to create UCP worker",
     .host = "5f3c9a7d10be",
     .pid = 41},
    {.in = "[arm117:20881] *** An error occurred in MPI_Send",
     .text = "*** An error occurred in MPI_Send",
     .host = "arm117",
     .pid = 20881},
    {.in = "[n1:71:0:71] Caught signal 11 (Segmentation fault)",
     .text = "Caught signal 11 (Segmentation fault)",
     .host = "n1",
     .pid = 71},
    {.in = "[old-1][[38440,1],5][btl_openib_component.c:1670:init_one_device] error x",
     .text = "[btl_openib_component.c:1670:init_one_device] error x",
     .host = "old-1",
     .rank = 5},
    {.in = "E0602 04:48:31.885119 10240 rdma_context.cpp:198] Failed to register memory 0x31: Bad address [14]",
     .text = "E0602 04:48:31.885119 10240 rdma_context.cpp:198] Failed to register memory 0x31: Bad address [14]",
     .tid = 10240},
    {.in = "E20260602 04:48:31.885119 10240 a.cpp:1] x",
     .text = "E20260602 04:48:31.885119 10240 a.cpp:1] x",
     .tid = 10240,
     .time = 1'780'375'711'885'119},
    {.in = "libfabric:4242:1731000211::efa:mr:efa_mr_reg_impl():601<warn> Unable to register MR",
     .text = "libfabric:4242:1731000211::efa:mr:efa_mr_reg_impl():601<warn> Unable to register MR",
     .pid = 4242,
     .time = 1'731'000'211'000'000},

    // srun --label
    {.in = "12: hello", .text = "hello", .wrapper = "12: ", .rank = 12, .launcher = "srun"},
    {.in = " 3: hello", .text = "hello", .wrapper = " 3: ", .rank = 3, .launcher = "srun"},
    {.in = "  7:   indented", .text = "  indented", .wrapper = "  7: ", .rank = 7, .launcher = "srun"},
    {.in = "10: ", .text = "", .wrapper = "10: ", .rank = 10, .launcher = "srun"},
    {.in = "10:", .text = "", .wrapper = "10:", .rank = 10, .launcher = "srun"},
    {.in = "0: 1: nested", .text = "nested", .wrapper = "0: 1: ", .rank = 1, .launcher = "srun"},
    {.in = " 2: cn0411:98112:98169 [2] NCCL INFO x",
     .text = "NCCL INFO x",
     .wrapper = " 2: ",
     .host = "cn0411",
     .pid = 98112,
     .tid = 98169,
     .rank = 2,
     .dev = 2,
     .launcher = "srun",
     .nccl = true},
    {.in = "3: [2026-03-11 08:14:10] n1:71:128 [3] NCCL WARN x",
     .text = "NCCL WARN x",
     .wrapper = "3: ",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .rank = 3,
     .dev = 3,
     .time = kMar11,
     .launcher = "srun",
     .nccl = true},

    // mpirun
    {.in = "[1,3]<stdout>:hello", .text = "hello", .wrapper = "[1,3]<stdout>:", .rank = 3, .launcher = "mpirun"},
    {.in = "[1,3]<stderr>:", .text = "", .wrapper = "[1,3]<stderr>:", .rank = 3, .launcher = "mpirun"},
    {.in = "[1,3]<stddiag>:x", .text = "x", .wrapper = "[1,3]<stddiag>:", .rank = 3, .launcher = "mpirun"},
    {.in = "[1,1]<stdout>:gpu-a07:21811:21868 [1] NCCL INFO x",
     .text = "NCCL INFO x",
     .wrapper = "[1,1]<stdout>:",
     .host = "gpu-a07",
     .pid = 21811,
     .tid = 21868,
     .rank = 1,
     .dev = 1,
     .launcher = "mpirun",
     .nccl = true},
    {.in = "[1,0]<stdout>:gpu-a07: Test NCCL failure common.cu:958 'x'",
     .text = "gpu-a07: Test NCCL failure common.cu:958 'x'",
     .wrapper = "[1,0]<stdout>:",
     .rank = 0,
     .launcher = "mpirun"},
    {.in = "[prterun-host-1234@1,3]<stdout>: hello",
     .text = "hello",
     .wrapper = "[prterun-host-1234@1,3]<stdout>: ",
     .rank = 3,
     .launcher = "mpirun"},
    {.in = "[prterun-host-1234@1,3]<stderr>:hello",
     .text = "hello",
     .wrapper = "[prterun-host-1234@1,3]<stderr>:",
     .rank = 3,
     .launcher = "mpirun"},
    {.in = "[prterun-host-1234][1,7]<stdout>:hello",
     .text = "hello",
     .wrapper = "[prterun-host-1234][1,7]<stdout>:",
     .rank = 7,
     .launcher = "mpirun"},
    {.in = "[1,4][n2:991]<stdout>: hello",
     .text = "hello",
     .wrapper = "[1,4][n2:991]<stdout>: ",
     .host = "n2",
     .pid = 991,
     .rank = 4,
     .launcher = "mpirun"},
    {.in = "[1,4]<stdout>:   File \"x\"",
     .text = "   File \"x\"",
     .wrapper = "[1,4]<stdout>:",
     .rank = 4,
     .launcher = "mpirun"},
    {.in = "[5]<stdout>:horovod", .text = "horovod", .wrapper = "[5]<stdout>:", .rank = 5, .launcher = "mpirun"},
    {.in = "Thu Jan 22 10:11:12 2026[1,3]<stdout>:hello",
     .text = "hello",
     .wrapper = "[1,3]<stdout>:",
     .rank = 3,
     .time = kJan22,
     .launcher = "mpirun"},
    {.in = "Thu Jan 22 10:11:12 2026 [1,3]<stdout>:hello",
     .text = "hello",
     .wrapper = "[1,3]<stdout>:",
     .rank = 3,
     .time = kJan22,
     .launcher = "mpirun"},
    {.in = "Thu Jan 22 10:11:12 2026<stdout>:hello",
     .text = "hello",
     .wrapper = "<stdout>:",
     .time = kJan22,
     .launcher = "mpirun"},
    {.in = "Thu Jan 22 10:11:12 2026 n1:71:128 [3] NCCL INFO x",
     .text = "NCCL INFO x",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .time = kJan22,
     .nccl = true},
    {.in = "Fri Jan  2 03:04:05 2026[1,0]<stdout>:[2026-03-11 08:14:10] n1:71:128 [3] NCCL WARN x",
     .text = "NCCL WARN x",
     .wrapper = "[1,0]<stdout>:",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .rank = 0,
     .dev = 3,
     .time = kJan02,
     .launcher = "mpirun",
     .nccl = true},
    {.in = "[0] DAPL startup: RLIMIT_MEMLOCK too small",
     .text = "DAPL startup: RLIMIT_MEMLOCK too small",
     .wrapper = "[0] ",
     .rank = 0,
     .launcher = "mpirun"},
    {.in = "[13] MPI startup(): cannot open dynamic library libdat2.so.2",
     .text = "MPI startup(): cannot open dynamic library libdat2.so.2",
     .wrapper = "[13] ",
     .rank = 13,
     .launcher = "mpirun"},
    {.in = "[3] n1:71:128 [2] NCCL INFO x",
     .text = "NCCL INFO x",
     .wrapper = "[3] ",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .rank = 3,
     .dev = 2,
     .launcher = "mpirun",
     .nccl = true},
    {.in = "[3] 10.0.0.1:71:128 [2] NCCL INFO x",
     .text = "NCCL INFO x",
     .wrapper = "[3] ",
     .host = "10.0.0.1",
     .pid = 71,
     .tid = 128,
     .rank = 3,
     .dev = 2,
     .launcher = "mpirun",
     .nccl = true},

    {.in = "2026-01-02T03:04:05Z stdout F [2] DAPL startup: x",
     .text = "DAPL startup: x",
     .wrapper = "stdout [2] ",
     .rank = 2,
     .time = kJan02,
     .launcher = "cri",
     .kubernetes = true},
    {.in = "4: [2] DAPL startup: x", .text = "[2] DAPL startup: x", .wrapper = "4: ", .rank = 4, .launcher = "srun"},

    // torchrun
    {.in = "[default3]:hello", .text = "hello", .wrapper = "[default3]:", .launcher = "torchrun"},
    {.in = "[default3]:  File \"x\"", .text = "  File \"x\"", .wrapper = "[default3]:", .launcher = "torchrun"},
    {.in = "[trainer0]:n1:71:128 [0] NCCL INFO x",
     .text = "NCCL INFO x",
     .wrapper = "[trainer0]:",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 0,
     .launcher = "torchrun",
     .nccl = true},
    {.in = "[rank3]: Traceback (most recent call last):",
     .text = "Traceback (most recent call last):",
     .wrapper = "[rank3]: ",
     .rank = 3,
     .launcher = "torchrun"},
    {.in = "[rank3]:   File \"x\"", .text = "  File \"x\"", .wrapper = "[rank3]: ", .rank = 3, .launcher = "torchrun"},
    {.in = "[rank3]:[W311 08:01:02.331 ProcessGroupNCCL.cpp:1479] Warning: x",
     .text = "[W311 08:01:02.331 ProcessGroupNCCL.cpp:1479] Warning: x",
     .wrapper = "[rank3]:",
     .rank = 3,
     .launcher = "torchrun"},
    {.in = "[default1]:[rank9]: Last error:",
     .text = "Last error:",
     .wrapper = "[default1]:[rank9]: ",
     .rank = 9,
     .launcher = "torchrun"},
    {.in = "[rank5]:W0311 distributed_c10d.py:1911 using device 5",
     .text = "W0311 distributed_c10d.py:1911 using device 5",
     .wrapper = "[rank5]:",
     .rank = 5,
     .launcher = "torchrun"},

    // pdsh, deepspeed, clush
    {.in = "node-03: node-03:71:128 [3] NCCL INFO x",
     .text = "NCCL INFO x",
     .wrapper = "node-03: ",
     .host = "node-03",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .launcher = "pdsh",
     .nccl = true},
    {.in = "cn0411: cn0411:71:128 [3] NCCL INFO x",
     .text = "NCCL INFO x",
     .wrapper = "cn0411: ",
     .host = "cn0411",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .launcher = "pdsh",
     .nccl = true},
    {.in = "master: n1:71:128 [3] NCCL INFO x",
     .text = "NCCL INFO x",
     .wrapper = "master: ",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .launcher = "pdsh",
     .nccl = true},
    {.in = "10.0.0.1: hello", .text = "hello", .wrapper = "10.0.0.1: ", .host = "10.0.0.1", .launcher = "pdsh"},
    {.in = "10.0.0.1: 10.0.0.2: text",
     .text = "text",
     .wrapper = "10.0.0.1: 10.0.0.2: ",
     .host = "10.0.0.2",
     .launcher = "pdsh"},
    {.in = "n1: n2: n2:71:128 [3] NCCL INFO x",
     .text = "NCCL INFO x",
     .wrapper = "n1: n2: ",
     .host = "n2",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .launcher = "pdsh",
     .nccl = true},
    {.in = "node7: $ ulimit -l", .text = "$ ulimit -l", .wrapper = "node7: ", .host = "node7", .launcher = "pdsh"},
    {.in = "node7: libibverbs: Warning: RLIMIT_MEMLOCK is 32768 bytes.",
     .text = "libibverbs: Warning: RLIMIT_MEMLOCK is 32768 bytes.",
     .wrapper = "node7: ",
     .host = "node7",
     .launcher = "pdsh"},
    {.in = "node7: NCCL version 2.21.5+cuda12.4",
     .text = "NCCL version 2.21.5+cuda12.4",
     .wrapper = "node7: ",
     .host = "node7",
     .launcher = "pdsh"},
    {.in = "node7: [rank3]: Last error:",
     .text = "Last error:",
     .wrapper = "node7: [rank3]: ",
     .host = "node7",
     .rank = 3,
     .launcher = "pdsh"},
    {.in = "gpu1.hpc.example.net: hello",
     .text = "hello",
     .wrapper = "gpu1.hpc.example.net: ",
     .host = "gpu1.hpc.example.net",
     .launcher = "pdsh"},
    {.in = "node7: [1731000211.118341] [node7:41:0] ib_log.c:246  UCX  ERROR x",
     .text = "ib_log.c:246  UCX  ERROR x",
     .wrapper = "node7: ",
     .host = "node7",
     .pid = 41,
     .time = 1'731'000'211'118'341,
     .launcher = "pdsh",
     .ucx = true},

    // Kubernetes
    {.in = "llm-train-worker-1: [entry] CapEff:\t0000000000000000",
     .text = "[entry] CapEff:\t0000000000000000",
     .wrapper = "llm-train-worker-1: ",
     .host = "llm-train-worker-1",
     .launcher = "kubectl",
     .kubernetes = true},
    {.in = "llm-train-worker-1: [rank11]:     dist.barrier()",
     .text = "    dist.barrier()",
     .wrapper = "llm-train-worker-1: [rank11]: ",
     .host = "llm-train-worker-1",
     .rank = 11,
     .launcher = "kubectl",
     .kubernetes = true},
    {.in = "[pod/llm-0/trainer] hello",
     .text = "hello",
     .wrapper = "[pod/llm-0/trainer] ",
     .host = "llm-0",
     .launcher = "kubectl",
     .kubernetes = true},
    {.in = "[pod/llm-0/trainer] 2026-01-02T03:04:05.5Z n1:71:128 [3] NCCL INFO x",
     .text = "NCCL INFO x",
     .wrapper = "[pod/llm-0/trainer] ",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .time = kJan02 + 500'000,
     .launcher = "kubectl",
     .kubernetes = true,
     .nccl = true},
    {.in = "pod/llm-0 hello",
     .text = "hello",
     .wrapper = "pod/llm-0 ",
     .host = "llm-0",
     .launcher = "kubectl",
     .kubernetes = true},
    {.in = "train-job-x7k2p trainer n1:71:128 [3] NCCL INFO x",
     .text = "NCCL INFO x",
     .wrapper = "train-job-x7k2p trainer ",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .launcher = "kubectl",
     .kubernetes = true,
     .nccl = true},
    {.in = "llm-0 › trainer hello",
     .text = "hello",
     .wrapper = "llm-0 › trainer ",
     .host = "llm-0",
     .launcher = "kubectl",
     .kubernetes = true},
    {.in = "llm-0 › trainer | hello",
     .text = "hello",
     .wrapper = "llm-0 › trainer | ",
     .host = "llm-0",
     .launcher = "kubectl",
     .kubernetes = true},
    {.in = "2026-01-02T03:04:05.123456789Z hello", .text = "hello", .time = kJan02 + 123'456},
    {.in = "2026-01-02T03:04:05.123456789Z n1:71:128 [3] NCCL INFO x",
     .text = "NCCL INFO x",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .time = kJan02 + 123'456,
     .nccl = true},
    {.in = "2026-01-02T05:04:05+02:00 hello", .text = "hello", .time = kJan02},
    {.in = "2026-01-01T20:04:05-0700 hello", .text = "hello", .time = kJan02},
    {.in = "2026-01-02T03:04:05Z ft-7b-master-0:52:109 [0] NCCL INFO x",
     .text = "NCCL INFO x",
     .host = "ft-7b-master-0",
     .pid = 52,
     .tid = 109,
     .dev = 0,
     .time = kJan02,
     .kubernetes = true,
     .nccl = true},
    {.in = "[kubetail-pod c] n1:71:128 [3] NCCL INFO x",
     .text = "NCCL INFO x",
     .wrapper = "[kubetail-pod c] ",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .nccl = true},

    // container runtimes
    {.in = R"({"log":"hello\n","stream":"stdout","time":"2026-01-02T03:04:05.123456789Z"})",
     .text = "hello",
     .wrapper = "{stdout}",
     .time = kJan02 + 123'456,
     .launcher = "docker-json"},
    {.in =
         R"({"log": "ft-7b-master-0:52:109 [0] misc/ibvwrap.cc:202 NCCL WARN x\n", "stream": "stderr", "time": "2026-01-19T06:02:09.118273645Z"})",
     .text = "misc/ibvwrap.cc:202 NCCL WARN x",
     .wrapper = "{stderr}",
     .host = "ft-7b-master-0",
     .pid = 52,
     .tid = 109,
     .dev = 0,
     .time = 1'768'802'529'118'273,
     .launcher = "docker-json",
     .kubernetes = true,
     .nccl = true},
    {.in = R"({"log":"\n","stream":"stdout","time":"2026-01-02T03:04:05Z"})",
     .text = "",
     .wrapper = "{stdout}",
     .time = kJan02,
     .launcher = "docker-json"},
    {.in =
         R"({"time":"2026-01-02T03:04:05Z","attrs":{"a":["b",{"c":1}],"d":null},"stream":"stdout","log":"[1,3]\u003cstdout\u003e:say \"hi\" \\ \/ \u00e9 \ud83d\ude00\tx\r\n"})",
     .text = "say \"hi\" \\ / \u00e9 \U0001F600\tx",
     .wrapper = "{stdout}[1,3]<stdout>:",
     .rank = 3,
     .time = kJan02,
     .launcher = "docker-json"},
    {.in =
         R"({"log":"\u001b[36m(RayWorker pid=12)\u001b[0m n1:71:128 [3] NCCL INFO x\n","stream":"stdout","time":"2026-01-02T03:04:05Z"})",
     .text = "NCCL INFO x",
     .wrapper = "{stdout}(RayWorker pid=12) ",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .time = kJan02,
     .launcher = "docker-json",
     .nccl = true},
    {.in = R"({"log":"n1:71:128 [3] NCCL WARN Call to ibv_create_cq failed with error Cannot allocate mem)",
     .text = "NCCL WARN Call to ibv_create_cq failed with error Cannot allocate mem",
     .wrapper = "{}",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .launcher = "docker-json",
     .nccl = true},
    {.in = R"({"log":"n1:71:128 [3] NCCL WARN x \ud83)",
     .text = "NCCL WARN x ",
     .wrapper = "{}",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .launcher = "docker-json",
     .nccl = true},
    {.in = R"({"log":"n1:71:128 [3] NCCL WARN "quoted" words\n","stream":"stdout"})",
     .text = "NCCL WARN \"quoted\" words",
     .wrapper = "{}",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .launcher = "docker-json",
     .nccl = true},
    {.in = R"({"MESSAGE":"hello","_HOSTNAME":"n9","_PID":"77","__REALTIME_TIMESTAMP":"1767323045000001"})",
     .text = "hello",
     .wrapper = "{n9}",
     .host = "n9",
     .pid = 77,
     .time = kJan02 + 1,
     .launcher = "journald"},
    {.in = R"({"_HOSTNAME":"n9","MESSAGE":[27,91,51,54,109,104,105]})",
     .text = "hi",
     .wrapper = "{n9}",
     .host = "n9",
     .launcher = "journald"},
    {.in = R"(12: {"log":"hello\n","stream":"stdout","time":"2026-01-02T03:04:05Z"})",
     .text = "hello",
     .wrapper = "12: {stdout}",
     .rank = 12,
     .time = kJan02,
     .launcher = "srun"},
    {.in = "2026-01-02T03:04:05.123456789Z stdout F hello",
     .text = "hello",
     .wrapper = "stdout ",
     .time = kJan02 + 123'456,
     .launcher = "cri",
     .kubernetes = true},
    {.in = "2026-01-02T03:04:05Z stderr F",
     .text = "",
     .wrapper = "stderr ",
     .time = kJan02,
     .launcher = "cri",
     .kubernetes = true},
    {.in = "2026-01-02T03:04:05Z stdout F:x 3: n1:71:128 [3] NCCL INFO x",
     .text = "NCCL INFO x",
     .wrapper = "stdout 3: ",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .rank = 3,
     .dev = 3,
     .time = kJan02,
     .launcher = "cri",
     .kubernetes = true,
     .nccl = true},
    {.in = "2026-01-02T03:04:05Z stdout F [1731000211.118341] [n7:41:0] ib_log.c:246  UCX  ERROR x",
     .text = "ib_log.c:246  UCX  ERROR x",
     .wrapper = "stdout ",
     .host = "n7",
     .pid = 41,
     .time = 1'731'000'211'118'341,
     .launcher = "cri",
     .kubernetes = true,
     .ucx = true},
    {.in = "2026-01-02T03:04:05Z stdout F [2026-03-11 08:14:10] n1:71:128 [3] NCCL WARN x",
     .text = "NCCL WARN x",
     .wrapper = "stdout ",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .time = kJan02,
     .launcher = "cri",
     .kubernetes = true,
     .nccl = true},
    {.in = "trainer-1  | hello", .text = "hello", .wrapper = "trainer-1  | ", .launcher = "docker-compose"},
    {.in = "trainer_1 | ", .text = "", .wrapper = "trainer_1 | ", .launcher = "docker-compose"},
    {.in = "trainer  | n1:71:128 [3] NCCL INFO x",
     .text = "NCCL INFO x",
     .wrapper = "trainer  | ",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .launcher = "docker-compose",
     .nccl = true},

    // journal, syslog, kernel
    {.in = "Jan 02 03:04:05 node7 slurmd[811]: hello",
     .text = "hello",
     .wrapper = "node7 slurmd[811]: ",
     .host = "node7",
     .pid = 811,
     .launcher = "journald"},
    {.in = "Jan  2 03:04:05.123456 node7 systemd: hello",
     .text = "hello",
     .wrapper = "node7 systemd: ",
     .host = "node7",
     .launcher = "journald"},
    {.in = "2026-01-02T03:04:05+0000 node7 python3[42]: n1:71:128 [3] NCCL INFO x",
     .text = "NCCL INFO x",
     .wrapper = "node7 python3[42]: ",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .time = kJan02,
     .launcher = "journald",
     .nccl = true},
    {.in = "Fri 2026-01-02 03:04:05 UTC node7 dockerd[9]: hello",
     .text = "hello",
     .wrapper = "node7 dockerd[9]: ",
     .host = "node7",
     .pid = 9,
     .time = kJan02,
     .launcher = "journald"},
    {.in = "Jan 02 03:04:05 node7 kernel: mlx5_core 0000:a1:00.0: x",
     .text = "mlx5_core 0000:a1:00.0: x",
     .wrapper = "node7 kernel: ",
     .host = "node7"},
    {.in = "Jan 02 03:04:05 node7 kernel: [91177.300112] mlx5_core 0000:a1:00.0: x",
     .text = "mlx5_core 0000:a1:00.0: x",
     .wrapper = "node7 kernel: ",
     .host = "node7"},
    {.in = "[91177.300112] infiniband mlx5_0: create_mkey_callback:131:(pid 0): x",
     .text = "infiniband mlx5_0: create_mkey_callback:131:(pid 0): x"},
    {.in = "[    5.123456] NVRM: x", .text = "NVRM: x"},
    {.in = "[    5.123456][  T77] NVRM: x", .text = "NVRM: x"},
    {.in = "[Thu Jan 22 10:11:12 2026] mlx5_core 0000:a1:00.0: x", .text = "mlx5_core 0000:a1:00.0: x", .time = kJan22},
    {.in = "kernel: NVRM: x", .text = "NVRM: x", .wrapper = "kernel: "},
    {.in = "<3>[   12.300112] mlx5_core 0000:a1:00.0: x", .text = "mlx5_core 0000:a1:00.0: x"},
    {.in = "<13>1 2026-01-02T03:04:05Z node7 app 77 - - hello",
     .text = "hello",
     .wrapper = "node7 app: ",
     .host = "node7",
     .pid = 77,
     .time = kJan02,
     .launcher = "journald"},
    {.in = "<13>1 2026-01-02T03:04:05Z node7 app - ID [x a=\"b\"] hello",
     .text = "hello",
     .wrapper = "node7 app: ",
     .host = "node7",
     .time = kJan02,
     .launcher = "journald"},

    // Ray and vLLM
    {.in = "(RayWorkerWrapper pid=12, ip=10.0.0.2) hello",
     .text = "hello",
     .wrapper = "(RayWorkerWrapper pid=12, ip=10.0.0.2) ",
     .host = "10.0.0.2",
     .pid = 12,
     .launcher = "ray"},
    {.in = "(pid=12) hello [repeated 7x across cluster]",
     .text = "hello [repeated 7x across cluster]",
     .wrapper = "(pid=12) ",
     .pid = 12,
     .launcher = "ray"},
    {.in = "(TrainTrainable pid=9) hello",
     .text = "hello",
     .wrapper = "(TrainTrainable pid=9) ",
     .pid = 9,
     .launcher = "ray"},
    {.in = "(raylet) hello", .text = "hello", .wrapper = "(raylet) ", .launcher = "ray"},
    {.in = "(Actor(rank=1) pid=12) hello",
     .text = "hello",
     .wrapper = "(Actor(rank=1) pid=12) ",
     .pid = 12,
     .rank = 1,
     .launcher = "ray"},
    {.in = "\x1b[36m(RayTrainWorker pid=1, ip=10.0.0.2)\x1b[0m n1:71:128 [3] NCCL INFO x",
     .text = "NCCL INFO x",
     .wrapper = "(RayTrainWorker pid=1, ip=10.0.0.2) ",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .launcher = "ray",
     .nccl = true},
    {.in = "(Worker_TP0 pid=281) ERROR 09-11 09:49:10 [multiproc_executor.py:10] hello",
     .text = "hello",
     .wrapper = "(Worker_TP0 pid=281) ",
     .pid = 281,
     .launcher = "vllm"},
    {.in = "(EngineCore_0 pid=1) hello",
     .text = "hello",
     .wrapper = "(EngineCore_0 pid=1) ",
     .pid = 1,
     .launcher = "vllm"},
    {.in = "(VllmWorker rank=3 pid=1) hello",
     .text = "hello",
     .wrapper = "(VllmWorker rank=3 pid=1) ",
     .pid = 1,
     .rank = 3,
     .launcher = "vllm"},
    {.in = "(Worker_TP1 pid=402) ", .text = "", .wrapper = "(Worker_TP1 pid=402) ", .pid = 402, .launcher = "vllm"},
    {.in = "(Worker_TP1 pid=402) [2026-03-11 08:14:10] spark-2:402:459 [0] misc/ibvwrap.cc:212 (f) NCCL WARN x",
     .text = "misc/ibvwrap.cc:212 (f) NCCL WARN x",
     .wrapper = "(Worker_TP1 pid=402) ",
     .host = "spark-2",
     .pid = 402,
     .tid = 459,
     .dev = 0,
     .time = kMar11,
     .launcher = "vllm",
     .nccl = true},
    {.in = "INFO 09-11 09:49:10 config.py:10] hello", .text = "hello", .launcher = "vllm"},
    {.in = "(EngineCore_0 pid=7) (Worker_TP0 pid=281) WARNING 09-11 09:49:10 [a.py:10]   indented",
     .text = "  indented",
     .wrapper = "(EngineCore_0 pid=7) (Worker_TP0 pid=281) ",
     .pid = 281,
     .launcher = "vllm"},

    // terminals and pasting
    {.in = "\x1b[1;31mhello\x1b[0m", .text = "hello"},
    {.in = "\x1b]0;title\x07hello\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", .text = "hellolink"},
    {.in = "\x1b]0;never ended hello", .text = "0;never ended hello"},
    {.in = "\x1b[36", .text = ""},
    {.in = "\x1b(Bhello\x1b", .text = "hello"},
    {.in = "[36mn1:71:128 [3] NCCL INFO x",
     .text = "NCCL INFO x",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .nccl = true},
    {.in = "#033[36mhello", .text = "hello"},
    {.in = "hello\r", .text = "hello"},
    {.in = "hello\r\r", .text = "hello"},
    {.in = "\r\x1b[2Khello", .text = "hello"},
    {.in = "10%\r20%\r30%", .text = "30%"},
    {.in = "12: 10%\r20%\rn1:71:128 [3] NCCL INFO x\r",
     .text = "NCCL INFO x",
     .wrapper = "12: ",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .rank = 12,
     .dev = 3,
     .launcher = "srun",
     .nccl = true},
    {.in = "[1,3]<stdout>:10%\r[1,3]<stdout>:20%",
     .text = "20%",
     .wrapper = "[1,3]<stdout>:",
     .rank = 3,
     .launcher = "mpirun"},
    {.in = "\xEF\xBB\xBFhello", .text = "hello"},
    {.in = "\xEF\xBB\xBF 3: hello", .text = "hello", .wrapper = " 3: ", .rank = 3, .launcher = "srun"},
    {.in = "h\0e\0l\0l\0o\0"sv, .text = "hello"},
    {.in = "\xFF\xFEh\0i\0"sv, .text = "hi"},
    {.in = "> n1:71:128 [3] NCCL INFO x",
     .text = "NCCL INFO x",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .nccl = true},
    {.in = "out.log:17:n1:71:128 [3] NCCL INFO x",
     .text = "NCCL INFO x",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .dev = 3,
     .nccl = true},

    // everything at once
    {.in = "node7: \x1b[36m(RayWorker pid=12)\x1b[0m [default3]:[1,4]<stderr>: 2: [2026-03-11 08:14:10] n1:71:128 [3] "
           "NCCL WARN x\r",
     .text = "NCCL WARN x",
     .wrapper = "node7: (RayWorker pid=12) [default3]:[1,4]<stderr>: 2: ",
     .host = "n1",
     .pid = 71,
     .tid = 128,
     .rank = 2,
     .dev = 3,
     .time = kMar11,
     .launcher = "pdsh",
     .nccl = true},
    {.in =
         R"(2026-01-02T03:04:05Z stdout F {"log":"[pod/a-b/c] 12: hello\n","stream":"stderr","time":"2026-03-11T08:14:10Z"})",
     .text = "hello",
     .wrapper = "stdout {stderr}[pod/a-b/c] 12: ",
     .host = "a-b",
     .rank = 12,
     .time = kJan02,
     .launcher = "cri",
     .kubernetes = true},
};

void PrintTo(const Row& row, std::ostream* out) {
  *out << testing::PrintToString(row.in);
}

class ShapeRow : public testing::TestWithParam<Row> {};

TEST_P(ShapeRow, EveryField) {
  const Row& want = GetParam();
  const auto lines = shape_all({want.in});
  ASSERT_EQ(lines.size(), 1U) << testing::PrintToString(texts(lines));
  const Shape& got = lines[0].shape;
  EXPECT_EQ(got.text, want.text);
  EXPECT_EQ(got.wrapper, want.wrapper);
  EXPECT_EQ(got.host, want.host);
  EXPECT_EQ(got.pid, want.pid);
  EXPECT_EQ(got.tid, want.tid);
  EXPECT_EQ(got.rank, want.rank);
  EXPECT_EQ(got.dev, want.dev);
  EXPECT_EQ(got.time_us, want.time);
  EXPECT_EQ(got.launcher, want.launcher);
  EXPECT_EQ(got.kubernetes, want.kubernetes);
  EXPECT_EQ(got.nccl_prefix, want.nccl);
  EXPECT_EQ(got.ucx_prefix, want.ucx);
  EXPECT_EQ(lines[0].line, 1U);
  EXPECT_EQ(lines[0].raw, want.in);
}

INSTANTIATE_TEST_SUITE_P(Table, ShapeRow, testing::ValuesIn(kRows));

// Ordinary text that must come out as it went in, with no wrapper, host or rank.
const std::string_view kOrdinary[] = {
    "Error: something",
    "step 10: loss 3.2",
    "step-10: loss 3.2",
    "Rank 0 of 24 starts",
    "key: value",
    "hugepages-2Mi: 512Mi",
    "python3.11: can't open file 'x'",
    "libfoo.so.1: cannot open shared object file",
    "train-7b.py: error: unrecognized arguments",
    "bash-5.1: line 3: foo: command not found",
    "utf-8: codec",
    "mlx5_0: ibv_create_cq() failed: Cannot allocate memory",
    "5f3c9a7d10be: Pull complete",
    "pyxis: imported docker image: registry.example.net#nvidia/tensorflow:20.12",
    "srun: error: cn0412: task 10: Exited with exit code 1",
    "slurmstepd: error: *** STEP 88123.0 ON cn0411 CANCELLED AT 2026-02-03T10:11:12 ***",
    "libibverbs: Warning: RLIMIT_MEMLOCK is 32768 bytes.",
    "    This will severely limit memory registrations.",
    "NCCL version 2.21.5+cuda12.4",
    "NCCL INFO ib_plugin.c:448 -> 2",
    "ibvwrap.c: 106 NCCL WARN Call to ibv_reg_mr failed",
    "Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory",
    "listening on 10.0.0.1<0>",
    "connect host:1:2 refused",
    "n1:71:128 is not a prefix",
    "CmaFree:        9741236 kB",
    "HugePages_Free:     2048",
    "  Local host:              old-ib-02",
    "[launch] job accepted, 2 nodes requested",
    "[entry] CapEff:\t0000000000000000",
    "[loader] io_uring_queue_init(4096): Cannot allocate memory",
    "[bt] (0) /usr/lib/libps.so(+0x1a2b3) [0x7f0000001234]",
    "[1] 12345",
    "[1]+  Done  sleep 1",
    "[step10]: loss",
    "[core.py:12345] hello",
    "  what():  [09:41:17] src/./rdma_transport.h:130: Check failed: mr ibv_reg_mr failed: Cannot allocate memory, "
    "i=1203",
    "ibv_reg_mr(pd=0x55d0c0, addr=0x7f1e40000000, len=536870912, access=0x7) failed: Bad address",
    "root@7d41c0a9be12:/# ulimit -a | grep lock",
    "$ cat /sys/fs/cgroup/rdma.max",
    "--- dmesg ---",
    "2: ib0: <BROADCAST,MULTICAST,UP> mtu 4092",
    "pod/llm-0 created",
    "step 10 | loss 6.91 | 3.2 s/it",
    "mlx5_0 | ACTIVE",
    "| GPU | Mem |",
    "(see the manual)",
    "(0x7f12) frame",
    R"({"level":"info","msg":"hello"})",
    R"({"log":{"nested":1}})",
    "Thu Jan 22 10:11:12 UTC 2026",
    "Jan 02 03:04:05 is when it began",
    "train-0 worker started",
    "Epoch 1/3: 100%|##########| 938/938 [00:12<00:00, 76.31it/s, loss=0.31]",
    "RuntimeError: Mooncake memory registration failed.",
    "Found 2 devices [0] and [1]",
    "Channel 00/0 : 15[7] -> 0[0] [receive] via NET/IB/0",
};

TEST(Shape, OrdinaryTextStays) {
  for (const std::string_view in : kOrdinary) {
    const auto lines = shape_all({in});
    ASSERT_EQ(lines.size(), 1U) << in;
    EXPECT_EQ(lines[0].shape.text, in);
    EXPECT_EQ(lines[0].shape.wrapper, "") << in;
    EXPECT_EQ(lines[0].shape.host, "") << in;
    EXPECT_EQ(lines[0].shape.launcher, "") << in;
    EXPECT_FALSE(lines[0].shape.rank) << in;
  }
}

TEST(Shape, OwnStampsTellTheTimeAndStay) {
  const std::pair<std::string_view, std::int64_t> kStamped[] = {
      {"2026-05-02 09:10:11,200 INFO  Starting trainer with 1 worker", 1'777'713'011'200'000},
      {"[2026-06-02 04:48:31 TP0] Mooncake memory registration failed.", 1'780'375'711'000'000},
      {"[2026-05-02 09:10:11,200] [INFO] [launch.py:123:main] x", 1'777'713'011'200'000},
  };
  for (const auto& [in, time] : kStamped) {
    const auto lines = shape_all({in});
    ASSERT_EQ(lines.size(), 1U) << in;
    EXPECT_EQ(lines[0].shape.text, in);
    EXPECT_EQ(lines[0].shape.time_us, time) << in;
    EXPECT_EQ(lines[0].shape.wrapper, "") << in;
  }
}

TEST(Shape, ImpossibleDatesAreNoStamps) {
  for (const std::string_view in :
       {"2026-02-29T00:00:00Z x", "2026-13-01T00:00:00Z x", "2026-01-02T24:00:00Z x", "1969-01-02T00:00:00Z x"}) {
    const auto lines = shape_all({in});
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0].shape.text, in);
    EXPECT_FALSE(lines[0].shape.time_us) << in;
  }
}

/// Several lines in, the texts out in order.
struct Sequence {
  std::vector<std::string_view> in;
  std::vector<std::string> out;
};

const std::string kWarnText(kWarn);

const Sequence kSequences[] = {
    // a word is a wrapper once a library's line stood behind it
    {{"cn0411: loading", "cn0411: cn0411:71:128 [3] NCCL INFO x", "cn0411: loading", "cn0411:", "cn0412: loading"},
     {"cn0411: loading", "NCCL INFO x", "loading", "", "cn0412: loading"}},
    {{"llm-train-worker-1: llm-train-worker-1:71:128 [3] NCCL INFO x", "llm-train-worker-1: "}, {"NCCL INFO x", ""}},
    {{"train-job-x7k2p trainer n1:71:128 [3] NCCL INFO x", "train-job-x7k2p trainer hello"}, {"NCCL INFO x", "hello"}},
    {{"trainer  | n1:71:128 [3] NCCL INFO x", "trainer  | hello", "other  | hello"},
     {"NCCL INFO x", "hello", "other  | hello"}},
    {{"[3] n1:71:128 [2] NCCL INFO x", "[3]  42"}, {"NCCL INFO x", " 42"}},
    {{"Error: n1:71:128 [3] NCCL WARN x", "Error: hello"}, {"NCCL WARN x", "Error: hello"}},

    // partial lines of runtimes
    {{"2026-01-02T03:04:05Z stdout P n1:71:128 [3] NCCL IN", "2026-01-02T03:04:06Z stderr F between",
      "2026-01-02T03:04:06Z stdout F FO joined"},
     {"between", "NCCL INFO joined"}},
    {{"2026-01-02T03:04:05Z stdout P a", "2026-01-02T03:04:05Z stdout P b", "2026-01-02T03:04:05Z stdout F c"},
     {"abc"}},
    {{"2026-01-02T03:04:05Z stdout P left alone"}, {"left alone"}},
    {{R"({"log":"n1:71:128 [3] NCCL IN","stream":"stdout"})", R"({"log":"other\n","stream":"stderr"})",
      R"({"log":"FO joined\n","stream":"stdout"})"},
     {"other", "NCCL INFO joined"}},
    {{R"({"log":"left alone","stream":"stdout"})"}, {"left alone"}},
    {{R"({"log":"shipper","stream":"stdout"})", R"({"log":"strips","stream":"stdout"})",
      R"({"log":"newlines","stream":"stdout"})"},
     {"shipper", "strips", "newlines"}},
    {{R"({"log":"no newline","stream":"stdout"})", R"({"log":"n1:71:128 [3] NCCL INFO x\n","stream":"stdout"})"},
     {"no newline", "NCCL INFO x"}},
    {{R"({"log":"one\ntwo\n\nthree\n","stream":"stdout"})"}, {"one", "two", "", "three"}},

    // overwritten text that tells something is kept
    {{"n1:71:128 [3] NCCL WARN x\r 10%\r 20%"}, {"NCCL WARN x", " 20%"}},
    {{"10%\rlibibverbs: Warning: RLIMIT_MEMLOCK is 32768 bytes.\r20%\r"},
     {"libibverbs: Warning: RLIMIT_MEMLOCK is 32768 bytes.", "20%"}},

    // glued lines
    {{"node1:71:128 [3] NCCL INFO foonode1:72:129 [4] NCCL WARN bar"}, {"NCCL INFO foo", "NCCL WARN bar"}},
    {{"node1:71:128 [3] NCCL INFO foonode2:72:129 [4] NCCL WARN bar"}, {"NCCL INFO foo", "NCCL WARN bar"}},
    {{"node1:71:128 [3] NCCL INFO foo[2026-03-11 08:14:10] node2:72:129 [4] misc/ibvwrap.cc:194 NCCL WARN bar"},
     {"NCCL INFO foo", "misc/ibvwrap.cc:194 NCCL WARN bar"}},
    {{"a9:1:2 [0] NCCL INFO x", "q7:1:2 [0] NCCL INFO y", "a9:71:128 [3] NCCL INFO fooq7:72:129 [4] NCCL WARN bar"},
     {"NCCL INFO x", "NCCL INFO y", "NCCL INFO foo", "NCCL WARN bar"}},
    {{"n1:1:2 [0] NCCL INFO an1:3:4 [1] NCCL INFO bn1:5:6 [2] NCCL INFO c"},
     {"NCCL INFO a", "NCCL INFO b", "NCCL INFO c"}},
    {{"[1,3]<stdout>:n1:1:2 [0] NCCL INFO a[1,4]<stdout>:n1:3:4 [1] NCCL INFO b"}, {"NCCL INFO a", "NCCL INFO b"}},
    {{"[1731000211.118341] [n7:41:0] a.c:1  UCX  ERROR x[1731000211.118342] [n7:42:0] a.c:2  UCX  ERROR y"},
     {"a.c:1  UCX  ERROR x", "a.c:2  UCX  ERROR y"}},
    {{"loss 0.3 n1:1:2 [0] NCCL INFO a"}, {"loss 0.3 ", "NCCL INFO a"}},
    {{"Epoch 1: 10%|#  | 5/50 [00:01<00:10]n1:71:128 [3] NCCL INFO x"},
     {"Epoch 1: 10%|#  | 5/50 [00:01<00:10]", "NCCL INFO x"}},
    {{"n1:1:2 [0] NCCL INFO peer 10.0.0.1<0> host:1:2 [3] and [4]"},
     {"NCCL INFO peer 10.0.0.1<0> host:1:2 [3] and [4]"}},
    {{"3: n1:1:2 [0] NCCL INFO a 4: n1:3:4 [1] NCCL INFO b"}, {"NCCL INFO a ", "NCCL INFO b"}},
    {{"n-1: n-1:1:2 [0] NCCL INFO an-1: n-1:3:4 [1] NCCL INFO b"}, {"NCCL INFO a", "NCCL INFO b"}},

    // lines cut in half
    {{"n1:71:128 [3] misc/ibvwrap.cc:194 NCCL WARN Call to ibv_reg_mr_iova2 fail",
      "ed with error Cannot allocate memory"},
     {kWarnText}},
    {{"n1:71:128 [3] misc/ibvwrap.cc:194 NCCL WARN Call to ibv_reg_mr_iova2 failed with error",
      " Cannot allocate memory"},
     {kWarnText}},
    {{"n1:71:128 [3] misc/ibvwrap.cc:194 NCCL WARN Call to ibv_reg_mr_iova2 failed with error",
      "Cannot allocate memory"},
     {kWarnText}},
    {{"n1:71:128 [3] misc/ibvwrap.cc:194 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot al",
      "locate memory"},
     {kWarnText}},
    {{"n1:71:128 [3] misc/ibvw",
      "rap.cc:194 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory"},
     {kWarnText}},
    {{"n1:71:128 [3] misc/ibvwrap.cc:194 NCCL WARN Call to ibv_re", "g_mr_iova2 failed with err",
      "or Cannot allocate memory"},
     {kWarnText}},
    {{"2: n1:71:128 [3] misc/ibvwrap.cc:194 NCCL WARN Call to ibv_reg_mr_iova2 fail", "3: hello",
      "2: ", "2: ed with error Cannot allocate memory"},
     {"hello", "", kWarnText}},
    // Never continued.
    {{"n1:71:128 [3] NCCL WARN Call to ibv_reg_mr fail"}, {"NCCL WARN Call to ibv_reg_mr fail"}},
    {{"n1:71:128 [3] NCCL WARN Call to ibv_reg_mr fail", "Traceback (most recent call last):"},
     {"NCCL WARN Call to ibv_reg_mr fail", "Traceback (most recent call last):"}},
    {{"n1:71:128 [3] NCCL WARN Call to ibv_reg_mr failed with error", "Traceback (most recent call last):"},
     {"NCCL WARN Call to ibv_reg_mr failed with error", "Traceback (most recent call last):"}},
    {{"n1:71:128 [3] misc/ibvw", "n1:71:128 [3] NCCL INFO x"}, {"misc/ibvw", "NCCL INFO x"}},
    // Whole lines are not held back.
    {{"n1:71:128 [3] NCCL WARN Call to ibv_open_device failed", "", "n1:71:128 [3] NCCL INFO x"},
     {"NCCL WARN Call to ibv_open_device failed", "", "NCCL INFO x"}},
    // Cut by another rank's line, continued on the next.
    {{"n1:71:128 [3] misc/ibvwn1:72:129 [4] NCCL INFO x",
      "rap.cc:194 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory"},
     {"NCCL INFO x", kWarnText}},
};

TEST(Shape, Sequences) {
  for (const Sequence& sequence : kSequences) {
    SCOPED_TRACE(sequence.in.front());
    EXPECT_EQ(texts(shape_all(sequence.in)), sequence.out);
  }
}

TEST(Shape, GluedPartsKeepTheirOwnRanksAndTheFramesTime) {
  const auto lines = shape_all(
      {"2026-01-02T03:04:05Z stdout F [1,3]<stdout>:n1:1:2 [0] NCCL INFO a[1,4]<stderr>:n1:3:4 [1] NCCL INFO b"});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].shape.rank, 3);
  EXPECT_EQ(lines[1].shape.rank, 4);
  EXPECT_EQ(lines[1].shape.pid, 3);
  EXPECT_EQ(lines[1].shape.dev, 1);
  EXPECT_EQ(lines[1].shape.time_us, kJan02);
  EXPECT_TRUE(lines[1].shape.kubernetes);
  EXPECT_EQ(lines[1].shape.launcher, "cri");
}

TEST(Shape, GluedPartKeepsTheWrapperButNotTheFirstPid) {
  const auto lines = shape_all({"3: node1:71:128 [3] NCCL INFO foonode2:72:129 [4] NCCL WARN bar"});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1].shape.wrapper, "3: ");
  EXPECT_EQ(lines[1].shape.rank, 3);
  EXPECT_EQ(lines[1].shape.host, "node2");
  EXPECT_EQ(lines[1].shape.pid, 72);
}

TEST(Shape, JoinedLineKeepsItsFirstNumberAndShowsBothHalves) {
  const auto lines = shape_all({"x", "n1:71:128 [3] NCCL WARN Call to ibv_reg_mr fail", "ed with error Bad address"});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1].line, 2U);
  EXPECT_EQ(lines[1].raw, "n1:71:128 [3] NCCL WARN Call to ibv_reg_mr failed with error Bad address");
  EXPECT_EQ(lines[1].shape.host, "n1");
}

TEST(Shape, PartialKeepsItsFirstNumber) {
  const auto lines = shape_all(
      {"2026-01-02T03:04:05Z stdout P a", "2026-01-02T03:04:06Z stderr F x", "2026-01-02T03:04:07Z stdout F b"});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].shape.text, "x");
  EXPECT_EQ(lines[1].line, 1U);
  EXPECT_EQ(lines[1].raw, "ab");
  EXPECT_EQ(lines[1].shape.time_us, kJan02);
}

TEST(Shape, HeldLineIsLetGoAfterFiftyOthers) {
  Shaper shaper;
  EXPECT_TRUE(shaper.feed(1, "1: n1:71:128 [3] NCCL WARN Call to ibv_reg_mr fail").empty());
  std::uint64_t line = 1;
  std::size_t seen_at = 0;
  for (int i = 0; i < 60 && seen_at == 0; ++i) {
    for (const ShapedLine& shaped : shaper.feed(++line, "2: other")) {
      if (shaped.line == 1) seen_at = line;
    }
  }
  EXPECT_GE(seen_at, 50U);
  EXPECT_LE(seen_at, 53U);
  EXPECT_TRUE(shaper.finish().empty());
}

TEST(Shape, ManyOpenStreamsLoseNothing) {
  Shaper shaper;
  std::size_t count = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    count += shaper.feed(i, "n" + std::to_string(i) + ".x: 2026-01-02T03:04:05Z stdout P text").size();
  }
  EXPECT_GT(count, 0U);
  count += shaper.finish().size();
  EXPECT_EQ(count, 1000U);
}

TEST(Shape, LongLinesAreCut) {
  const std::string big(200'000, 'a');
  const auto lines = shape_all({big});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].shape.text.size(), 64U * 1024);
  EXPECT_EQ(lines[0].raw.size(), 4096U);
}

TEST(Shape, JoinedPartialsStayBounded) {
  Shaper shaper;
  const std::string piece = "2026-01-02T03:04:05Z stdout P " + std::string(16384, 'a');
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_TRUE(shaper.feed(i, piece).empty());
  const auto lines = shaper.feed(20, "2026-01-02T03:04:05Z stdout F end");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].shape.text.size(), 64U * 1024);
}

TEST(Shape, DockerSplitsOf16KiBAreJoined) {
  const std::string a(16384, 'a');
  const std::string chunk = R"({"log":")" + a + R"(","stream":"stdout"})";
  const auto lines = shape_all({chunk, chunk, R"({"log":"n1:71:128 [3] NCCL INFO x\n","stream":"stdout"})"});
  ASSERT_EQ(lines.size(), 2U);  // a library's prefix never continues a line
  EXPECT_EQ(lines[0].shape.text.size(), 2 * 16384U);
  EXPECT_EQ(lines[1].shape.text, "NCCL INFO x");
}

TEST(Shape, PiecesOfOneLineAreBounded) {
  std::string json = R"({"log":")";
  for (int i = 0; i < 20'000; ++i) json += R"(\n)";
  json += R"(","stream":"stdout"})";
  EXPECT_LE(shape_all({json}).size(), 300U);
  std::string bars;
  for (int i = 0; i < 10'000; ++i) bars += "ibv_\r";
  EXPECT_LE(shape_all({bars}).size(), 300U);
}

TEST(Shape, LooksLikePod) {
  for (const char* name : {"llm-train-worker-1", "job-abc12-xyz9z", "pd-prefill-0", "ft-7b-master-0", "gpu-node-1",
                           "train-job-x7k2p", "mpi-launcher", "ray-head-x7k2p", "web-7d4b9c6f5d-x7k2p",
                           "llm-train-worker-1.llm.default.svc.cluster.local", "set-workers-0-0-x7k2p"}) {
    EXPECT_TRUE(looks_like_pod(name)) << name;
  }
  for (const char* name : {"", "-", "node-03", "gpu-11", "arm117", "spark-1", "dgx-03", "ip-10-0-4-7", "cn-a100-gpu01",
                           "dgx-a100-01", "5f3c9a7d10be", "10.0.0.1", "node_a-b-1", "a--1", "-a-b-1",
                           "aks-nodepool1-12345678-vmss000000", "launcher", "Some-Thing-1"}) {
    EXPECT_FALSE(looks_like_pod(name)) << name;
  }
}

TEST(Shape, KubernetesIsConservative) {
  for (const char* host :
       {"ft-7b-master-0", "llm-train-worker-1", "train-job-x7k2p", "web-7d4b9c6f5d-x7k2p", "mpi-launcher"}) {
    EXPECT_TRUE(shape_all({std::string(host) + ":1:2 [0] NCCL INFO x"})[0].shape.kubernetes) << host;
  }
  for (const char* host : {"pd-prefill-0", "gpu-node-1", "node-03", "cn-a100-gpu01", "ip-10-0-4-7"}) {
    EXPECT_FALSE(shape_all({std::string(host) + ":1:2 [0] NCCL INFO x"})[0].shape.kubernetes) << host;
  }
}

TEST(Shape, LooksLikeDockerId) {
  EXPECT_TRUE(looks_like_docker_id("5f3c9a7d10be"));
  EXPECT_TRUE(looks_like_docker_id("c0ffee12ab34"));
  for (const char* name :
       {"", "5f3c9a7d10b", "5f3c9a7d10bea", "123456789012", "abcdefabcdef", "5F3C9A7D10BE", "5f3c9a7d10bg"}) {
    EXPECT_FALSE(looks_like_docker_id(name)) << name;
  }
}

TEST(Shape, GroupedOutputBelongsToItsHosts) {
  const std::vector<std::string_view> lines = {"---------------",
                                               "node[01-03] (3)",
                                               "---------------",
                                               "64",
                                               "---------------",
                                               "node04",
                                               "---------------",
                                               "unlimited",
                                               "node09:1:2 [0] NCCL INFO x",
                                               "$ ulimit -l",
                                               "8192"};
  const auto shaped = shape_all(lines);
  ASSERT_EQ(shaped.size(), lines.size());
  EXPECT_EQ(shaped[3].shape.host, "node[01-03]");
  EXPECT_EQ(shaped[3].shape.text, "64");
  EXPECT_EQ(shaped[7].shape.host, "node04");
  EXPECT_EQ(shaped[8].shape.host, "node09") << "a library's own prefix is nearer";
  EXPECT_EQ(shaped[10].shape.host, "") << "a prompt ends it";
}

TEST(Shape, RulesAroundAHeadingAreNoGroup) {
  for (const char* heading : {"RESULTS", "Epoch 3", "summary (3)", "a sentence, with 3 words", "[1]"}) {
    EXPECT_EQ(shape_all({"--------", heading, "--------", "64"}).back().shape.host, "") << heading;
  }
  EXPECT_EQ(shape_all({"--------", "node1", "64"}).back().shape.host, "");
  EXPECT_EQ(shape_all({"--------", "node1", "-----", "64"}).back().shape.host, "");
  EXPECT_EQ(shape_all({"--------", "node1", "", "--------", "64"}).back().shape.host, "");
}

TEST(Shape, AHostOfAGroupIsBounded) {
  for (const std::size_t size : {400U, 4000U}) {
    std::string set = "node[01";
    while (set.size() < size) set += ",01";
    set += "]";
    const auto shaped = shape_all({"--------", set, "--------", "64"});
    EXPECT_EQ(shaped.back().shape.host, "?") << "somebody's, and nobody's in particular";
  }
}

}  // namespace
}  // namespace pindown::logs
