// SPDX-License-Identifier: Apache-2.0
// See event.h: the groups of kinds.
#include "logs/event.h"

namespace pindown::logs {

bool is_registration(Kind kind) {
  switch (kind) {
    case Kind::kRegMr:
    case Kind::kRegDmabuf:
    case Kind::kCreateQueue:
    case Kind::kAllocPd:
    case Kind::kOpenDevice:
    case Kind::kDriverMissing:
    case Kind::kMrTooLarge:
    case Kind::kMemlockWarning:
    case Kind::kRegisterableLow:
    case Kind::kSetrlimitRefused:
    case Kind::kContainerRefused:
    case Kind::kForkHugepages:
      return true;
    default:
      return false;
  }
}

bool is_failure(Kind kind) {
  switch (kind) {
    case Kind::kModifyQp:
    case Kind::kCompletion:
    case Kind::kConnection:
    case Kind::kCudaOom:
    case Kind::kCudaError:
    case Kind::kHostOom:
    case Kind::kKilled:
    case Kind::kCancelled:
    case Kind::kRanksDisagree:
    case Kind::kPythonException:
    case Kind::kXid:
    case Kind::kDeviceFatal:
    case Kind::kSegfault:
    case Kind::kSigbus:
    case Kind::kShm:
    case Kind::kTooManyFiles:
    case Kind::kThreads:
    case Kind::kIoUring:
    case Kind::kOtherMlock:
    case Kind::kLibraryError:
      return true;
    default:
      return is_registration(kind);
  }
}

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kRegMr:
      return "memory registration";
    case Kind::kRegDmabuf:
      return "dma-buf registration";
    case Kind::kCreateQueue:
      return "queue creation";
    case Kind::kAllocPd:
      return "protection domain";
    case Kind::kOpenDevice:
      return "opening the device";
    case Kind::kDriverMissing:
      return "loading the device's driver";
    case Kind::kMrTooLarge:
      return "memory region larger than the device allows";
    case Kind::kMemlockWarning:
      return "locked-memory warning";
    case Kind::kRegisterableLow:
      return "registerable memory";
    case Kind::kSetrlimitRefused:
      return "raising the limit";
    case Kind::kContainerRefused:
      return "admission of the pod";
    case Kind::kForkHugepages:
      return "fork protection of huge pages";
    case Kind::kModifyQp:
      return "connecting the queue pair";
    case Kind::kCompletion:
      return "a transfer";
    case Kind::kConnection:
      return "a connection";
    case Kind::kCudaOom:
      return "GPU memory allocation";
    case Kind::kCudaError:
      return "a CUDA call";
    case Kind::kHostOom:
      return "host memory (OOM killer)";
    case Kind::kKilled:
      return "the process (killed)";
    case Kind::kCancelled:
      return "the job (cancelled)";
    case Kind::kRanksDisagree:
      return "the start-up of the ranks";
    case Kind::kPythonException:
      return "the program (exception)";
    case Kind::kXid:
      return "the GPU (Xid)";
    case Kind::kDeviceFatal:
      return "the RDMA device";
    case Kind::kDeviceHealth:
      return "the RDMA device's health";
    case Kind::kSegfault:
      return "the program (segmentation fault)";
    case Kind::kSigbus:
      return "the program (bus error)";
    case Kind::kShm:
      return "/dev/shm";
    case Kind::kTooManyFiles:
      return "opening a file";
    case Kind::kThreads:
      return "creating a thread";
    case Kind::kIoUring:
      return "io_uring";
    case Kind::kOtherMlock:
      return "locking memory outside RDMA";
    case Kind::kLibraryError:
      return "a library call";
    case Kind::kMlx5Command:
      return "mlx5 firmware command";
    case Kind::kEfaCommand:
      return "EFA device command";
    case Kind::kMkeyAsync:
      return "mlx5 memory key";
    case Kind::kKernelPin:
      return "pinning pages";
    case Kind::kNvrm:
      return "NVIDIA driver";
    case Kind::kUnknownSymbol:
      return "kernel module symbol";
    case Kind::kAvcDenied:
      return "security policy";
    case Kind::kPortDown:
      return "RDMA port";
    case Kind::kDriverMessage:
      return "RDMA driver";
    case Kind::kKernelSegfault:
      return "segmentation fault";
    default:
      return "context";
  }
}

}  // namespace pindown::logs
