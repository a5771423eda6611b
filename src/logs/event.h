// SPDX-License-Identifier: Apache-2.0
// One thing a log says that matters: a failed call, its echo, or a line of context. Filled from one table of patterns
// (patterns.cc): adding a library = rows there. Passive data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "logs/shape.h"

namespace pindown::logs {

enum class Kind {
  // calls on the way to registered memory that failed
  kRegMr,        // ibv_reg_mr, ibv_reg_mr_iova(2), fi_mr_reg, library wording for the same
  kRegDmabuf,    // ibv_reg_dmabuf_mr
  kCreateQueue,  // ibv_create_cq/qp/srq, DEVX umem for a queue
  kAllocPd,
  kOpenDevice,        // ibv_open_device, get_device_list
  kDriverMissing,     // libibverbs: couldn't load driver / no userspace driver
  kMrTooLarge,        // exceeds device max_mr_size
  kMemlockWarning,    // libibverbs RLIMIT_MEMLOCK warning, DAPL, OMPI help text with a limit: names the limit itself
  kRegisterableLow,   // Open MPI: "Registerable memory" below total
  kSetrlimitRefused,  // container runtime could not set RLIMIT_MEMLOCK
  kContainerRefused,  // admission: Pod Security or SCC forbids
  kForkHugepages,     // library says hugepages + fork protection
  // not registration
  kModifyQp,
  kCompletion,  // work completion with an error status
  kConnection,  // connection closed, remote error, socket errors
  kCudaOom,
  kCudaError,
  kHostOom,
  kKilled,
  kCancelled,      // the batch system ended the job: detail = its reason, empty where it gives none
  kRanksDisagree,  // start-up of the job's ranks: another count of ranks, a message of another size
  kPythonException,
  kXid,
  kDeviceFatal,  // the RDMA device reported that it failed for good
  kSegfault,
  kSigbus,
  kShm,
  kTooManyFiles,
  kThreads,  // a thread could not be created
  kIoUring,
  kOtherMlock,
  kLibraryError,  // an ncclSystemError class error with no verbs call named
  // kernel log
  kMlx5Command,  // verb = CREATE_MKEY …, detail = status
  kEfaCommand,
  kMkeyAsync,
  kKernelPin,
  kNvrm,
  kUnknownSymbol,
  kAvcDenied,
  kPortDown,       // a link or port of the RDMA device went down, or up again: detail; also a library's event of it
  kDeviceHealth,   // the driver found the adapter's firmware stuck
  kDriverMessage,  // an RDMA driver's own message of a failure
  kKernelSegfault,
  // follow-ups of a failure; never a cause
  kEcho,
  kExit,  // the job says it ends with an error: exit status, MPI_ABORT, terminate called
  // context
  kRestart,  // the launcher starts the job's processes again
  kVersion,
  kNetUsing,
  kChannel,
  kGdr,
  kDmabufAvailable,
  kTransport,
  kInitComplete,
  kProgress,
  kMention,
  kBanner,
};

/// True for kinds that are a failed step of registering memory.
bool is_registration(Kind);
/// True for kinds that report some failure of the job (registration or not), excluding echoes and kernel lines.
bool is_failure(Kind);
std::string_view kind_name(Kind);

enum class MemoryType { kUnknown, kHost, kGpu };

struct Event {
  Kind kind = Kind::kMention;
  std::string
      library;  // "nccl", "rccl", "ucx", "libibverbs", "libfabric", "aws-ofi-nccl", "openmpi", "mooncake", "kernel" …
  std::string verb;                     // "ibv_reg_mr_iova2", kernel command name; empty if the line names none
  std::optional<int> error;             // Linux errno, only when the line had one
  std::string error_text;               // the words it was read from
  std::optional<std::uint64_t> length;  // bytes asked for
  std::optional<std::uint64_t> address;
  std::optional<std::uint64_t> limit;  // bytes; a limit the line itself names ("current: 64 kbytes")
  bool limit_hint =
      false;  // the library only prints this hint when errno is ENOMEM and CAP_IPC_LOCK is not effective (UCX >= 1.14)
  MemoryType memory = MemoryType::kUnknown;
  std::string device;       // "mlx5_0"
  std::string detail;       // status, address family, message: whatever the pattern calls detail
  std::string source_file;  // "misc/ibvwrap.cc"
  std::optional<std::uint64_t> source_line;
  bool with_errno = false;  // the message has " with error "
  Shape shape;              // host, pid, rank, time, wrapper
  std::string input;        // path of the log
  std::uint64_t line = 0;
  std::string raw;            // for evidence
  bool cut = false;           // its record goes on in further lines, and none of those seen has an errno
  bool quiet = false;         // a failure told at a debugging level only: counts where the process then crashes
  std::uint64_t repeats = 0;  // further equal events that were counted and not kept
};

}  // namespace pindown::logs
