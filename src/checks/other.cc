// SPDX-License-Identifier: Apache-2.0
// PD7xx: what looks like a failed registration and is none: it says so, points at the line, and stops there.
// Each row has its page and the function that recognises it. Entry point: other_checks. Must not: read files, or
// diagnose GPUs and fabrics any further than naming the first failure.
#include <errno.h>
#include <fmt/format.h>

#include "checks/check.h"
#include "checks/limit_common.h"
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

/// Both ways out: what refused the call, and how not to try it.
std::vector<Remedy> fallback_steps(const Situation& s) {
  const std::string& library = s.incident->first.library;
  std::vector<Remedy> steps;
  if (s.has_errno(ENOMEM) && first_is(s, {Kind::kRegMr, Kind::kRegDmabuf, Kind::kCreateQueue, Kind::kAllocPd})) {
    steps.push_back({"find-cause",
                     "if RDMA is wanted: ENOMEM is the locked-memory limit first of all; this shows it",
                     {limits::decide_limit(s)},
                     false,
                     "pindown explain PD101"});
  }
  Remedy leave = {"name-transport", "if it is not wanted, leave the transport out so that it isn't tried"};
  leave.persistent = false;
  if (library == "ucx") {
    leave.commands = {"export UCX_TLS=sm,self,tcp"};
    leave.verify = "UCX_LOG_LEVEL=info prints the transports";
  } else if (library == "nccl" || library == "rccl") {
    leave.commands = {"export NCCL_IB_DISABLE=1"};
    leave.verify = "NCCL_DEBUG=INFO prints 'Using network ...'";
  } else {
    leave.commands = {"export UCX_TLS=sm,self,tcp", "export NCCL_IB_DISABLE=1"};
    leave.verify = "NCCL_DEBUG=INFO prints 'Using network ...'; UCX_LOG_LEVEL=info prints the transports";
  }
  steps.push_back(std::move(leave));
  return steps;
}

/// " (its limit: 8 MiB)" where it was shown as the job's own.
std::string limit_words(const Situation& s) {
  if (!s.limit.of_job || !s.soft()) return {};
  return fmt::format(" (its limit: {})", format_limit(*s.soft()));
}

/// The job did stop; a later attempt went on. What failed is the attempt's node, as far as that has a name.
Outcome later_attempt(const Situation& s) {
  const Event& first = s.incident->first;
  const Event& on = *s.incident->continued_by;
  const std::string node = first.shape.host.empty() ? "its node" : limits::plain(first.shape.host, 40);
  const bool elsewhere = !first.shape.host.empty() && !on.shape.host.empty() && !logs::same_origin_host(first, on);
  Remedy look = {"failed-node",
                 fmt::format("find the cause on {} before the next job is placed there", node),
                 {limits::decide_limit(s)},
                 false,
                 "pindown explain PD101"};
  return with(
      at_severity(
          found(
              Certainty::kLikely, fallback_weight(s),
              fmt::format("one attempt of the job failed on {}{} and was started again; a later attempt{} went on",
                          node, limit_words(s), elsewhere ? " on " + limits::plain(on.shape.host, 40) : ""),
              {s.failure_evidence(), cite(*s.incident->restarted_by, "started again"), cite(on, "the later attempt")}),
          Severity::kWarning),
      {std::move(look)});
}

Outcome fallback_succeeded(const Situation& s) {
  if (!s.incident || !s.incident->continued) return not_applicable();
  if (!first_is(s, {Kind::kRegMr, Kind::kRegDmabuf, Kind::kCreateQueue, Kind::kAllocPd, Kind::kOpenDevice,
                    Kind::kDriverMissing, Kind::kMrTooLarge, Kind::kMemlockWarning, Kind::kForkHugepages,
                    Kind::kLibraryError})) {
    return not_applicable();
  }
  if (s.incident->restarted_by && s.incident->continued_by) return later_attempt(s);
  std::vector<Evidence> evidence = {s.failure_evidence()};
  if (s.incident->continued_by) evidence.push_back(cite(*s.incident->continued_by, "it went on"));
  const bool socket = s.run && s.run->socket_transport;
  const bool ucx = s.incident->first.library == "ucx";  // it opens every transport it was not told to leave out
  Outcome out = found(Certainty::kLikely, fallback_weight(s),
                      socket ? "the error did not stop the job: it went on over sockets, without RDMA"
                      : ucx  ? "the error did not stop the job: it went on with another transport"
                             : "the error did not stop the job: it went on, over which transport is not shown",
                      std::move(evidence));
  return with(at_severity(std::move(out), Severity::kWarning), fallback_steps(s));
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

/// The word behind `lead` if it is one that is safe in a command: a GID, an address, an interface.
std::string word_after(std::string_view text, std::string_view lead) {
  const auto at = text.find(lead);
  if (at == std::string_view::npos) return {};
  text = trim(text.substr(at + lead.size()));
  return limits::safe_word(text.substr(0, text.find_first_of(" ,;<>()")), "");
}

/// NCCL 2.24 and later name both GIDs on the line; an IPv4 address stands in one as ::ffff:10.0.0.2.
std::string address_after(std::string_view text, std::string_view lead) {
  const std::string word = word_after(text, lead);
  std::string_view address = word;
  if (!consume(address, "::ffff:") || !contains(address, ".")) return {};
  return std::string(address);
}

std::string ping_peer(const Situation& s) {
  const std::string& line = s.incident->first.raw;
  std::string own = address_after(line, "local GID ");
  std::string peer = address_after(line, "remote GID ");
  if (own.empty()) own = address_after(line, "localGid ");
  if (peer.empty()) peer = address_after(line, "remoteGid ");
  if (!own.empty() && !peer.empty()) return fmt::format("ping -c 3 -I {} {}", own, peer);
  return "ping -c 3 -I IFNAME PEER   # the RoCE interface and the peer's address";
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
             ping_peer(s)}}));
}

std::string gid_words(const GidEntry& gid) {
  return fmt::format("{}{}{}", gid.ipv4.empty() ? "no IPv4 address" : gid.ipv4, gid.roce_version == 0 ? "" : ", RoCE v",
                     gid.roce_version == 0 ? "" : std::to_string(gid.roce_version));
}

/// What the GID tables that were shown say of the index: it is missing, or what it is.
std::optional<Evidence> shown_gid(const Situation& s, std::uint64_t index) {
  const RdmaDevice* listed = nullptr;
  for (const auto& [key, device] : s.facts->devices) {
    for (const GidEntry& gid : device.gids) {
      if (gid.index == index) return cite(gid.source, fmt::format("index {}: {}", index, gid_words(gid)));
    }
    if (!device.gids.empty()) listed = &device;
  }
  if (listed == nullptr) return std::nullopt;
  return cite(listed->gids.back().source,
              fmt::format("the last that {} lists: there is no index {}", listed->name, index));
}

/// The index that RoCE v2 with an IPv4 address has on every device that was shown.
std::optional<std::uint64_t> usable_index(const Situation& s) {
  std::optional<std::uint64_t> best;
  for (const auto& [key, device] : s.facts->devices) {
    for (const GidEntry& gid : device.gids) {
      if (gid.roce_version != 2 || gid.ipv4.empty()) continue;
      if (best && *best != gid.index) return std::nullopt;
      best = gid.index;
    }
  }
  return best;
}

Remedy choose_gid(const Situation& s) {
  Remedy r = {"gid-index",
              "choose a GID index that is RoCE v2 with an address on both ends (NCCL 2.21 and later finds it itself)",
              {"show_gids 2>/dev/null || ibv_devinfo -v | grep GID", "unset NCCL_IB_GID_INDEX"},
              false,
              "NCCL_DEBUG=INFO prints the GID index it uses"};
  if (const auto index = usable_index(s)) {
    r.title = fmt::format(
        "leave the index to NCCL (2.21 and later), or set the one that is RoCE v2 with an address here: {}", *index);
    r.commands = {"unset NCCL_IB_GID_INDEX", fmt::format("export NCCL_IB_GID_INDEX={}   # NCCL up to 2.20", *index)};
  }
  return r;
}

Outcome qp_attribute_rejected(const Situation& s) {
  if (!first_is(s, {Kind::kModifyQp}) || unreachable_errno(s)) return not_applicable();
  if (!s.has_errno(EINVAL) && !s.no_errno()) return not_applicable();
  if (s.no_errno())
    return candidate(60, "ibv_modify_qp failed, with which error the line does not say",
                     "export NCCL_DEBUG=INFO   # then run the job again and check that log");
  std::vector<Evidence> evidence = {s.failure_evidence()};
  if (const auto index = variable(s, "NCCL_IB_GID_INDEX")) {
    evidence.push_back({index->evidence.source, index->evidence.text, "the index that is set"});
    const auto number = parse_u64(trim(index->value));
    if (auto shown = number ? shown_gid(s, *number) : std::nullopt) evidence.push_back(std::move(*shown));
  }
  return judged(
      s, with(found(Certainty::kLikely, 95,
                    "ibv_modify_qp rejected the connection's attributes, usually the GID index; no memory is involved",
                    std::move(evidence)),
              {choose_gid(s)}));
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

/// "status=IBV_WC_LOC_PROT_ERR(4)": the name of enum ibv_wc_status, and the number behind it.
std::optional<std::uint64_t> named_status(std::string_view text) {
  const auto at = text.find("IBV_WC_");
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at);
  const auto end = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
  if (end != std::string_view::npos && text[end] == '(')
    return parse_u64(text.substr(end + 1, text.find(')', end) - end - 1));
  const std::string_view name = text.substr(0, end);
  if (name == "IBV_WC_LOC_PROT_ERR") return 4;
  if (name == "IBV_WC_WR_FLUSH_ERR") return 5;
  if (name == "IBV_WC_REM_ACCESS_ERR") return 10;
  if (name == "IBV_WC_RETRY_EXC_ERR") return 12;
  if (name == "IBV_WC_RNR_RETRY_EXC_ERR") return 13;
  return std::nullopt;
}

std::optional<std::uint64_t> completion_status(const Event& event) {
  if (const auto status = named_status(event.raw)) return status;
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

Remedy check_fabric() {
  return {"check-fabric",
          "look for the rank that died first, then at links and switches",
          {"rdma link show", "grep -H . /sys/class/infiniband/*/ports/1/counters/link_downed"},
          false,
          ""};
}

Remedy stale_buffer(const Situation& s) {
  Remedy r = {"stale-buffer",
              "the buffer was deregistered or freed while the transfer was under way, or belongs to another adapter or "
              "process: look at what frees or deregisters it, and run once without the registration cache",
              {},
              false,
              ""};
  const std::string& library = s.incident->first.library;
  if (library == "nccl") r.commands = {"export NCCL_LOCAL_REGISTER=0 NCCL_GRAPH_REGISTER=0"};
  if (library == "ucx") r.commands = {"export UCX_RCACHE_ENABLE=n"};
  return r;
}

Outcome transfer_failed(const Situation& s) {
  if (!first_is(s, {Kind::kCompletion})) return not_applicable();
  const auto status = completion_status(s.incident->first);
  const std::string_view meaning = status ? completion_meaning(*status) : std::string_view();
  const std::string words = meaning.empty() ? std::string("a transfer completed with an error")
                                            : fmt::format("a transfer ended with status {} ({})", *status, meaning);
  // A key that does not cover the buffer is no matter of links: 4 is found out by the sender's own adapter.
  const bool key = status && (*status == 4 || *status == 10);
  return judged(s, with(found(Certainty::kLikely, 95, key ? words : words + "; the memory had been registered before",
                              {s.failure_evidence()}),
                        {key ? stale_buffer(s) : check_fabric()}));
}

// --- PD705 ---------------------------------------------------------------------------------------------------------

/// A job id from Slurm's "StepId=99123.0"; digits only.
std::string slurm_job(const Situation& s) {
  std::string_view text = s.incident->first.raw;
  const auto at = text.find("StepId=");
  if (at == std::string_view::npos) return "JOBID";
  text.remove_prefix(at + 7);
  const std::string digits(take_digits(text).substr(0, 12));
  return digits.empty() ? "JOBID" : digits;
}

/// torch's "CUDA error: out of memory" is any CUDA call's answer, cudaHostAlloc's too; its allocator says "CUDA out of
/// memory. Tried to allocate".
bool maybe_pinned_host(const Situation& s) {
  const Event& first = s.incident->first;
  if (says(first, "CUDA error: out of memory")) return true;
  const auto host_call = [](const Event& e) { return says(e, "host alloc") || says(e, "host malloc"); };
  // NCCL's alloc.h wraps cudaMalloc and cudaHostAlloc; a second line says which.
  return host_call(first) || first.source_file.ends_with("alloc.h") ||
         std::ranges::any_of(s.incident->echoes, host_call) || std::ranges::any_of(s.incident->same, host_call);
}

Remedy next_step(std::string id, std::string title, std::vector<std::string> commands) {
  return {std::move(id), std::move(title), std::move(commands), false, ""};
}

std::vector<Remedy> cuda_oom_steps(const Situation& s) {
  std::vector<Remedy> steps = {next_step("gpu-memory",
                                         "see who holds the GPU's memory; a smaller batch, or sharding, needs less",
                                         {"nvidia-smi --query-compute-apps=gpu_uuid,pid,used_memory --format=csv"})};
  if (maybe_pinned_host(s)) {
    steps.insert(steps.begin(), next_step("pinned-host-memory",
                                          "if it was pinned host memory (pin_memory=True, cudaHostAlloc): ask for less "
                                          "of it, or give the job more host memory",
                                          {"free -g; cat /sys/fs/cgroup/memory.max"}));
  }
  return steps;
}

std::vector<Remedy> memory_limit_steps(const Situation& s) {
  constexpr const char* kTitle = "give the job more host memory, or let it use less (fewer workers, smaller caches)";
  if (s.under_slurm()) {
    return {next_step("slurm-memory", std::string(kTitle) + "; Slurm: --mem",
                      {fmt::format("sacct -j {} --format=JobID,NodeList,ReqMem,MaxRSS,State", slurm_job(s))})};
  }
  if (s.in_kubernetes()) {
    return {next_step("pod-memory", std::string(kTitle) + "; the pod: resources.limits.memory",
                      {fmt::format("kubectl describe pod {} | grep -A6 'Last State'", limits::pod_argument(s))})};
  }
  return {next_step("host-memory", kTitle, {"dmesg -T | grep -i 'killed process'", "free -g"})};
}

std::vector<Remedy> killed_steps(const Situation& s) {
  std::vector<std::string> commands = {"dmesg -T | grep -i 'killed process'   # on the host of that rank"};
  if (s.under_slurm())
    commands.push_back(fmt::format("sacct -j {} --format=JobID,State,ExitCode,Elapsed,Timelimit", slurm_job(s)));
  return {next_step("who-killed-it", "find out who killed it: out of memory, the scheduler's time limit, or somebody",
                    std::move(commands))};
}

std::vector<Remedy> cuda_error_steps(const Situation&) {
  return {next_step("cuda-sync", "run it again with synchronous launches: the trace then names the call",
                    {"export CUDA_LAUNCH_BLOCKING=1", "dmesg -T | grep -i xid"})};
}

std::vector<Remedy> exception_steps(const Situation&) {
  return {next_step("read-traceback", "read the traceback that ends at this line and fix that", {})};
}

std::vector<Remedy> xid_steps(const Situation&) {
  return {next_step("gpu-health", "look the Xid number up in NVIDIA's list; drain the node if the GPU has failed",
                    {"dmesg -T | grep -i xid", "nvidia-smi -q -d ECC,ROW_REMAPPER"})};
}

/// `devlink health` takes the PCI address that the driver's line names.
std::vector<Remedy> device_fatal_steps(const Situation& s) {
  const Event* health = kernel_event(s, Kind::kDeviceHealth);
  const std::string bdf = limits::safe_word(health ? health->device : std::string(), "BDF");
  return {next_step("adapter-health",
                    "drain the node; see what the firmware reports, reset the adapter or update its firmware, and "
                    "replace it if it comes back",
                    {fmt::format("devlink health show pci/{}", bdf),
                     fmt::format("devlink health diagnose pci/{} reporter fw", bdf)})};
}

std::vector<Remedy> sigbus_steps(const Situation&) {
  return {next_step("backing-memory", "see whether /dev/shm or the huge pages ran out",
                    {"df -h /dev/shm", "grep ^HugePages /proc/meminfo"})};
}

std::vector<Remedy> thread_steps(const Situation& s) {
  std::string title = "start fewer threads, or raise what limits them: ";
  title += s.in_kubernetes()  ? "the kubelet's podPidsLimit"
           : s.in_container() ? "docker run --pids-limit"
                              : "pids.max of the cgroup (systemd: TasksMax), nproc in limits.conf";
  return {next_step("fewer-threads", std::move(title),
                    {"cat /sys/fs/cgroup/pids.max /sys/fs/cgroup/pids.current; ulimit -u   # in the job",
                     "export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1"})};
}

std::vector<Remedy> agree_steps(const Situation&) {
  return {next_step(
      "same-everywhere", "start every rank with the same world size and the same NCCL",
      {"grep -h 'NCCL version' nccl.*   # the logs of all ranks", "echo $WORLD_SIZE $RANK   # in each rank"})};
}

std::vector<Remedy> cancelled_steps(const Situation& s) {
  return {next_step("why-cancelled", "ask the batch system why: time limit, preemption, node failure, or somebody",
                    {fmt::format("sacct -j {} --format=JobID,State,ExitCode,Elapsed,Timelimit", slurm_job(s))})};
}

struct OtherFailure {
  Kind kind;
  Certainty certainty;
  std::string_view words;
  std::vector<Remedy> (*steps)(const Situation&);
  bool whole = false;  // the words are the summary: that it came first says nothing more
};

constexpr OtherFailure kOtherFailures[] = {
    {Kind::kCudaOom, Certainty::kProven, "a GPU ran out of memory", cuda_oom_steps},
    {Kind::kCudaError, Certainty::kProven, "a CUDA call failed", cuda_error_steps},
    {Kind::kHostOom, Certainty::kLikely, "the kernel killed a process because the host or its cgroup ran out of memory",
     memory_limit_steps},
    {Kind::kKilled, Certainty::kLikely, "a process was killed", killed_steps},
    {Kind::kPythonException, Certainty::kLikely, "a Python exception ended a rank", exception_steps},
    {Kind::kXid, Certainty::kLikely, "a GPU reported a fault (Xid)", xid_steps},
    {Kind::kDeviceFatal, Certainty::kLikely, "the RDMA adapter failed (fatal event)", device_fatal_steps},
    {Kind::kRanksDisagree, Certainty::kLikely,
     "the ranks did not agree with each other at start-up (number of ranks, or library versions)", agree_steps},
    {Kind::kThreads, Certainty::kLikely,
     "a thread could not be created: a limit on processes and threads is reached; locked memory is not involved",
     thread_steps, true},
    {Kind::kSigbus, Certainty::kLikely, "a process got SIGBUS: its memory could not be provided", sigbus_steps},
};

/// The kernel's line that says which process it killed, if it is not the first line already.
const Event* kernel_kill(const Situation& s) {
  for (const auto* list : {&s.incident->same, &s.incident->echoes, s.run ? &s.run->kernel : nullptr}) {
    if (!list) continue;
    for (const Event& event : *list) {
      if (event.kind == Kind::kHostOom && contains(event.raw, "Killed process") && !unrelated(s, event)) return &event;
    }
  }
  return nullptr;
}

/// Whose process that was: a line of the job with the same pid.
const Event* line_of_pid(const Situation& s, std::uint64_t pid) {
  if (!s.run) return nullptr;
  for (const Event& note : s.run->notes) {
    if (note.shape.pid && static_cast<std::uint64_t>(*note.shape.pid) == pid && !note.shape.host.empty()) return &note;
  }
  return nullptr;
}

/// "the kernel killed pid 9001 on n7 …", where the input shows it.
Outcome host_oom(const Situation& s, const OtherFailure& other, std::string after) {
  const bool first_says = contains(s.incident->first.raw, "Killed process");
  const Event* kill = first_says ? &s.incident->first : kernel_kill(s);
  std::vector<Evidence> evidence = {s.failure_evidence()};
  if (kill && !first_says) evidence.push_back(cite(*kill, "the process"));
  std::string who;
  if (const auto pid = kill ? number_after(kill->raw, "Killed process ") : std::nullopt) {
    const Event* line = line_of_pid(s, *pid);
    const std::string host = line ? line->shape.host : kill->shape.host;
    who = fmt::format("pid {}{}: ", *pid, host.empty() ? std::string() : " on " + limits::plain(host, 40));
    if (line) evidence.push_back(cite(*line, "that process"));
  }
  return with(found(other.certainty, 95, fmt::format("{}{} first{}", who, other.words, after), std::move(evidence)),
              other.steps(s));
}

bool watchdog(const Situation& s) {
  return says(s.incident->first, "Watchdog caught");
}

/// "10.0.5.9<41231>" behind "onnect to": address and port, as far as they are safe words.
std::pair<std::string, std::string> peer_of(const Event& event) {
  std::string_view text = event.raw;
  const auto at = text.find("onnect to ");
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + 10);
  const std::string address = limits::safe_word(text.substr(0, text.find_first_of("< ")), "");
  const auto port = number_after(text.substr(0, 80), "<");
  return {address, port ? std::to_string(*port) : std::string()};
}

/// The interface NCCL talks over: "OOB eth0:10.0.0.1<0>", "Bootstrap : Using eth0:…".
std::string own_interface(const Situation& s) {
  if (!s.run) return {};
  for (const Event& note : s.run->notes) {
    std::string name = word_after(note.raw, "OOB ");
    if (const auto colon = name.find(':'); colon != std::string::npos) return name.substr(0, colon);
  }
  return {};
}

std::vector<std::string> connection_commands(const Situation& s) {
  const auto [peer, port] = peer_of(s.incident->first);
  if (peer.empty()) return {};
  std::vector<std::string> commands = {fmt::format("ip route get {}", peer)};
  if (!port.empty()) commands.push_back(fmt::format("nc -vz {} {}   # while the job waits for it", peer, port));
  const std::string own = own_interface(s);
  commands.push_back(fmt::format("export NCCL_SOCKET_IFNAME={}   # an interface that reaches the peer{}", "IFNAME",
                                 own.empty() ? "" : "; it is " + own + " now"));
  return commands;
}

Outcome connection_failed(const Situation& s) {
  if (watchdog(s)) {
    return judged(s, candidate(60,
                               "a collective did not end in time: some rank hangs or died; the log of that rank is "
                               "not in this input",
                               "pindown check nccl.*   # the logs of all ranks: the earliest error counts"));
  }
  const auto commands = connection_commands(s);
  const bool no_route = s.has_errno(EHOSTUNREACH) || s.has_errno(ENETUNREACH);
  if (no_route && !commands.empty()) {
    return judged(s, with(found(Certainty::kLikely, 95,
                                fmt::format("a socket found no way to {}: no route, or a firewall that rejects; "
                                            "locked memory and RDMA are not involved",
                                            peer_of(s.incident->first).first),
                                {s.failure_evidence()}),
                          {next_step("reach-peer-socket",
                                     "check route and firewall between the two addresses, and the interface NCCL uses",
                                     commands)}));
  }
  if (s.has_errno(ECONNREFUSED) && !commands.empty()) {
    return judged(s, candidate(60,
                               "nobody listens on the peer's port: its rank ended first (its log is not in this "
                               "input), or a firewall or the wrong interface is in between",
                               commands.size() > 2 ? commands[1] : commands[0]));
  }
  return judged(
      s, candidate(60, "a connection broke because another rank or host failed first; its log is not in this input",
                   "pindown check nccl.*   # the logs of all ranks: the earliest error counts"));
}

Outcome cancelled(const Situation& s, const std::string& after) {
  const std::string& reason = s.incident->first.detail;
  const std::string why = reason.empty() ? "" : fmt::format(" ({})", lower(escape(reason, 60)));
  return judged(s, with(found(Certainty::kLikely, 95, fmt::format("the batch system cancelled the job{}{}", why, after),
                              {s.failure_evidence()}),
                        cancelled_steps(s)));
}

/// The driver found the adapter's firmware stuck before the call failed: in that state mlx5 answers EIO or ENXIO
/// (mlx5/core/cmd.c, MLX5_DEVICE_STATE_INTERNAL_ERROR).
std::optional<Outcome> adapter_failed(const Situation& s) {
  const Event* health = kernel_event(s, Kind::kDeviceHealth);
  const bool typical = s.has_errno(EIO) || s.has_errno(ENXIO) || s.has_errno(ENODEV);
  if (!health || !s.registration() || !typical) return std::nullopt;
  return judged(
      s, with(found(Certainty::kLikely, 90, "the RDMA adapter failed first: its firmware no longer answered the driver",
                    {s.failure_evidence(), cite(*health)}),
              device_fatal_steps(s)));
}

Outcome other_failure_first(const Situation& s) {
  if (auto adapter = adapter_failed(s)) return *adapter;
  if (first_is(s, {Kind::kConnection})) return connection_failed(s);
  const bool followed = s.incident && (s.incident->echo_count > 0 || !s.incident->echoes.empty());
  const std::string after = followed ? "; network errors after that are its consequence" : "";
  if (first_is(s, {Kind::kCancelled})) return cancelled(s, after);
  for (const OtherFailure& other : kOtherFailures) {
    if (!first_is(s, {other.kind})) continue;
    if (other.kind == Kind::kHostOom) return judged(s, host_oom(s, other, after));
    const bool pinned = other.kind == Kind::kCudaOom && maybe_pinned_host(s);
    const std::string_view words =
        pinned ? "CUDA could not allocate memory, of a GPU or pinned memory of the host," : other.words;
    // Ranks write at the same time: the order of their lines is not that of their failures.
    const bool apart = other.kind == Kind::kCudaOom && s.run && s.run->registration_failed;
    const std::string text = other.whole ? std::string(other.words)
                             : apart
                                 ? fmt::format("{}; a registration failed as well, which this does not explain", words)
                                 : fmt::format("{} first{}", words, after);
    std::vector<Evidence> evidence = {s.failure_evidence()};
    const Event* health = other.kind == Kind::kDeviceFatal ? kernel_event(s, Kind::kDeviceHealth) : nullptr;
    if (health) evidence.push_back(cite(*health));
    return judged(s, with(found(pinned || apart ? Certainty::kLikely : other.certainty, 95, text, std::move(evidence)),
                          other.steps(s)));
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

Remedy talk_and_repeat() {
  return next_step("talk-and-repeat", "make the libraries name the registration that failed, and run it once more",
                   {"export NCCL_DEBUG=INFO UCX_LOG_LEVEL=info FI_LOG_LEVEL=warn"});
}

Outcome crash_after_failed(const Situation& s) {
  if (!s.incident) return not_applicable();
  if (first_is(s, {Kind::kSegfault}) && (log_says(s, "dereg_mr") || log_says(s, "deregmr"))) {
    return with(
        at_severity(found(Certainty::kLikely, 60,
                          "it crashed releasing a region it never got: look for the registration's INFO line above",
                          {s.failure_evidence()}),
                    Severity::kError),
        {talk_and_repeat()});
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
    return with(
        at_severity(found(Certainty::kLikely, 45,
                          "a registration failed and the library crashed over the region it did not get; why it "
                          "failed is not shown",
                          {s.failure_evidence(), cite(*crash)}),
                    Severity::kError),
        {talk_and_repeat()});
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
             limits::prlimit_now(s).commands, false, limits::prlimit_now(s).verify}}));
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
                          {"ulimit -n \"$(ulimit -Hn)\"",
                           "sudo prlimit --nofile=1048576:1048576 --pid $$   # in the shell that starts it"},
                          false,
                          "ulimit -n"}}));
}

// --- PD711 ---------------------------------------------------------------------------------------------------------

Outcome rdma_not_exercised(const Situation& s) {
  if (s.incident || !s.run) return not_applicable();
  if (s.run->net_ib) return ruled_out("the run used NET/IB");
  if (!s.run->socket_transport || !s.run->init_complete) return not_applicable();
  std::vector<Evidence> evidence;
  for (const Event& note : s.run->notes) {
    if (note.kind == Kind::kTransport && evidence.empty()) evidence.push_back(cite(note));
  }
  const bool wanted = rdma_wanted(s);
  if (const auto hca = variable(s, "NCCL_IB_HCA"); wanted && hca) {
    evidence.push_back({hca->evidence.source, hca->evidence.text, "RDMA was asked for"});
  }
  Outcome out = at_severity(found(wanted ? Certainty::kLikely : Certainty::kPossible, wanted ? 60 : 20,
                                  wanted ? "the run used sockets although RDMA was asked for or is there"
                                         : "this run used sockets: it says nothing about RDMA or the memory limit",
                                  std::move(evidence)),
                            wanted ? Severity::kWarning : Severity::kNote);
  if (!wanted) return out;
  return with(std::move(out),
              {{"see-rdma-devices",
                "see which devices the job has, inside its container; then insist on them in a test",
                {"ls -l /dev/infiniband; ibv_devinfo | grep -e hca_id -e state", "export NCCL_DEBUG=INFO NCCL_NET=IB"},
                false,
                "NCCL prints 'NET/IB : Using'"}});
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
      "Progress, results or a fallback line after the error, and after its last repetition, in the same log. Where the "
      "job was queued or started again in between (Slurm's requeue, torchrun's restart), the text says so. The cause "
      "of "
      "the error is still reported, below or above this one: above when it is a missing device or a warning that names "
      "the limit.",
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
      "failure: alone, or shown to come before every failed call, which then is its consequence.",
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
      "The earliest failure of the input, by time where lines have one; after a requeue or a restart, that of the last "
      "attempt. If that is only a broken connection, the log "
      "of the rank that failed is missing, and this stays a candidate.",
      "Fix that first failure. GPU memory (CUDA out of memory): a smaller batch, sharding, or whoever else holds the "
      "GPU. Pinned host memory (cudaHostAlloc, pin_memory=True) answers 'CUDA error: out of memory' as well: ask for "
      "less, or give the job more host memory. OOM kill: more memory for the job (Slurm --mem, a pod's "
      "resources.limits.memory, docker --memory), or fewer workers. SIGKILL without that: the scheduler's time limit, "
      "preemption or a person. Xid: NVIDIA's list of numbers says whether the GPU or the program failed. CUDA error: "
      "run with CUDA_LAUNCH_BLOCKING=1. Python exception: its traceback. SIGBUS: /dev/shm or huge pages ran out. A "
      "failed adapter (local catastrophic error): `devlink health`. A "
      "thread that could "
      "not be created (EAGAIN): pids.max of the cgroup or ulimit -u. No "
      "route or connection refused: route, firewall, NCCL_SOCKET_IFNAME.\n\n    nvidia-smi "
      "--query-compute-apps=pid,used_memory --format=csv\n    dmesg -T | grep -i -e 'killed process' -e xid\n\nTo be "
      "sure of the order give the logs of all ranks together:\n\n    export "
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
      "io_uring_setup, io_uring_queue_init, mlock, VFIO (also as DPDK's 'Cannot set up DMA remapping'), XDP or bpf "
      "('MEMLOCK may be too low'), or Elasticsearch's 'Unable to lock JVM Memory' named on the failing line.",
      "Raise the limit above what all processes of that user need together, or use fewer or smaller rings. Kernels "
      "from 5.12 charge a ring's own memory to the memory cgroup instead:\n\n    prlimit "
      "--memlock=unlimited:unlimited --pid PID",
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
      "limits.conf):\n\n    ulimit -n \"$(ulimit -Hn)\"\n    prlimit --nofile=1048576:1048576 --pid PID",
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
