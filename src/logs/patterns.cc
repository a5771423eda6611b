// SPDX-License-Identifier: Apache-2.0
// See patterns.h. Rows of one literal are tried from top to bottom; the first that matches wins. Wording was read in
// the libraries' own sources and in public reports; where versions differ the expression allows both.
#include "logs/patterns.h"

#include <array>

namespace pindown::logs {
namespace {

using enum Kind;
using enum Look;

/// "Failed to open device mlx5_0: Permission denied [13]" and relatives, of whatever program.
constexpr const char kOpenRefused[] =
    R"re((?i)(?:failed|unable|cannot|could not|couldn't)(?: to)? open (?:the )?(?:ib |rdma |infiniband |verbs )?device "?(?P<dev>(?:mlx[45]|bnxt_re|irdma|rxe|siw|efa|rdmap|hfi1_|hns_|erdma|mana_|qedr|roc)\w*)\W.{0,40}?(?:(?P<errno>Permission denied|Operation not permitted)|\berrno\W{0,3}(?P<n>13|1)\b))re";

// clang-format off: one row a line, however long, so that rows can be compared.
constexpr Pattern kPatterns[] = {
    // PyTorch and other frameworks over NCCL
    {"ncclSystemError", R"(ncclSystemError\b)", kLibraryError, "torch"},
    {"ncclInternalError", R"(ncclInternalError\b)", kLibraryError, "torch"},
    {"ncclRemoteError", R"(ncclRemoteError\b)", kConnection, "torch"},
    {"ncclUnhandledCudaError", R"(ncclUnhandledCudaError\b)", kCudaError, "torch"},
    {"remote process exited", R"(remote process exited or there was a network error)", kConnection, "torch"},
    {"unhandled system error", R"(unhandled system error)", kLibraryError, "torch"},
    {"unhandled cuda error", R"((?:NCCL error|failure).*unhandled cuda error)", kCudaError, "torch"},
    {"Watchdog caught", R"(Watchdog caught collective operation timeout)", kConnection, "torch"},
    {"restart worker group", R"(will restart worker group)", kRestart, "torch", kContext},
    {"entire process down", R"(taking the entire process down)", kExit, "torch"},
    {"core dumped", R"(\bAborted \(core dumped\))", kExit, ""},
    {"NCCL failure", R"(NCCL failure)", kExit, "nccl"},
    {"CUDA out of memory", R"(CUDA out of memory)", kCudaOom, "torch"},
    {"OutOfMemoryError", R"(\b(?:cuda\.)?OutOfMemoryError: )", kCudaOom, "torch"},
    {"CUDA error: ", R"(CUDA error: out of memory)", kCudaOom, "torch"},
    {"CUDA error: ", R"(CUDA error: (?P<detail>.*))", kCudaError, "torch"},

    // NCCL and RCCL: ibvwrap.cc. Messages start a line (Last error:) or follow WARN/INFO; quoted ones are somebody's prose.
    {"Call to ibv_modify_qp", R"((?:^|WARN |INFO )Call to (?P<verb>ibv_modify_qp) failed with (?P<n>\d+) (?P<errno>[^,]+), on dev (?P<dev>[^:,\s]+)(?P<detail>.*))", kModifyQp, "nccl"},
    {"dlvsym failed", R"(dlvsym failed on (?P<detail>\S+))", kMention, "nccl", kContext},
    {"Call to ibv_", R"((?:^|WARN |INFO |\d{3} )Call to (?P<verb>ibv_\w+) failed(?: with error (?P<errno>.*?)(?: errno (?P<n>\d+))?)?[. ]*$)", kRegMr, "nccl"},
    {"Call to ibv_", R"((?:^|WARN |INFO )Call to (?P<verb>ibv_\w+) failed(?: with error (?P<errno>.*))?)", kRegMr, "nccl"},
    {"Call to ibv_", R"(WARN Call to (?P<verb>ibv_\w+)(?P<detail>.*)$)", kRegMr, "nccl"},  // cut in half
    {"Call to mlx5dv_", R"((?:^|WARN |INFO )Call to (?P<verb>mlx5dv_\w+) failed(?: with error (?P<errno>.*?)(?: errno (?P<n>\d+))?)?[. ]*$)", kRegMr, "nccl"},
    {"Unable to open device", R"(NET/IB : Unable to open device (?P<dev>\S+))", kOpenDevice, "nccl"},
    {"Got completion", R"(Got completion (?:from peer|with error).*?(?:status=|error )(?P<detail>\w+).*)", kCompletion, "nccl"},
    {"Failed to execute operation", R"(Failed to execute operation \S+ from rank (?P<rank>\d+))", kEcho, "nccl"},
    {"Error encountered progressing", R"(Error encountered progressing)", kEcho, "nccl"},
    {"Proxy Call to rank", R"(Proxy Call to rank \d+ failed)", kEcho, "nccl"},
    {"Cuda failure", R"(Cuda failure (?:\d+ )?'out of memory')", kCudaOom, "nccl"},
    {"Cuda failure", R"(Cuda failure (?:\d+ )?'?(?P<detail>[^']+))", kCudaError, "nccl"},
    {"HIP failure", R"(HIP failure '?out of memory)", kCudaOom, "rccl"},
    {"HIP failure", R"(HIP failure '?(?P<detail>[^']+))", kCudaError, "rccl"},
    {"Failed to CUDA", R"(Failed to CUDA (?:calloc|malloc|host alloc|host malloc)\w*(?: async)? (?P<len>\d+))", kCudaOom, "nccl"},
    {"failed to extend /dev/shm", R"(failed to extend (?P<detail>/dev/shm/\S+))", kShm, "nccl"},
    {"Error while creating shared memory", R"(Error while creating shared memory segment (?P<detail>\S*))", kShm, "nccl"},
    {"Error while attaching to shared", R"(Error while attaching to shared memory segment (?P<detail>\S*))", kShm, "nccl"},
    {"Call to posix_fallocate", R"(Call to posix_fallocate failed\s*:\s*(?P<errno>.*))", kShm, "nccl"},
    {"mismatch in rank count", R"(Bootstrap Root ?: mismatch in rank count from procs (?P<detail>\d+ : \d+))", kRanksDisagree, "nccl"},
    {"has already checked in", R"(Bootstrap Root ?: (?P<detail>rank \d+ of \d+ ranks has already checked in))", kRanksDisagree, "nccl"},
    {"Message truncated", R"(Message truncated ?: (?P<detail>received \d+ bytes instead of \d+))", kRanksDisagree, "nccl"},
    // ibv_event_type_str(IBV_EVENT_DEVICE_FATAL), rdma-core libibverbs/enum_strs.c
    {"local catastrophic error", R"((?:(?P<dev>\w+):\d+ )?async fatal event ?:? ?(?P<detail>local catastrophic error))", kDeviceFatal, "nccl"},
    {"async", R"((?P<dev>\w+):\d+ (?:Got )?(?:(?:non-)?fatal )?async(?: fatal)? event ?:? ?(?P<detail>port (?:error|active)))", kPortDown, "nccl", kContext},
    {"Connection closed by remote peer", R"(Connection closed by remote peer)", kConnection, "nccl"},
    {"Socket recv failed", R"(Socket recv failed)", kConnection, "nccl"},
    {"Call to connect ", R"(Call to connect .*(?:failed|returned) ?:?\s*(?P<errno>.*))", kConnection, "nccl"},
    {"Call to recv from", R"(Call to recv from .* failed\s*:\s*(?P<errno>.*))", kConnection, "nccl"},
    {"socketStartConnect", R"(socketStartConnect: Connect to .* failed\s*:\s*(?P<errno>.*))", kConnection, "nccl"},
    {"Connect to", R"(WARN Net ?: ?Connect to .* failed\s*:\s*(?P<errno>.*))", kConnection, "nccl"},
    // src/net.cc ncclNetInit: without a network of the name that NCCL_NET asks for
    {"network IB not found", R"(Error: network IB not found)", kOpenDevice, "nccl"},
    {"pthread_create failed", R"(pthread_create failed[^:]*:\s*(?P<errno>Resource temporarily unavailable))", kThreads, ""},
    {"hread creation failed", R"([Tt]hread creation failed:\s*(?P<errno>Resource temporarily unavailable))", kThreads, ""},
    {"start new thread", R"(can't start new thread)", kThreads, ""},
    {"oo many open files", R"((?i)too many open files)", kTooManyFiles, ""},
    {" -> ", R"((?P<file>[\w./+-]+\.(?:cc|cu|c|h)):\s?(?P<line>\d+)(?: \(\w+\))? -> (?P<detail>\d)\b)", kEcho, "nccl", kContext},
    {"No device found", R"(NET/IB : No (?:device|HCA) found)", kTransport, "nccl", kContext},
    {"NCCL version", R"(NCCL version:? ?(?P<detail>\d+\.\d+(?:\.\d+)?))", kVersion, "nccl", kContext},
    {"RCCL version", R"(RCCL version ?:? ?(?P<detail>\d+\.\d+(?:\.\d+)?))", kVersion, "rccl", kContext},
    {"NET/IB : Using", R"(NET/IB : Using(?P<detail>.*))", kNetUsing, "nccl", kContext},
    {"Dmabuf feature disabled", R"(Dmabuf feature disabled)", kBanner, "rccl", kContext},
    {"GPU Direct RDMA", R"(GPU Direct RDMA (?P<detail>Enabled|Disabled))", kGdr, "nccl", kContext},
    {"DMA-BUF is available", R"(DMA-BUF is available on GPU device)", kDmabufAvailable, "nccl", kContext},
    {" via NET/", R"(via NET/(?P<detail>[\w.-]+(?:/\d+)?(?:\(\d+\))?(?:/\w+)*))", kChannel, "nccl", kContext},
    {"Using network", R"(Using network (?P<detail>\S+))", kTransport, "nccl", kContext},
    {"NET/Socket : Using", R"(NET/Socket : Using(?P<detail>.*))", kTransport, "nccl", kContext},
    {"Init COMPLETE", R"(Init COMPLETE)", kInitComplete, "nccl", kContext},
    {"Connected all", R"(Connected all (?:rings|trees))", kInitComplete, "nccl", kContext},
    {"NET/OFI", R"(NET/OFI (?:Using|Initializing) (?P<detail>aws-ofi-nccl \S+))", kBanner, "aws-ofi-nccl", kContext},
    {"elected", R"(NET/OFI Selected [Pp]rovider is (?P<detail>\w+))", kBanner, "aws-ofi-nccl", kContext},
    {"NCCL INFO", R"(NCCL INFO (?P<detail>NET/Plugin\S*.*))", kBanner, "nccl", kContext},

    // UCX; also any program that prints "verb(args) failed: words"
    {") failed", R"((?:(?P<dev>[\w.-]+): )?\b(?P<verb>(?:ibv|mlx5dv|efadv)_\w+)\((?P<args>(?:[^()]|\(nil\))*)\) failed(?:,? syndrome 0x[0-9a-f]+:|:| with error:?|, errno:?)? *(?P<errno>[^:;()]*))", kRegMr, "ucx"},
    {"failed to create", R"(UCX +ERROR .*failed to create (?P<detail>[\w-]+ (?:QP|CQ|SRQ)).*?:\s*(?P<errno>[A-Z][^:]*)$)", kCreateQueue, "ucx"},
    {"failed to register address", R"(failed to register address (?P<addr>\S+) (?:\((?P<mem>\w+)\)|mem_type bit (?P<membit>\S+)) length (?P<len>\d+))", kEcho, "ucx"},
    {"failed to register user buffer", R"(failed to register user buffer)", kEcho, "ucx"},
    {"Failed to allocate memory pool", R"(Failed to allocate memory pool)", kEcho, "ucx"},
    {"Failed to create UCP worker", R"(Failed to create UCP worker)", kEcho, "openmpi"},
    {"Failed to initialize UCP context", R"(Failed to initialize UCP context)", kEcho, "openmpi"},
    // uct/ib/ud/base/ud_ep.c uct_ud_ep_timer, 1.9 and later: the peer's datagrams did not come back
    {"unhandled timeout error", R"(UD endpoint \S+ to .*: (?P<detail>unhandled timeout error))", kCompletion, "ucx"},
    {"Transport retry count exceeded", R"(Transport retry count exceeded(?: on (?P<dev>[\w.-]+))?)", kCompletion, "ucx"},
    {"completion with error", R"(completion with error:?\s*(?P<detail>.*))", kCompletion, "ucx"},
    {"Local protection", R"(Local protection(?: error)? on (?P<dev>[\w.-]+))", kCompletion, "ucx"},
    {"Remote access error", R"(Remote access error on (?P<dev>[\w.-]+))", kCompletion, "ucx"},
    {"devx_uar", R"((?:cannot|failed to) allocate (?P<verb>mlx5dv_devx_uar|devx_uar)\w*(?:[^:]*:\s*(?P<errno>.*))?)", kOpenDevice, "ucx"},
    {"DEVX UAR", R"(failed to (?:create|allocate) DEVX UAR[^:]*:\s*(?P<errno>.*))", kOpenDevice, "ucx"},
    {"devx_", R"(\b(?P<verb>mlx5dv_devx_\w+|devx_\w+).{0,60}?(?:failed|error)\W*(?P<errno>[A-Z][\w/ ]+))", kCreateQueue, "ucx"},
    // ucs/debug/debug.c, ucs_debug_freeze(): the process stands where it failed
    {"Process frozen", R"((?P<detail>Process frozen))", kBanner, "ucx", kContext},
    {"UCX  ", R"(UCX  (?:WARN|INFO|DIAG|DEBUG|TRACE|REQ|DATA))", kBanner, "ucx", kContext},

    // libibverbs
    {"RLIMIT_MEMLOCK is", R"(libibverbs: Warning: RLIMIT_MEMLOCK is (?P<bytes>\d+) bytes)", kMemlockWarning, "libibverbs"},
    {"support the kernel ABI", R"((?P<detail>Driver \S+) does not support the kernel ABI of (?:\d+))", kDriverMissing, "libibverbs"},
    {"kernel ABI version", R"((?P<detail>kernel ABI version \d+))", kDriverMissing, "libibverbs"},
    {"pen device", kOpenRefused, kOpenDevice, ""},
    {"pen the device", kOpenRefused, kOpenDevice, ""},
    {"pen IB device", kOpenRefused, kOpenDevice, ""},
    {"pen RDMA device", kOpenRefused, kOpenDevice, ""},
    {"cuMemAlloc() of a", R"(cuMemAlloc\(\) of a (?P<len>\d+) bytes (?P<detail>GPU buffer))", kMention, "perftest", kContext},
    {"allocated GPU buffer", R"(allocated (?P<detail>GPU buffer) address at)", kMention, "perftest", kContext},
    {"No IB devices found", R"(No IB devices found)", kOpenDevice, "perftest"},
    {"Unable to find the Infiniband", R"(Unable to find the Infiniband/RoCE device)", kOpenDevice, "perftest"},
    {"initialize any NET plugin", R"(Failed to initialize any NET plugin)", kExit, "nccl"},
    {"couldn't load driver", R"(libibverbs: Warning: couldn't load driver '?(?P<detail>[^':]+))", kDriverMissing, "libibverbs"},
    {"no userspace device-specific", R"(no userspace device-specific driver found for (?P<detail>\S+))", kDriverMissing, "libibverbs"},

    // libfabric and aws-ofi-nccl
    {"Unable to register memory (type", R"(Unable to register memory \(type = (?P<mem>\d+)\) for device (?P<detail>\d+)\. RC: (?P<n>-?\d+), Error: (?P<errno>.*))", kRegMr, "aws-ofi-nccl"},
    {"enable endpoint", R"(Couldn'?t enable endpoint\. RC: (?P<n>-?\d+), ERROR: (?P<errno>.*))", kRegMr, "aws-ofi-nccl"},
    {"freelist extension registration", R"(freelist extension registration failed: (?P<n>-?\d+))", kRegMr, "aws-ofi-nccl"},
    {"Unable to register MR", R"(Unable to register MR(?: of (?P<len>\d+) bytes)?(?:: (?P<errno>[^:,]+))?(?P<detail>.*))", kRegMr, "libfabric"},
    {"Unable to register MSG MR", R"(Unable to register MSG MR)", kLibraryError, "libfabric"},
    {"Failed to register memory: ", R"(libfabric:.*Failed to register memory: (?P<errno>[A-Z][\w ]+))", kRegMr, "libfabric"},
    {"EFA provider has encountered", R"(EFA provider has encountered an internal error)", kLibraryError, "libfabric"},
    {"EFA internal error", R"(EFA internal error: \((?P<detail>\d+)\)\s*(?P<errno>.*))", kRegMr, "libfabric"},
    {"fi_mr_reg", R"(\b(?P<verb>fi_mr_reg\w*)\b.{0,80}?(?:failed|error|returned)\W*(?P<n>-\d+)?\s*\(?(?P<errno>[A-Za-z][\w ]*)?)", kRegMr, "libfabric"},
    {"fi_enable", R"(\b(?P<verb>fi_enable)\b.{0,60}?failed\W*(?P<errno>[A-Za-z][\w ]*)?)", kCreateQueue, "libfabric"},
    {"packet pool", R"((?i)cannot allocate memory for .*RX packet pool\W*(?:error:\s*(?P<errno>.*))?)", kRegMr, "libfabric"},
    {"fi_endpoint", R"(\b(?P<verb>fi_enable|fi_endpoint)\b.{0,60}?failed\W*(?P<errno>[A-Za-z][\w ]*)?)", kCreateQueue, "libfabric"},
    {"ibv_reg_mr: ", R"(libfabric:\d+:.*\b(?P<verb>ibv_reg_mr): (?P<errno>[A-Z][^(]*)\((?P<n>\d+)\))", kRegMr, "libfabric"},
    {"OFI endpoint open", R"(OFI endpoint open failed \((?:\w[\w.-]*:)?(?:\d+:)?(?:\w+:)?(?P<errno>[A-Z][^()]*)\))", kCreateQueue, "intel-mpi"},
    {"OFI EP ", R"(OFI EP (?:open|enable|bind) failed \((?:\w[\w.-]*:)?(?:\d+:)?(?:\w+:)?(?P<errno>[A-Z][^()]*)\))", kCreateQueue, "intel-mpi"},
    {"Abort(", R"(\bAbort\(\d+\) on node (?P<rank>\d+) \(rank \d+ in comm)", kExit, "intel-mpi", kContext},
    {"libfabric:", R"(libfabric:\d+:)", kBanner, "libfabric", kContext},

    // MVAPICH2, src/mpid/ch3/channels/mrail/src/gen2: rdma_iba_init.c and rdma_iba_priv.c, vbuf.c; MPICH's error stack in front
    {"cannot create cq", R"(\brdma_\w+\(\d+\)[. ]*: ?cannot create cq)", kCreateQueue, "mvapich2"},
    {"Fail to create qp", R"(\brdma_\w+\(\d+\)[. ]*: ?Fail to create qp on rank)", kCreateQueue, "mvapich2"},
    {"register vbuf region", R"(Cannot register vbuf region(?: \(ibv_reg_mr errno=(?P<n>\d+) (?P<errno>[^)]*)\))?)", kRegMr, "mvapich2"},
    {"flux-job: ", R"(^flux-job: task\(s\) )", kExit, "flux", kContext},

    // Open MPI
    {"initializing an OpenFabrics device", R"(There was an error initializing an OpenFabrics device)", kMention, "openmpi", kContext},
    {"infiniband ports on a device", R"(infiniband ports on a device)", kBanner, "openmpi", kContext},
    {"allocate some locked memory", R"(allocate some locked memory)", kRegMr, "openmpi"},
    {"Memlock limit:", R"(Memlock limit:\s+(?P<bytes>\d+|unlimited))", kMemlockWarning, "openmpi", kAmend},
    {"  Local host: ", R"(^\s*Local host:\s+(?P<host>\w[\w.-]*)$)", kMemlockWarning, "openmpi", kAmend},
    {"  Function: ", R"(^\s*Function:\s+(?P<verb>\w+)\(\))", kMemlockWarning, "openmpi", kAmend},
    {"  Device: ", R"(^\s*Device:\s+(?P<dev>\S+))", kMemlockWarning, "openmpi", kAmend},
    {"  Error: ", R"(^\s*Error:\s+(?P<errno>.*))", kMemlockWarning, "openmpi", kAmend},
    {"Failed to create a completion queue", R"(Failed to create a completion queue)", kCreateQueue, "openmpi"},
    {"registering part of your physical", R"(registering part of your physical memory)", kRegisterableLow, "openmpi"},
    {"Registerable memory:", R"(Registerable memory:\s+(?P<detail>\d+ MiB))", kRegisterableLow, "openmpi", kAmend},
    {"low MTT entries", R"((?P<detail>low MTT entries.*))", kRegisterableLow, ""},
    {"init-fail-no-mem", R"(init-fail-no-mem)", kEcho, "openmpi"},
    {"MPI_ERRORS_ARE_FATAL", R"(MPI_ERRORS_ARE_FATAL)", kExit, "openmpi", kContext},
    {"MPI_ABORT was invoked", R"(MPI_ABORT was invoked)", kExit, "openmpi", kContext},
    {"An error occurred in MPI_", R"(An error occurred in MPI_)", kExit, "openmpi", kContext},
    {"MPI_ERR_OTHER", R"(MPI_ERR_OTHER)", kExit, "openmpi", kContext},
    {"PML ucx cannot be selected", R"(PML ucx cannot be selected)", kEcho, "openmpi"},
    {"PML add procs failed", R"(PML add procs failed)", kEcho, "openmpi"},

    {"failed to register memory", R"(OpenFabrics driver in Open MPI failed to register memory)", kEcho, "openmpi"},
    {"error registering memory", R"(error registering memory:\s*(?P<errno>.*))", kRegMr, "openmpi"},
    {"failed registering memory", R"(failed registering memory,? errno=(?P<n>\d+)\s*(?P<errno>.*))", kRegMr, "vma"},

    // key-value stores and transfer engines
    {"Failed to register memory 0x", R"(Failed to register memory (?P<addr>0x[0-9a-fA-F]+): (?P<errno>.*?)(?: \[(?P<n>\d+)\])?$)", kRegMr, "mooncake"},
    {"exceeds device max_mr_size", R"(The buffer length exceeds device max_mr_size, shrink it to (?P<len>\d+))", kMrTooLarge, "mooncake"},
    {"Failed to register memory", R"(Failed to register memory: addr (?P<addr>\S+) length (?P<len>\d+))", kEcho, "mooncake"},
    {"memory registration failed", R"(mem registration failed(?:\.? ?Reason: (?P<errno>.*))?)", kRegMr, "nvshmem"},
    {"mem registration failed", R"(mem registration failed(?:\.? ?Reason: (?P<errno>.*))?)", kRegMr, "nvshmem"},
    {"memory registration failed", R"((?i)memory registration failed)", kEcho, "mooncake"},
    {"best gid index", R"(best gid index: \d+ on (?P<dev>\w+)/)", kBanner, "mooncake", kContext},
    {"register_local_memory_failed", R"(register_local_memory_failed)", kEcho, "mooncake"},
    {"Failed to mount segment", R"(Failed to mount segment)", kEcho, "mooncake"},
    {"registerMem: registration failed", R"(registerMem: registration failed)", kEcho, "nixl"},
    {"NIXL_ERR_", R"((?P<detail>NIXL_ERR_\w+))", kEcho, "nixl"},
    {"RegisterRdmaMemoryRegion", R"(RegisterRdmaMemoryRegion failed\W+addr:(?P<addr>0x[0-9a-fA-F]+|\(nil\)|[0-9a-fA-F]+), ?size:(?P<len>\d+).*?errno:(?P<n>\d+)(?: \((?P<errno>[^)]*)\))?)", kRegMr, "mori"},
    {"mr_ != nullptr", R"((?P<verb>ibv_reg_mr): (?P<errno>[^(]+))", kRegMr, "gloo"},
    {"ibv_reg_mr failed", R"((?P<verb>ibv_reg_mr) failed: (?P<errno>[^,]+), i=(?P<detail>\d+), kMempoolChunkSize=(?P<len>\d+))", kRegMr, "ps-lite"},
    {"send buffer MR", R"(Unable to alloc (?:send|recv) buffer MR on (?P<dev>[^:\s]+): (?P<errno>.*))", kRegMr, "psm3"},
    {"RLIMIT_MEMLOCK too small", R"(DAPL startup: RLIMIT_MEMLOCK too small)", kMemlockWarning, "dapl"},
    {"allocate MR", R"((?i)couldn't allocate MR(?: with error=(?P<n>\d+))?)", kRegMr, "perftest"},
    {"ailed to create mr", R"((?i)^\s*failed to create mr\b)", kEcho, "perftest"},
    {"ailed to create MR", R"((?i)^\s*failed to create mr\b)", kEcho, "perftest"},
    {"create IB resources", R"(Couldn't create IB resources)", kEcho, "perftest"},
    {"ERRNO: ", R"(ERRNO: (?P<errno>.*?)\.?$)", kRegMr, "perftest", kAmend},

    // success, trace and probe lines that only name a verb (before the general rows below)
    {"ibv_reg_mr handle", R"(ibv_reg_mr handle)", kMention, "nvshmem", kContext},
    {"registered memory", R"(UCX\s+(?:DEBUG|TRACE|INFO).*registered memory)", kMention, "ucx", kContext},

    // any other program that names a verb and a failure
    {"ibv_reg_", R"((?:^|[^`\w])(?P<verb>ibv_reg_\w+)(?:\(\))?.{0,60}?(?:\bfail(?:ed|ure|s)?\b|\berror\b|\bunable\b|returned NULL|returned null)\W*(?:with|to register|errno)?\W*(?P<detail>.*))", kRegMr, ""},
    {"ibv_reg_", R"((?i)(?:failed|unable|could not|cannot|error)\b.{0,60}?(?:^|[^`\w])(?P<verb>ibv_reg_\w+)\b(?P<detail>.*))", kRegMr, ""},
    {"ibv_create_", R"((?:^|[^`\w])(?P<verb>ibv_create_\w+)(?:\(\))?.{0,60}?(?:\bfail(?:ed|ure)?\b|\berror\b|returned NULL)\W*(?P<detail>.*))", kCreateQueue, ""},
    {"ibv_create_", R"((?i)(?:failed|unable|could not|cannot|error)\b.{0,60}?(?:^|[^`\w])(?P<verb>ibv_create_\w+)\b(?P<detail>.*))", kCreateQueue, ""},
    {"ibv_open_device", R"((?:^|[^`\w])(?P<verb>ibv_open_device)\b.{0,60}?(?:\bfail(?:ed|ure)?\b|\berror\b)\W*(?P<detail>.*))", kOpenDevice, ""},
    {"ibv_alloc_pd", R"((?:^|[^`\w])(?P<verb>ibv_alloc_pd)\b.{0,60}?(?:\bfail(?:ed|ure)?\b|\berror\b)\W*(?P<detail>.*))", kAllocPd, ""},
    {"ibv_modify_qp", R"((?:^|[^`\w])(?P<verb>ibv_modify_qp)\b.{0,60}?(?:\bfail(?:ed|ure)?\b|\berror\b)\W*(?P<detail>.*))", kModifyQp, ""},
    {"egister memory region", R"((?i)(?:failed|unable|could not|cannot|couldn't) to register memory region\W*(?P<detail>.*))", kRegMr, ""},
    {"Failed to register MR", R"(Failed to register MR\W*(?P<detail>.*))", kRegMr, ""},
    {"hipErrorOutOfMemory", R"(hipErrorOutOfMemory)", kCudaOom, ""},

    // container runtimes, shells and schedulers about limits and devices
    {"RLIMIT_MEMLOCK", R"((?i)setrlimit `?RLIMIT_MEMLOCK`?: ?(?P<errno>operation not permitted))", kSetrlimitRefused, "crun"},
    {"setting rlimit", R"((?i)error setting rlimit(?:s for ready process: error setting rlimit)? type 8: ?(?P<errno>operation not permitted))", kSetrlimitRefused, "runc"},
    // asm-generic/resource.h: 8 is MEMLOCK; any other limit that is refused keeps the container from starting as well
    {"setting rlimit", R"((?i)error setting rlimit\w* type (?:[0-79]|1\d): ?(?:operation not permitted))", kExit, "runc", kContext},
    {"propagate RLIMIT_MEMLOCK", R"(Can'?t propagate RLIMIT_MEMLOCK of (?P<detail>\S+) from submit host: (?P<errno>.*))", kMemlockWarning, "slurm"},
    {"locked memory: cannot modify", R"(max locked memory: cannot modify limit(?:: (?P<errno>.*))?)", kMemlockWarning, "shell"},
    {"memorylocked: Can", R"(limit: memorylocked: Can't (?:set|remove)(?: hard)? limit(?: \((?P<errno>[^)]*)\))?)", kMemlockWarning, "shell"},
    {"violates PodSecurity", R"re(violates PodSecurity "(?P<detail>[^"]+)".*(?:IPC_LOCK|capabilit|privileged|runAs|hostPath))re", kContainerRefused, "kubernetes"},
    {"security context constraint", R"(unable to validate against any security context constraint(?P<detail>.*))", kContainerRefused, "kubernetes"},
    {"adding custom device", R"re(error gathering device information while adding custom device "(?P<dev>/dev/infiniband[^"]*)": (?P<errno>.*))re", kOpenDevice, "docker"},

    // kernel log
    {"mlx5_cmd_", R"(mlx5_cmd_(?:out_err|check)\S* ?.*?(?P<verb>[A-Z][A-Z0-9_]+)\(0x[0-9a-f]+\) op_mod\(0x[0-9a-f]+\) failed, status (?P<detail>[a-z ]+(?:\(0x[0-9a-f]+\))?)(?:.*err\((?P<n>-?\d+)\))?)", kMlx5Command, "kernel"},
    {"async reg mr failed", R"(async reg mr failed\. status (?P<n>-?\d+))", kMkeyAsync, "kernel"},
    {"give_pages", R"((?P<verb>give_pages).*)", kMlx5Command, "kernel"},
    {"pages_work_handler", R"((?P<verb>pages_work_handler)\S* .*give fail (?P<n>-?\d+))", kMlx5Command, "kernel"},
    // mlx5/core/health.c poll_health, print_health_info
    {"health compromised", R"(mlx5_core (?P<dev>[0-9a-f:.]+): (?P<detail>device's health compromised.*))", kDeviceHealth, "kernel"},
    {"irisc not responding", R"(mlx5_core (?P<dev>[0-9a-f:.]+): .*(?P<detail>irisc not responding))", kDeviceHealth, "kernel"},
    {"Failed to process command", R"(Failed to process command (?P<verb>\w+) \(opcode \d+\).*err (?P<n>-?\d+))", kEfaCommand, "kernel"},
    {"rxe_umem_get", R"(rdma_rxe: err (?P<n>-\d+) from rxe_umem_get)", kKernelPin, "kernel"},
    {"pin memory region", R"(Unable to pin memory region err = (?P<n>-\d+))", kKernelPin, "kernel"},
    {"failed to get user pages", R"(failed to get user pages(?P<detail>.*))", kKernelPin, "kernel"},
    {"NVRM: Xid", R"(NVRM: Xid \((?P<dev>[^)]*)\): (?P<detail>\d+))", kXid, "kernel"},
    {"NV_ERR_NO_MEMORY", R"(NVRM: .*NV_ERR_NO_MEMORY)", kNvrm, "kernel"},
    {"Unknown symbol ib_", R"((?P<detail>\w+): Unknown symbol ib_(?:un)?register_peer_memory_client)", kUnknownSymbol, "kernel"},
    {"avc:  denied", R"(avc:  denied (?P<detail>.*))", kAvcDenied, "kernel"},
    {"avc: denied", R"(avc: +denied (?P<detail>.*))", kAvcDenied, "kernel"},
    {"apparmor=\"DENIED\"", R"(apparmor="DENIED"(?P<detail>.*))", kAvcDenied, "kernel"},
    {"oom-kill:", R"(oom-kill:(?P<detail>.*))", kHostOom, "kernel"},
    {"ut of memory: Killed process", R"(Out of memory: Killed process (?P<detail>\d+ \([^)]*\)))", kHostOom, "kernel"},
    {"ut of memory: Killed process", R"(emory cgroup out of memory: Killed process (?P<detail>\d+ \([^)]*\)))", kHostOom, "kernel"},
    {"longterm", R"((?P<detail>migrate_longterm_unpinnable\w*.*))", kKernelPin, "kernel"},
    {"ZONE_MOVABLE", R"((?P<detail>.*ZONE_MOVABLE.*))", kKernelPin, "kernel", kContext},
    {"ink down", R"(\b(?:mlx[45]_\w+|bnxt_en|ice|hns3|qede?) (?P<dev>.*?)\W+(?:NIC )?Link (?:is )?(?P<detail>down)\b)", kPortDown, "kernel", kContext},
    {"ink DOWN", R"(\b(?:mlx[45]_\w+|bnxt_en|ice|hns3|qede?) (?P<dev>.*?)\W+(?:NIC )?Link (?:is )?(?P<detail>DOWN)\b)", kPortDown, "kernel", kContext},
    {"ink is Down", R"(\b(?:mlx[45]_\w+|bnxt_en|ice|hns3|qede?) (?P<dev>.*?)\W+(?:NIC )?Link (?:is )?(?P<detail>Down)\b)", kPortDown, "kernel", kContext},
    {"ink up", R"(\b(?:mlx[45]_\w+|bnxt_en|ice|hns3|qede?) (?P<dev>.*?)\W+(?:NIC )?Link (?:is )?(?P<detail>up)\b)", kPortDown, "kernel", kContext},
    {"ink UP", R"(\b(?:mlx[45]_\w+|bnxt_en|ice|hns3|qede?) (?P<dev>.*?)\W+(?:NIC )?Link (?:is )?(?P<detail>UP)\b)", kPortDown, "kernel", kContext},
    {"ink is Up", R"(\b(?:mlx[45]_\w+|bnxt_en|ice|hns3|qede?) (?P<dev>.*?)\W+(?:NIC )?Link (?:is )?(?P<detail>Up)\b)", kPortDown, "kernel", kContext},
    {"Cable unplugged", R"(\bmlx[45]_\w+ .*(?P<detail>Cable unplugged))", kPortDown, "kernel", kContext},
    {"hns3 ", R"(\bhns3 \S+ (?P<dev>hns_\d+): (?P<detail>.*(?:fail|error|exceed).*))", kDriverMessage, "kernel"},
    {"erdma", R"(\berdma\b.*?(?P<dev>erdma_\d+)?: (?P<detail>.*(?:fail|error|exceed).*))", kDriverMessage, "kernel"},
    {"MR Size: ", R"(\b(?P<dev>bnxt_re\d*): MR Size: (?P<len>\d+) > (?P<detail>Max supported:\d+))", kDriverMessage, "kernel"},
    {"bnxt_re", R"(\b(?P<dev>bnxt_re\d*)\b.*?: (?P<detail>.*(?:fail|error|exceed).*))", kDriverMessage, "kernel"},
    {"irdma", R"(\b(?P<dev>irdma\d*)\b.*?: (?P<detail>.*(?:fail|error|exceed).*))", kDriverMessage, "kernel"},
    {": segfault at", R"((?P<detail>\S+\[\d+\]): segfault at)", kKernelSegfault, "kernel"},

    // the job ends, or something else failed first
    // Slurm's are its own only with its word in front, or in its own spelling: any program may say "exited with exit code"
    {"oom_kill", R"(^(?:slurmstepd|srun): .*oom[_-]kill event|oom[_-]kill event(?:\(s\))? in (?:StepId=|step )\d)", kHostOom, "slurm"},
    {"oom_kill", R"(oom_kill event)", kHostOom, ""},
    {"oom-kill event", R"(^(?:slurmstepd|srun): .*oom-kill event|oom-kill event(?:\(s\))? in (?:StepId=|step )\d)", kHostOom, "slurm"},
    {"oom-kill event", R"((?:Detected|detected) .*oom-kill event)", kHostOom, ""},
    {"OOMKilled", R"(\bOOMKilled\b)", kHostOom, "kubernetes"},
    {"exit code 137", R"((?:(?:\w+ )?(?:terminated|exited|failed|finished|died) (?:with )?)?exit(?:ed)? (?:with )?(?:exit )?code 137\b)", kKilled, ""},
    {": Killed", R"(^(?:srun|slurmstepd): .*\btasks? [\d,\[\]-]+: Killed\b)", kKilled, "slurm"},
    {": Killed", R"(\btasks? [\d,\[\]-]+: Killed\b)", kKilled, ""},
    {"SIGKILL", R"((?:[Ss]ignal 9|exitcode:? *-9|terminated|killed|received|\(SIGKILL\)).*SIGKILL|Signal 9 \(SIGKILL\)|exitcode: -9)", kKilled, ""},
    {"exitcode", R"(exitcode\s*:\s*-9\b)", kKilled, "torch"},
    {"exitcode", R"(exitcode\s*:\s*-11\b)", kSegfault, "torch"},
    {"exitcode", R"(exitcode\s*:\s*-7\b)", kSigbus, "torch"},
    {"signal 9 (Killed)", R"(signal 9 \(Killed\))", kKilled, "openmpi"},
    {"Bus error", R"(\bBus error\b)", kSigbus, ""},
    {"SIGBUS", R"(\bSIGBUS\b)", kSigbus, ""},
    {"Segmentation fault", R"(\bSegmentation fault\b)", kSegfault, ""},
    {"SIGSEGV", R"(\bSIGSEGV\b)", kSegfault, ""},
    {"Caught signal 11", R"(Caught signal 11)", kSegfault, "ucx"},
    {"Traceback (most recent call last)", R"(Traceback \(most recent call last\))", kPythonException, "python"},
    {"terminate called after", R"(terminate called after throwing)", kExit, "", kContext},
    // srun's own: src/srun/libsrun/launch.c, _task_finish() "%s: %s %s: Exited with exit code %d"
    {"xited with exit code", R"(^(?:srun|slurmstepd): .*[Ee]xited with exit code [1-9])", kExit, "slurm", kContext},
    {"xited with exit code", R"([Ee]xited with exit code [1-9])", kExit, "", kContext},
    {"srun: error: ", R"(^srun: error: )", kExit, "slurm", kContext},
    {"Force Terminated", R"(Force Terminated (?:Job|Step)Id)", kExit, "slurm", kContext},
    {"Abort COMPLETE", R"(Abort COMPLETE)", kExit, "nccl", kContext},
    {"exit status", R"(\bexit status:? [1-9])", kExit, "", kContext},
    {"exit code", R"((?i)\bexit code:? [1-9])", kExit, "", kContext},
    // glibc's last words, malloc/malloc.c malloc_printerr and debug/stack_chk_fail.c
    {"free(): ", R"(\bfree\(\): (?:invalid|double free|unaligned|corrupted))", kExit, "", kContext},
    {"malloc(): ", R"(\b(?:re|c)?alloc\(\): |\bmalloc\(\): )", kExit, "", kContext},
    {"munmap_chunk(): ", R"(\bmunmap_chunk\(\): invalid pointer)", kExit, "", kContext},
    {"double free or corruption", R"(double free or corruption)", kExit, "", kContext},
    {"corrupted size vs", R"(corrupted size vs\. prev_size)", kExit, "", kContext},
    {"stack smashing detected", R"(\*\*\* stack smashing detected)", kExit, "", kContext},
    {"handling bad device", R"(health_care.*handling bad device)", kExit, "kernel", kContext},
    {"exitcode", R"(exitcode\s*:\s*(?P<detail>-?[1-9]\d*))", kExit, "torch", kContext},
    {"CANCELLED AT", R"((?:JOB|STEP) \S+ ON \S+ CANCELLED AT \S+(?: DUE TO (?P<detail>[A-Z][A-Z ]*[A-Z]))?)", kCancelled, "slurm", kContext},
    {"non-zero exit", R"(non-zero (?:exit )?(?:status|code))", kExit, "openmpi", kContext},

    // locked memory, but not RDMA
    {"io_uring", R"(\bio_uring\w*(?:\([^)]*\))?.{0,60}?(?P<errno>Cannot allocate memory|Operation not permitted))", kIoUring, "io_uring"},
    {"MEMLOCK may be too low", R"((?P<errno>operation not permitted|Operation not permitted|EPERM)?\W*MEMLOCK may be too low)", kOtherMlock, "bpf"},
    {"lock JVM Memory", R"(Unable to lock JVM Memory: error=(?P<n>\d+)(?:, reason=(?P<errno>.*))?)", kOtherMlock, "elasticsearch"},
    {"memlock", R"((?i)\b(?:bpf|libbpf|xdp|xsk|af_xdp)\b.*memlock)", kOtherMlock, "bpf"},
    {"mlock", R"(\b(?P<verb>mlock(?:all|2)?)\b(?:\([^)]*\))?.{0,40}?(?:fail|error|unable|: )\W*.{0,40}?(?P<errno>Cannot allocate memory|Operation not permitted|ENOMEM|EPERM))", kOtherMlock, ""},
    {"mlock", R"((?i)(?:failed|unable|cannot|could not) to mlock.{0,40}?(?P<errno>Cannot allocate memory|Operation not permitted)?)", kOtherMlock, ""},
    {"Failed to lock memory", R"(Failed to lock memory: (?P<errno>[Cc]annot allocate memory|[Oo]peration not permitted))", kOtherMlock, "vault"},
    {"VFIO_", R"((?P<verb>VFIO_(?:IOMMU_)?MAP_DMA|VFIO_MAP_DMA).{0,60}?(?P<errno>Cannot allocate memory|-12)?)", kOtherMlock, "vfio"},
    {"vfio", R"((?i)\bvfio_?(?:container_)?(?:dma_)?map\w*.{0,80}?(?P<errno>Cannot allocate memory))", kOtherMlock, "vfio"},
    {"DMA remapping", R"(Cannot set up DMA remapping, error (?P<n>\d+))", kOtherMlock, "vfio"},
    {"xsk_", R"(\b(?P<verb>xsk_\w+)\b.{0,60}?(?P<errno>Cannot allocate memory|Operation not permitted|No buffer space available))", kOtherMlock, "xdp"},

    // what the run goes on with, and who launched it
    {"data transfer modes", R"(MPI startup\(\): (?P<detail>.*data transfer modes?))", kTransport, "intel-mpi", kContext},
    {"alling back to", R"((?i)falling back to (?P<detail>tcp|sockets?\b.*|ethernet.*|NET/Socket))", kTransport, "", kContext},
    {"job will continue", R"(MPI job will continue)", kProgress, "openmpi", kContext},
    // what backs a buffer, where somebody shows it
    {"dax=", R"(\b(?P<detail>dax=(?:always|inode))\b)", kBanner, "mapping", kContext},
    {"/dev/dax", R"((?P<detail>/dev/dax\d[\d.]*))", kBanner, "mapping", kContext},
    {"/dev/pmem", R"((?P<detail>/dev/pmem\d*))", kBanner, "mapping", kContext},
    {"xpmem", R"((?P<detail>\bxpmem\b))", kBanner, "mapping", kContext},
    {"#SBATCH ", R"(^#SBATCH +-)", kBanner, "slurm", kContext},
    {"slurmstepd: ", R"(^slurmstepd: )", kBanner, "slurm", kContext},
    {"srun: ", R"(^srun: )", kBanner, "slurm", kContext},
    {"sbatch: ", R"(^sbatch: )", kBanner, "slurm", kContext},
    {"Submitted batch job", R"(Submitted batch job \d+)", kBanner, "slurm", kContext},
    {"SLURM_JOB", R"re(\bSLURM_JOB_?ID["']?\s*[=:]\s*["']?\d)re", kBanner, "slurm", kContext},
    {"pyxis:", R"(\bpyxis: )", kBanner, "pyxis", kContext},
    {"enroot", R"(\benroot\b)", kBanner, "enroot", kContext},
    {"PBS_", R"(\bPBS_(?:JOBID|NODEFILE|O_WORKDIR)\b)", kBanner, "pbs", kContext},
    {"pbs_mom", R"(\bpbs_mom\b)", kBanner, "pbs", kContext},
    {"raylet", R"(\braylet\b)", kBanner, "ray", kContext},
    {"deepspeed", R"(\bdeepspeed\b)", kBanner, "deepspeed", kContext},

    // any other line of a known library: recognised, nothing to say of it
    {"NCCL WARN", R"(NCCL WARN (?P<detail>.*))", kMention, "nccl", kContext},
    {"NCCL INFO", R"(NCCL INFO)", kBanner, "nccl", kContext},
    {"MPI startup(): ", R"(MPI startup\(\): )", kBanner, "intel-mpi", kContext},
    {"UCX  ERROR", R"(UCX  ERROR (?P<detail>.*))", kMention, "ucx", kContext},
    {"libibverbs: ", R"(^libibverbs: )", kMention, "libibverbs", kContext},
};
// clang-format on

}  // namespace

std::span<const Pattern> patterns() {
  return kPatterns;
}

Kind kind_of_verb(std::string_view verb) {
  const auto starts = [verb](std::string_view prefix) { return verb.starts_with(prefix); };
  if (verb.find("reg_dmabuf") != std::string_view::npos) return kRegDmabuf;
  if (starts("ibv_reg_") || starts("ibv_exp_reg_") || starts("fi_mr_") || starts("mlx5dv_reg_")) return kRegMr;
  if (starts("ibv_create_qp") || starts("ibv_create_cq") || starts("ibv_create_srq") || starts("ibv_exp_create_") ||
      starts("ibv_create_comp") || starts("ibv_create_wq") || starts("mlx5dv_create_") || starts("efadv_create_") ||
      starts("mlx5dv_devx_umem") || starts("devx_umem") || starts("mlx5dv_devx_obj_create") || starts("fi_enable") ||
      starts("fi_endpoint")) {
    return kCreateQueue;
  }
  if (starts("ibv_alloc_pd") || starts("ibv_alloc_parent")) return kAllocPd;
  if (starts("ibv_open_device") || starts("ibv_get_device_list") || starts("ibv_query_device") ||
      starts("mlx5dv_open_device") || starts("mlx5dv_devx_alloc_uar") || starts("mlx5dv_devx_uar")) {
    return kOpenDevice;
  }
  if (starts("ibv_modify_qp")) return kModifyQp;
  if (starts("ibv_post_") || starts("ibv_poll_cq")) return kCompletion;
  if (starts("ibv_dereg_") || starts("ibv_destroy_") || starts("ibv_close_") || starts("ibv_dealloc_")) return kEcho;
  return kMention;
}

}  // namespace pindown::logs
