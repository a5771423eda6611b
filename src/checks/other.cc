// SPDX-License-Identifier: Apache-2.0
// PD7xx: what looks like a failed registration and is none: it says so, points at the line, and stops there.
// Each row has its page and the function that recognises it. Entry point: other_checks. Must not: read files, or
// diagnose GPUs and fabrics any further than naming the first failure.
#include <errno.h>
#include <fmt/format.h>

#include "checks/check.h"
#include "checks/look.h"

namespace pindown {
namespace {

using namespace look;

// --- PD701 ---------------------------------------------------------------------------------------------------------

/// How sure it is that "it went on" is the more useful thing to say than the cause. A device that could not be opened,
/// or a warning that names the limit, is better headed by its own code; an error of a transport that nobody needed is
/// not.
int fallback_weight(const Situation& s) {
  if (first_is(s, {Kind::kOpenDevice, Kind::kMemlockWarning, Kind::kDriverMissing})) return 50;
  const std::string& library = s.incident->first.library;
  return library == "nccl" || library == "rccl" ? 60 : 96;
}

Outcome fallback_succeeded(const Situation& s) {
  if (!s.incident || !s.incident->continued) return not_applicable();
  if (!first_is(s, {Kind::kRegMr, Kind::kRegDmabuf, Kind::kCreateQueue, Kind::kAllocPd, Kind::kOpenDevice,
                    Kind::kDriverMissing, Kind::kMrTooLarge, Kind::kMemlockWarning, Kind::kForkHugepages,
                    Kind::kLibraryError})) {
    return not_applicable();
  }
  std::vector<Evidence> evidence = {s.failure_evidence()};
  if (s.incident->continued_by) evidence.push_back(cite(*s.incident->continued_by, "it went on"));
  const bool socket = s.run && s.run->socket_transport;
  Outcome out = found(Certainty::kLikely, fallback_weight(s),
                      socket ? "the error did not stop the job: it went on over sockets, without RDMA"
                             : "the error did not stop the job: it went on with another transport",
                      std::move(evidence));
  return with(at_severity(std::move(out), Severity::kWarning),
              {{"name-transport",
                "if RDMA is wanted, fix the cause; if not, leave the transport out so that it isn't tried",
                {"export UCX_TLS=sm,self,tcp", "export NCCL_IB_DISABLE=1"},
                false,
                "NCCL_DEBUG=INFO prints 'Using network ...'; UCX_LOG_LEVEL=info prints the transports"}});
}

// --- PD702, PD703 --------------------------------------------------------------------------------------------------

bool unreachable_errno(const Situation& s) {
  for (const int number : {ENODEV, ENETUNREACH, EHOSTUNREACH, ETIMEDOUT, ENETDOWN, EADDRNOTAVAIL}) {
    if (s.has_errno(number)) return true;
  }
  return false;
}

std::string unreachable_words(const Situation& s) {
  if (s.has_errno(ENODEV)) return "the GID's network interface is not in this network namespace";
  if (s.has_errno(ETIMEDOUT)) return "the peer's address did not answer";
  return "there is no route to the peer's address";
}

Outcome peer_unreachable(const Situation& s) {
  if (!first_is(s, {Kind::kModifyQp}) || !unreachable_errno(s)) return not_applicable();
  return judged(
      s,
      with(found(Certainty::kLikely, 95,
                 fmt::format("ibv_modify_qp could not reach the peer: {}; no memory is involved", unreachable_words(s)),
                 {s.failure_evidence()}),
           {{"reach-peer",
             "give the job the RoCE interface (hostNetwork, SR-IOV, macvlan), check routes and the GID index",
             {"ip -br addr", "rdma link show", "show_gids 2>/dev/null || ibv_devinfo -v | grep GID"},
             true,
             "ping -c 3 -I eth0 10.0.0.2   # your RoCE interface and the peer's address"}}));
}

Outcome qp_attribute_rejected(const Situation& s) {
  if (!first_is(s, {Kind::kModifyQp}) || unreachable_errno(s)) return not_applicable();
  if (!s.has_errno(EINVAL) && !s.no_errno()) return not_applicable();
  if (s.no_errno())
    return candidate(60, "ibv_modify_qp failed, with which error the line does not say",
                     "export NCCL_DEBUG=INFO   # then run the job again and check that log");
  return judged(
      s, with(found(Certainty::kLikely, 95,
                    "ibv_modify_qp rejected the connection's attributes, usually the GID index; no memory is involved",
                    {s.failure_evidence()}),
              {{"gid-index",
                "choose a GID index that is RoCE v2 with an address on both ends (NCCL 2.21 and later finds it itself)",
                {"show_gids 2>/dev/null || ibv_devinfo -v | grep GID", "unset NCCL_IB_GID_INDEX"},
                false,
                "NCCL_DEBUG=INFO prints the GID index it uses"}}));
}

// --- PD704 ---------------------------------------------------------------------------------------------------------

/// enum ibv_wc_status, rdma-core libibverbs/verbs.h.
std::string_view completion_meaning(std::uint64_t status) {
  switch (status) {
    case 1:
      return "local length error";
    case 2:
      return "local queue pair error";
    case 4:
      return "local protection error: the buffer was not registered for this, or no longer";
    case 5:
      return "flushed: the queue had already failed, look for an earlier completion";
    case 9:
      return "remote invalid request";
    case 10:
      return "remote access error: the peer's region does not allow this access or is gone";
    case 11:
      return "remote operation error";
    case 12:
      return "retries exceeded: the peer or the path to it is gone";
    case 13:
      return "receiver not ready: the peer posted no buffer in time";
    case 21:
      return "general error";
    default:
      return {};
  }
}

std::optional<std::uint64_t> number_after(std::string_view text, std::string_view word) {
  const auto at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + word.size());
  return parse_u64(take_digits(text));
}

std::optional<std::uint64_t> completion_status(const Event& event) {
  if (const auto status = parse_u64(trim(event.detail))) return status;
  for (const std::string_view text : {std::string_view(event.detail), std::string_view(event.raw)}) {
    for (const std::string_view word : {"status=", "status: ", "status ", "with error ", " error "}) {
      if (const auto status = number_after(text, word)) return status;
    }
  }
  // UCX writes the status in words (ib_mlx5_log.c).
  if (says(event, "retry count exceeded")) return 12;
  if (says(event, "remote access error")) return 10;
  if (says(event, "local protection")) return 4;
  return std::nullopt;
}

Outcome transfer_failed(const Situation& s) {
  if (!first_is(s, {Kind::kCompletion})) return not_applicable();
  const auto status = completion_status(s.incident->first);
  const std::string_view meaning = status ? completion_meaning(*status) : std::string_view();
  const std::string words = meaning.empty() ? std::string("a transfer completed with an error")
                                            : fmt::format("a transfer ended with status {} ({})", *status, meaning);
  return judged(
      s, with(found(Certainty::kLikely, 95, words + "; the memory had been registered before", {s.failure_evidence()}),
              {{"check-fabric",
                "look for the rank that died first, then at links and switches",
                {"rdma link show", "grep -H . /sys/class/infiniband/*/ports/1/counters/link_downed"},
                false,
                ""}}));
}

// --- PD705 ---------------------------------------------------------------------------------------------------------

struct OtherFailure {
  Kind kind;
  Certainty certainty;
  std::string_view words;
};

constexpr OtherFailure kOtherFailures[] = {
    {Kind::kCudaOom, Certainty::kProven, "a GPU ran out of memory"},
    {Kind::kCudaError, Certainty::kProven, "a CUDA call failed"},
    {Kind::kHostOom, Certainty::kLikely,
     "the kernel killed a process because the host or its cgroup ran out of memory"},
    {Kind::kKilled, Certainty::kLikely, "a process was killed"},
    {Kind::kPythonException, Certainty::kLikely, "a Python exception ended a rank"},
    {Kind::kXid, Certainty::kLikely, "a GPU reported a fault (Xid)"},
    {Kind::kRanksDisagree, Certainty::kLikely,
     "the ranks did not agree with each other at start-up (number of ranks, or library versions)"},
    {Kind::kSigbus, Certainty::kLikely, "a process got SIGBUS: its memory could not be provided"},
};

Outcome other_failure_first(const Situation& s) {
  if (first_is(s, {Kind::kConnection})) {
    return judged(
        s, candidate(60, "a connection broke because another rank or host failed first; its log is not in this input",
                     "pindown check nccl.*   # the logs of all ranks: the earliest error counts"));
  }
  const std::string_view then =
      s.incident && s.incident->echo_count > 0 ? "; network errors after that are its consequence" : "";
  if (first_is(s, {Kind::kCancelled})) {
    const std::string& reason = s.incident->first.detail;
    return judged(s, found(Certainty::kLikely, 95,
                           fmt::format("the batch system cancelled the job{}{}",
                                       reason.empty() ? "" : " (" + lower(escape(reason, 60)) + ")", then),
                           {s.failure_evidence()}));
  }
  for (const OtherFailure& other : kOtherFailures) {
    if (!first_is(s, {other.kind})) continue;
    return judged(s, found(other.certainty, 95, fmt::format("{} first{}", other.words, then), {s.failure_evidence()}));
  }
  return not_applicable();
}

// --- PD706 ---------------------------------------------------------------------------------------------------------

const Event* crash_after(const Situation& s) {
  for (const auto* list : {&s.incident->echoes, s.run ? &s.run->kernel : nullptr}) {
    if (!list) continue;
    for (const Event& event : *list) {
      const bool crash =
          event.kind == Kind::kSegfault || event.kind == Kind::kKernelSegfault || event.kind == Kind::kSigbus;
      if (crash && !unrelated(s, event)) return &event;
    }
  }
  return nullptr;
}

Outcome crash_after_failed(const Situation& s) {
  if (!s.incident) return not_applicable();
  if (first_is(s, {Kind::kSegfault}) && (log_says(s, "dereg_mr") || log_says(s, "deregmr"))) {
    return at_severity(found(Certainty::kLikely, 60,
                             "it crashed releasing a region it never got: look for the registration's INFO line above",
                             {s.failure_evidence()}),
                       Severity::kError);
  }
  if (first_is(s, {Kind::kSegfault})) {
    return candidate(
        40, "a crash in a communication library often follows a failed registration that only an INFO line tells of",
        "export NCCL_DEBUG=INFO UCX_LOG_LEVEL=info   # then run the job again and check that log");
  }
  if (!s.registration()) return not_applicable();
  const Event* crash = crash_after(s);
  if (!crash) return not_applicable();
  if (!s.incident->continued && !limits::blamed(s)) {
    // Any cause that is found outranks it: it says only what became of the failure.
    return at_severity(found(Certainty::kLikely, 45,
                             "a registration failed and the library crashed over the region it did not get; why it "
                             "failed is not shown",
                             {s.failure_evidence(), cite(*crash)}),
                       Severity::kError);
  }
  return at_severity(found(Certainty::kPossible, 10,
                           "the crash after it is an echo: the library used a region it did not get", {cite(*crash)}),
                     Severity::kNote);
}

// --- PD707 ---------------------------------------------------------------------------------------------------------

Outcome other_locked_memory(const Situation& s) {
  if (!first_is(s, {Kind::kIoUring, Kind::kOtherMlock})) return not_applicable();
  const bool ring = s.failure() == Kind::kIoUring;
  std::vector<Evidence> evidence = {s.failure_evidence()};
  if (s.limit.soft) evidence.push_back(cite(s.limit.source));
  const std::string limit = s.limit.soft ? fmt::format(" ({})", format_limit(*s.limit.soft)) : std::string();
  return judged(
      s,
      with(found(Certainty::kLikely, 92,
                 ring ? fmt::format("io_uring ran into the locked-memory limit{}, which all rings of one user share; "
                                    "RDMA is not involved",
                                    limit)
                      : fmt::format("mlock or a driver other than RDMA ran into the locked-memory limit{}", limit),
                 std::move(evidence)),
           {{"memlock-for-all",
             ring ? "raise the limit above what all processes of this user lock together, or open fewer rings"
                  : "raise the limit of this program",
             {"prlimit --memlock=unlimited:unlimited --pid \"$PID\""},
             false,
             "grep 'locked memory' \"/proc/$PID/limits\""}}));
}

// --- PD708 ---------------------------------------------------------------------------------------------------------

/// A line that names a registration call; other lines that are only context are none of PD708's.
bool names_registration(const Event& event) {
  if (event.kind != Kind::kMention) return false;
  return contains(event.verb, "reg_") || icontains(event.raw, "ibv_reg") || icontains(event.raw, "fi_mr_reg") ||
         icontains(event.raw, "registered memory");
}

Outcome mention_only(const Situation& s) {
  const Event* mention = nullptr;
  if (s.incident && names_registration(s.incident->first)) mention = &s.incident->first;
  if (!s.incident && s.run) {
    for (const Event& note : s.run->notes) {
      if (!mention && names_registration(note)) mention = &note;
    }
  }
  if (!mention) return not_applicable();
  const std::string call = mention->verb.empty() ? std::string("a registration call") : escape(mention->verb, 40);
  if (mention->quiet) {
    return at_severity(
        found(Certainty::kPossible, 20,
              call + " failed, which the library tells at a debugging level only: it did without", {cite(*mention)}),
        Severity::kNote);
  }
  return at_severity(
      found(Certainty::kPossible, 20, call + " is only mentioned, in a success, trace or probe line", {cite(*mention)}),
      Severity::kNote);
}

// --- PD709, PD710 --------------------------------------------------------------------------------------------------

Outcome shm_too_small(const Situation& s) {
  if (!first_is(s, {Kind::kShm})) return not_applicable();
  const auto length = s.incident->first.length;
  const std::string size = length ? fmt::format(" of {}", format_size(*length)) : std::string();
  return judged(s,
                with(found(Certainty::kProven, 95,
                           fmt::format("/dev/shm has no room for a segment{}; locked memory is not involved", size),
                           {s.failure_evidence()}),
                     {{"shm-size",
                       "give the container more shared memory: --shm-size, --ipc=host, or an emptyDir of medium Memory",
                       {"mount -o remount,size=16g /dev/shm   # on a host, or in a privileged container"},
                       false,
                       "df -h /dev/shm"}}));
}

Outcome too_many_files(const Situation& s) {
  if (!first_is(s, {Kind::kTooManyFiles})) return not_applicable();
  return judged(s, with(found(Certainty::kProven, 95,
                              "the process may open no more files (RLIMIT_NOFILE); locked memory is not involved",
                              {s.failure_evidence()}),
                        {{"nofile",
                          "raise the open-files limit: soft up to hard in the job, hard where the job is started",
                          {"ulimit -n \"$(ulimit -Hn)\"", "prlimit --nofile=1048576:1048576 --pid \"$PID\""},
                          false,
                          "grep 'open files' \"/proc/$PID/limits\""}}));
}

// --- PD711 ---------------------------------------------------------------------------------------------------------

/// Somebody meant this run to use RDMA.
bool rdma_wanted(const Situation& s) {
  if (const auto* off = s.env("NCCL_IB_DISABLE"); off && *off && **off == "1") return false;
  if (const auto* hca = s.env("NCCL_IB_HCA"); hca && *hca) return true;
  if (const auto* net = s.env("NCCL_NET"); net && *net && iequals(**net, "IB")) return true;
  return s.facts->rdma_present && *s.facts->rdma_present;
}

Outcome rdma_not_exercised(const Situation& s) {
  if (s.incident || !s.run) return not_applicable();
  if (s.run->net_ib) return ruled_out("the run used NET/IB");
  if (!s.run->socket_transport || !s.run->init_complete) return not_applicable();
  std::vector<Evidence> evidence;
  for (const Event& note : s.run->notes) {
    if (note.kind == Kind::kTransport && evidence.empty()) evidence.push_back(cite(note));
  }
  const bool wanted = rdma_wanted(s);
  return at_severity(found(wanted ? Certainty::kLikely : Certainty::kPossible, wanted ? 60 : 20,
                           wanted ? "the run used sockets although RDMA was asked for or is there"
                                  : "this run used sockets: it says nothing about RDMA or the memory limit",
                           std::move(evidence)),
                     wanted ? Severity::kWarning : Severity::kNote);
}

// --- the pages -----------------------------------------------------------------------------------------------------

constexpr Check kTable[] = {
    {"PD701",
     "fallback-succeeded",
     Severity::kWarning,
     "an error line, then another transport worked",
     {"A library reported that it could not register memory or open a device, and then the job carried on another way. "
      "Nothing crashed because of it. What is lost is speed, if RDMA was wanted at all.",
      "NCCL tries its network plugins in order and ends with sockets ('Using network Socket'). UCX opens every "
      "transport and device it was not told to leave out and prints errors even of those it will not use (public "
      "report: openucx 8746, with `--mca pml ob1`). User buffer registration in NCCL (net.cc beyond the connect lines) "
      "falls back to copies. PSM3 and Intel MPI warn and start.",
      "Progress, results or a fallback line after the error, in the same log. The cause of the error is still "
      "reported, below or above this one: above when it is a missing device or a warning that names the limit.",
      "If RDMA is wanted, fix the cause. If not, keep the libraries from trying:\n\n    export "
      "UCX_TLS=sm,self,tcp\n    export NCCL_IB_DISABLE=1",
      "The job's speed is what you expect."},
     fallback_succeeded},
    {"PD702",
     "peer-unreachable",
     Severity::kError,
     "the queue pair could not be connected: the peer is not reachable",
     {"Memory and queues were fine. Connecting the queue pair failed because the kernel found no way to the peer's "
      "address.",
      "ibv_modify_qp to RTR makes the kernel resolve the peer's GID on RoCE (drivers/infiniband/core/addr.c, "
      "ib_resolve_eth_dmac()). ENODEV: the GID's network interface is in another network namespace, typical for a pod "
      "that has /dev/infiniband but not the interface. ENETUNREACH and EHOSTUNREACH: no route. ETIMEDOUT: nobody "
      "answered. NCCL from 2.24 prints the GIDs on the line and retries timeouts.",
      "ibv_modify_qp with ENODEV, ENETUNREACH, EHOSTUNREACH or ETIMEDOUT.",
      "Give the job the RoCE interface (hostNetwork, SR-IOV, macvlan), then check routes, VLANs and the firewall "
      "between the two addresses:\n\n    ip -br addr\n    rdma link show\n    show_gids 2>/dev/null || ibv_devinfo "
      "-v | grep GID",
      "NCCL's retry line was followed by a connection."},
     peer_unreachable},
    {"PD703",
     "qp-attribute-rejected",
     Severity::kError,
     "the queue pair's attributes were rejected, usually the GID index",
     {"Memory and queues were fine. The connection was set up with attributes that the device does not accept: a GID "
      "index that is empty or of another RoCE version, a path MTU or a port that do not fit.",
      "ib_modify_qp_is_ok() and the driver check the attributes and return EINVAL; an index without a GID fails in "
      "rdma_get_gid_attr() (drivers/infiniband/core/cache.c). NCCL up to 2.20 uses NCCL_IB_GID_INDEX, 0 by default; "
      "from 2.21 it looks for a RoCE v2 GID itself when the variable is not set. NCCL 2.30.7 prints HINT lines for it.",
      "ibv_modify_qp with 'Invalid argument' (errno 22).",
      "Pick an index with RoCE v2 and an address on both ends, or leave it to NCCL:\n\n    show_gids 2>/dev/null || "
      "ibv_devinfo -v | grep GID\n    unset NCCL_IB_GID_INDEX",
      "Never on a job that stopped."},
     qp_attribute_rejected},
    {"PD704",
     "transfer-failed-after-registration",
     Severity::kError,
     "a transfer over registered memory ended with an error",
     {"Registration and connection worked, a transfer then failed. Retry errors mean the peer or the path is gone, "
      "often because another rank died first; access errors mean the region and the request do not match.",
      "The adapter reports each transfer with a work completion status (enum ibv_wc_status, rdma-core "
      "libibverbs/verbs.h): 4 local protection, 5 flushed after an earlier error, 10 remote access, 12 retries "
      "exceeded, 13 receiver not ready. The number after 'with error' in NCCL's line is this status: 'error 12' is not "
      "errno 12 (ENOMEM).",
      "'Got completion ... with error/status N' of NCCL, 'Completion with error' of UCX and the like as the first "
      "failure.",
      "For 12 and 13 find the rank that failed first and look at the links; for 4 and 10 suspect the library or a "
      "buffer that was freed early:\n\n    rdma link show\n    grep -H . "
      "/sys/class/infiniband/*/ports/1/counters/link_downed\n    export NCCL_IB_TIMEOUT=22",
      "Another failure stands before it in the log of another rank."},
     transfer_failed},
    {"PD705",
     "other-failure-first",
     Severity::kError,
     "something else failed first",
     {"The first thing that went wrong was no registration: a GPU or the host ran out of memory, a process was killed, "
      "a Python exception ended a rank, a GPU reported a fault. Network and registration errors after it, on this or "
      "other ranks, are its consequences.",
      "When a rank dies, its peers see closed connections and failed transfers and its own threads see calls fail "
      "while everything is torn down. 'Cuda failure out of memory' is GPU memory (ncclResult 1), 'Cannot allocate "
      "memory' with ncclResult 2 is the kernel's ENOMEM. 'connection closed by remote peer' never is a registration "
      "failure: the peer failed first.",
      "The earliest failure of the input, by time where lines have one. If that is only a broken connection, the log "
      "of the rank that failed is missing, and this stays a candidate.",
      "Fix that first failure. To be sure of the order give the logs of all ranks together:\n\n    export "
      "NCCL_DEBUG=INFO NCCL_DEBUG_FILE=/tmp/nccl.%h.%p\n    pindown check /tmp/nccl.*",
      "The exception is one the program catches and survives."},
     other_failure_first},
    {"PD706",
     "crash-after-failed-registration",
     Severity::kNote,
     "a crash that echoes an earlier failed registration",
     {"The process crashed (SIGSEGV) because the library went on without the region it had failed to get. The "
      "registration is the cause; the crash is its echo.",
      "Some versions ignore a failed registration and later use or release a null region (ibv_dereg_mr(NULL), "
      "mr->lkey). The failure itself may only be an INFO or debug line.",
      "A segmentation fault after a failed registration: a note where the cause of that is known, the finding itself "
      "where it is not; or a crash in ibv_dereg_mr. A segmentation fault of another kind makes this a candidate.",
      "Fix the registration that failed. If none is in the log, make the libraries talk and run once more:\n\n    "
      "export NCCL_DEBUG=INFO UCX_LOG_LEVEL=info FI_LOG_LEVEL=warn",
      "The stack trace is in code that has nothing to do with communication."},
     crash_after_failed},
    {"PD707",
     "other-locked-memory-user",
     Severity::kError,
     "locked memory was refused to something other than RDMA",
     {"io_uring, mlock, AF_XDP, VFIO or another user of locked memory hit RLIMIT_MEMLOCK. The limit may be the right "
      "thing to raise, but RDMA is not what failed and the accounts are different ones.",
      "RDMA is charged to mm->pinned_vm, per process. io_uring's own limit, AF_XDP, MSG_ZEROCOPY and memfd_secret are "
      "charged to user_struct->locked_vm: all processes of one real user share it, in every container that runs under "
      "the same uid. mlock and VFIO type 1 use mm->locked_vm (VmLck). Each account is compared with the same limit "
      "separately, so 64 KiB can be enough for one and not for the other (kernel 5.10 to 7.2; io_uring's registered "
      "buffers count in pinned_vm as well).",
      "io_uring_setup, io_uring_queue_init, mlock, VFIO or XDP named on the failing line.",
      "Raise the limit above what all processes of that user need together, or use fewer or smaller rings. Kernels "
      "from 5.12 charge a ring's own memory to the memory cgroup instead:\n\n    prlimit "
      "--memlock=unlimited:unlimited --pid \"$PID\"",
      "The program fell back (libaio, say) and that is fast enough."},
     other_locked_memory},
    {"PD708",
     "mention-only",
     Severity::kNote,
     "a registration call is only mentioned",
     {"The log names ibv_reg_mr or one of its relatives, but in a line that reports success, a trace, a symbol look-up "
      "or a probe that is meant to fail.",
      "UCX debug prints 'registered memory', NVSHMEM prints 'ibv_reg_mr handle ... mr ...', NCCL reports the symbol "
      "version of ibv_reg_mr_iova2 and probes dma-buf support with a file descriptor of -1.",
      "Only such lines, and no failure of any kind.",
      "Nothing to fix. If a job failed, give the log that shows how it ended:\n\n    export NCCL_DEBUG=INFO",
      "Always, unless the log is cut before its end."},
     mention_only},
    {"PD709",
     "shm-too-small",
     Severity::kError,
     "/dev/shm is too small for NCCL's segments",
     {"NCCL's ranks on one node exchange data through files in /dev/shm, and it is full. The message class is the same "
      "ncclSystemError and the remedy is a container flag too, but it is not the memlock flag.",
      "Docker gives a container 64 MiB of /dev/shm by default, Kubernetes likewise; NCCL's shared segments grow with "
      "ranks and channels (src/misc/shmutils.cc). The allocation is posix_fallocate() on tmpfs: no limit of "
      "RLIMIT_MEMLOCK is asked.",
      "'Error while creating shared memory segment /dev/shm/nccl-...', 'failed to extend /dev/shm/...'.",
      "Give the container more: `--shm-size=16g` or `--ipc=host` on its docker run line; in Kubernetes mount an "
      "emptyDir of medium Memory on /dev/shm. See what is there:\n\n    df -h /dev/shm\n    ls -l /dev/shm | head",
      "Leftovers of a crashed job fill it: remove /dev/shm/nccl-* while no job runs."},
     shm_too_small},
    {"PD710",
     "too-many-open-files",
     Severity::kError,
     "the process ran out of file descriptors",
     {"RLIMIT_NOFILE, not RLIMIT_MEMLOCK. Sockets, device files, dma-buf handles and event channels of many "
      "connections all take descriptors.",
      "EMFILE comes from the file table (fs/file.c, alloc_fd()) when the soft limit of open files is reached; "
      "registration asks nothing of the kind. The soft limit is often 1,024 while the hard one is far higher.",
      "'Too many open files' as the first failure.",
      "Raise soft to hard in the job, and hard where the job is started (LimitNOFILE, --ulimit nofile, "
      "limits.conf):\n\n    ulimit -n \"$(ulimit -Hn)\"\n    prlimit --nofile=1048576:1048576 --pid \"$PID\"",
      "The program retries and goes on."},
     too_many_files},
    {"PD711",
     "rdma-not-exercised",
     Severity::kNote,
     "the run that works did not use RDMA",
     {"The run ended well over sockets. It is no evidence that registration works on these machines, and it is slower "
      "than it could be if RDMA was meant to be used.",
      "NCCL falls back to NET/Socket without an error when it finds no usable device, when NCCL_IB_DISABLE=1 is set or "
      "when the plugin does not load.",
      "A socket transport, complete initialisation and no failure. A warning when NCCL_IB_HCA or NCCL_NET=IB asks for "
      "RDMA or the machine has RDMA devices, otherwise a note.",
      "See what NCCL finds, and insist on it in a test:\n\n    ibv_devinfo | grep -e hca_id -e state\n    export "
      "NCCL_DEBUG=INFO NCCL_NET=IB",
      "The job is meant to run over sockets."},
     rdma_not_exercised},
};
static_assert(all_well_formed(kTable));

}  // namespace

std::span<const Check> other_checks() {
  return kTable;
}

}  // namespace pindown
