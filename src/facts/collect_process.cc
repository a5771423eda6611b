// SPDX-License-Identifier: Apache-2.0
// One process from /proc/PID. Entry points: collect_process, collect_ancestors, collect_processes.
// A process can end between two reads: what was read stays, the rest says so.
// Must not: read maps or environ of a process that is only an ancestor, or judge.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "facts/collect.h"
#include "facts/collect_detail.h"
#include "facts/proc.h"

namespace pindown {
namespace {

using collect::line_of;
using collect::missing_of;
using collect::note_problem;
using collect::UserNames;

// vm.max_map_count mappings of about 100 bytes each, with room for machines that raised it ten times.
constexpr std::size_t kMaxMapsBytes = 64U << 20;
// Arguments and environment: a quarter of the stack limit, at most 6 MiB (fs/exec.c _STK_LIM / 4 * 3).
constexpr std::size_t kMaxArgBytes = 8U << 20;
constexpr std::size_t kMaxCmdlineShown = 200;
constexpr std::size_t kMaxChain = 128;
constexpr std::size_t kMaxVerbsFiles = 64;
constexpr std::uint64_t kKernelThreadFlag = 0x00200000;  // PF_KTHREAD, include/linux/sched.h

/// Reads the files of one process into it. One reader serves a whole scan: it keeps the user names.
class Reader {
 public:
  explicit Reader(const Host& host) : host_(host), names_(host) {}

  /// Identity, limits, capabilities: what an ancestor needs.
  void read_basics(Process& process);
  /// Environment and user namespace: what only a job needs.
  void read_job_parts(Process& process);
  void read_maps(Process& process);
  void read_verbs(Process& process);
  /// comm, ppid and start time.
  enum class Life { kUser, kKernelThread, kEnded, kUnrecorded, kDenied };
  Life read_stat(Process& process);
  void read_cmdline(Process& process);

 private:
  std::expected<std::string, HostError> read(Process& process, std::string_view name, std::size_t max_bytes = 4U << 20);
  void read_limits(Process& process);
  void read_status(Process& process);
  void read_cgroup(Process& process);
  void read_environ(Process& process);
  void read_userns(Process& process);
  bool sees_uid_maps();

  const Host& host_;
  UserNames names_;
  std::optional<bool> in_first_userns_;
};

std::string path_of(const Process& process, std::string_view name) {
  return fmt::format("/proc/{}/{}", process.where.pid.value_or(0), name);
}

std::expected<std::string, HostError> Reader::read(Process& process, std::string_view name, std::size_t max_bytes) {
  auto text = host_.read(path_of(process, name), max_bytes);
  if (!text) note_problem(process.problems, text.error());
  return text;
}

/// What parse_stat has no field for: words[0] is field 3 of proc_pid_stat(5), behind the last ')'.
Reader::Life life_of(std::string_view stat) {
  const auto words = split_blanks(stat.substr(stat.rfind(')') + 1));
  constexpr std::size_t kFlags = 9 - 3;
  constexpr std::size_t kThreads = 20 - 3;
  if (words.size() <= kThreads) return Reader::Life::kUser;
  if ((parse_u64(words[kFlags]).value_or(0) & kKernelThreadFlag) != 0) return Reader::Life::kKernelThread;
  // A zombie keeps its limits and capabilities until it is waited for, but does nothing with them. A main thread that
  // left the others behind is "Z" too.
  const bool zombie = (words[0] == "Z" || words[0] == "X") && parse_u64(words[kThreads]).value_or(1) <= 1;
  return zombie ? Reader::Life::kEnded : Reader::Life::kUser;
}

Reader::Life Reader::read_stat(Process& process) {
  const auto text = read(process, "stat");
  // hidepid=1 (proc(5)): the directories of others are there, and say nothing.
  if (!text && text.error().kind == HostErrorKind::kDenied) return Life::kDenied;
  if (!text) return text.error().kind == HostErrorKind::kVanished ? Life::kEnded : Life::kUnrecorded;
  auto fields = parse_stat(*text);
  if (!fields) return Life::kUnrecorded;
  const Life life = life_of(*text);
  process.comm = std::move(fields->comm);
  if (life == Life::kEnded) return life;
  process.ppid = fields->ppid;
  process.start_ticks = fields->start_ticks;
  return life;
}

void Reader::read_cmdline(Process& process) {
  const auto text = read(process, "cmdline", kMaxArgBytes);
  if (!text) return;
  process.cmdline = text->substr(0, kMaxCmdlineShown);
  std::replace(process.cmdline.begin(), process.cmdline.end(), '\0', ' ');
  process.cmdline = std::string(trim(process.cmdline));
}

void Reader::read_limits(Process& process) {
  const std::string path = path_of(process, "limits");
  const auto text = read(process, "limits");
  if (!text) {
    process.memlock = Fact<MemlockLimit>::none(missing_of(text.error().kind), path);
    return;
  }
  const std::string_view line = line_of(*text, "Max locked memory");
  const auto limit = parse_limits(line);
  if (limit) {
    process.memlock = Fact<MemlockLimit>::of(*limit, {path, std::string(line)});
    return;
  }
  // Ended between open and read: the file is empty (fs/proc/base.c proc_pid_limits without a sighand).
  process.memlock = Fact<MemlockLimit>::none(text->empty() ? Missing::kVanished : Missing::kMalformed, path);
}

template <class T, class U>
Fact<T> fact_of(const std::optional<U>& value, std::string_view text, std::string_view key, const std::string& path) {
  if (!value) return Fact<T>::none(Missing::kAbsent, path);
  return Fact<T>::of(*value, {path, std::string(line_of(text, key))});
}

void Reader::read_status(Process& process) {
  const std::string path = path_of(process, "status");
  const auto text = read(process, "status");
  if (!text) {
    const Missing why = missing_of(text.error().kind);
    process.caps = Fact<CapabilitySets>::none(why, path);
    process.euid = Fact<std::uint32_t>::none(why, path);
    process.no_new_privs = Fact<bool>::none(why, path);
    process.vm_pin = Fact<std::uint64_t>::none(why, path);
    process.vm_lck = Fact<std::uint64_t>::none(why, path);
    return;
  }
  const StatusFields fields = parse_status(*text);
  process.caps = Fact<CapabilitySets>::none(Missing::kMalformed, path);
  if (fields.caps.effective)
    process.caps = Fact<CapabilitySets>::of(fields.caps, {path, std::string(line_of(*text, "CapEff:"))});
  process.euid = fact_of<std::uint32_t>(fields.euid, *text, "Uid:", path);
  process.no_new_privs = fact_of<bool>(fields.no_new_privs, *text, "NoNewPrivs:", path);
  process.vm_pin = fact_of<std::uint64_t>(fields.vm_pin, *text, "VmPin:", path);
  process.vm_lck = fact_of<std::uint64_t>(fields.vm_lck, *text, "VmLck:", path);
  if (fields.euid) process.user = names_.name_of(*fields.euid);
  if (process.comm.empty()) process.comm = fields.name;
  if (!process.ppid) process.ppid = fields.ppid;
}

/// systemd's own path where it has one; under a unified hierarchy that is "0::".
std::string main_cgroup(std::string_view text) {
  std::string unified;
  std::string_view line;
  while (next_line(text, line)) {
    std::string_view rest = line;
    if (consume(rest, "0::")) unified = std::string(rest);
    const auto named = line.find(":name=systemd:");
    if (named != line.npos)
      return std::string(line.substr(line.find('/', named) == line.npos ? line.size() : line.find('/', named)));
  }
  return unified;
}

void Reader::read_cgroup(Process& process) {
  const auto text = read(process, "cgroup");
  if (text) process.cgroup = main_cgroup(*text);
}

void Reader::read_basics(Process& process) {
  if (!process.ppid && read_stat(process) == Life::kEnded) {
    process.memlock = Fact<MemlockLimit>::none(Missing::kVanished, path_of(process, "stat"));
    return;
  }
  if (process.cmdline.empty()) read_cmdline(process);
  read_limits(process);
  read_status(process);
  read_cgroup(process);
  // Nothing under /proc/PID but "it is not there": the process is gone, not merely unrecorded.
  const bool nothing = process.memlock.missing == Missing::kAbsent && !process.ppid && !process.caps;
  if (nothing && !host_.exists(fmt::format("/proc/{}", process.where.pid.value_or(0)))) {
    process.memlock.missing = Missing::kVanished;
  }
  if (!process.memlock && process.memlock.missing == Missing::kVanished) process.ppid.reset();
}

void Reader::read_environ(Process& process) {
  const auto text = read(process, "environ", kMaxArgBytes);
  if (!text) return;
  const std::string path = path_of(process, "environ");
  for (auto& [name, value] : parse_environ(*text)) {
    std::string line = fmt::format("{}={}", name, value);
    process.env.try_emplace(std::move(name), Fact<std::string>::of(std::move(value), {path, std::move(line)}));
  }
}

/// The kernel shows a uid_map in the numbers of the reader's own user namespace (kernel/user_namespace.c m_show), so
/// only a reader in the first one can tell the first one by it.
bool Reader::sees_uid_maps() {
  if (!host_.live()) return true;
  if (!in_first_userns_) {
    const auto own = host_.link("/proc/self/ns/user");
    in_first_userns_ = own && is_initial_userns_link(*own) == true;
  }
  return *in_first_userns_;
}

void Reader::read_userns(Process& process) {
  const std::string link_path = path_of(process, "ns/user");
  const auto target = host_.link(link_path);
  const auto by_link = target ? is_initial_userns_link(*target) : std::nullopt;
  if (by_link) {
    process.initial_userns = Fact<bool>::of(*by_link, {link_path, *target});
    return;
  }
  const std::string map_path = path_of(process, "uid_map");
  const auto map = sees_uid_maps() ? host_.read(map_path) : std::unexpected(HostError{});
  const auto by_map = map ? parse_uid_map_is_initial(*map) : std::nullopt;
  if (by_map) {
    process.initial_userns = Fact<bool>::of(*by_map, {map_path, map->substr(0, map->find('\n'))});
    return;
  }
  if (!target) note_problem(process.problems, target.error());
  process.initial_userns = Fact<bool>::none(target ? Missing::kMalformed : missing_of(target.error().kind), link_path);
}

void Reader::read_maps(Process& process) {
  const std::string path = path_of(process, "maps");
  const auto text = read(process, "maps", kMaxMapsBytes);
  if (!text) {
    process.map_count = Fact<std::uint64_t>::none(missing_of(text.error().kind), path);
    process.nccl_mapped = Fact<std::string>::none(missing_of(text.error().kind), path);
    return;
  }
  MapsFields fields = parse_maps(*text);
  process.map_count = Fact<std::uint64_t>::of(fields.count, {path, fmt::format("{} lines", fields.count)});
  process.nccl_mapped = Fact<std::string>::none(Missing::kAbsent, path);
  if (fields.nccl_path.empty()) return;
  process.nccl_mapped = Fact<std::string>::of(fields.nccl_path, {path, fields.nccl_path});
}

void Reader::read_verbs(Process& process) {
  using Files = Fact<std::vector<std::string>>;
  const std::string directory = path_of(process, "fd");
  const auto names = host_.list(directory);
  if (!names) {
    note_problem(process.problems, names.error());
    process.verbs_open = Files::none(missing_of(names.error().kind), directory);
    return;
  }
  std::vector<std::string> open_files;
  Source source{directory, {}};
  std::string path = directory + '/';
  for (const auto& name : *names) {
    path.resize(directory.size() + 1);
    path += name;
    auto target = host_.link(path);
    // A descriptor closed since the listing is no news.
    if (!target || !target->starts_with("/dev/infiniband/")) continue;
    if (std::find(open_files.begin(), open_files.end(), *target) != open_files.end()) continue;
    if (open_files.empty()) source = {path, *target};
    if (open_files.size() < kMaxVerbsFiles) open_files.push_back(std::move(*target));
  }
  process.verbs_open = Files::of(std::move(open_files), std::move(source));
}

void Reader::read_job_parts(Process& process) {
  read_userns(process);
  read_environ(process);
}

Process process_of(std::int64_t pid) {
  Process process;
  process.where.pid = pid;
  return process;
}

bool uses_rdma(const Process& process) {
  return process.nccl_mapped.known() || (process.verbs_open && !process.verbs_open->empty());
}

bool vanished(const Process& process) {
  return !process.memlock && process.memlock.missing == Missing::kVanished;
}

void set_kind(Process& process) {
  if (!job_daemon_name(process.comm, process.cmdline).empty()) process.kind = ProcessKind::kDaemon;
  if (uses_rdma(process)) process.kind = ProcessKind::kJob;
}

/// Without ib_core there is no class in sysfs and nothing to open; then nobody's descriptors need to be looked at.
bool verbs_can_be_open(const Host& host) {
  if (!host.live() || !host.exists("/sys/class")) return true;
  return host.exists("/sys/class/infiniband") || host.exists("/sys/class/infiniband_verbs") ||
         host.exists("/dev/infiniband");
}

void scan_one(Reader& reader, std::int64_t pid, bool look_at_files, ProcessScan& scan) {
  Process process = process_of(pid);
  const Reader::Life life = reader.read_stat(process);
  if (life == Reader::Life::kDenied) {
    ++scan.seen;
    ++scan.denied;
  }
  if (life != Reader::Life::kUser) return;
  ++scan.seen;
  reader.read_maps(process);
  if (look_at_files) reader.read_verbs(process);
  const bool denied = process.map_count.missing == Missing::kDenied || process.verbs_open.missing == Missing::kDenied;
  if (denied) ++scan.denied;
  // Most processes are neither: their command line is not even read.
  const bool maybe_daemon = !job_daemon_name(process.comm, {}).empty();
  if (!maybe_daemon && !uses_rdma(process)) return;
  reader.read_basics(process);
  if (vanished(process)) return;
  if (!uses_rdma(process) && job_daemon_name(process.comm, process.cmdline).empty()) return;
  if (!look_at_files) reader.read_verbs(process);
  reader.read_job_parts(process);
  set_kind(process);
  (process.kind == ProcessKind::kJob ? scan.jobs : scan.daemons).push_back(std::move(process));
}

}  // namespace

Process collect_process(const Host& host, std::int64_t pid) {
  Reader reader(host);
  Process process = process_of(pid);
  reader.read_basics(process);
  if (vanished(process)) return process;
  reader.read_job_parts(process);
  reader.read_maps(process);
  reader.read_verbs(process);
  set_kind(process);
  return process;
}

std::vector<Process> collect_ancestors(const Host& host, const Process& process) {
  Reader reader(host);
  std::vector<Process> chain{process};
  while (chain.size() < kMaxChain) {
    const std::int64_t pid = chain.back().ppid.value_or(0);
    if (pid <= 0) break;
    Process parent = process_of(pid);
    reader.read_basics(parent);
    if (vanished(parent) || (!parent.memlock && !parent.ppid)) break;
    // A parent cannot be younger than its child: that pid was given away in between.
    const auto& child_start = chain.back().start_ticks;
    if (parent.start_ticks && child_start && *parent.start_ticks > *child_start) break;
    set_kind(parent);
    chain.push_back(std::move(parent));
  }
  return chain;
}

ProcessScan collect_processes(const Host& host) {
  ProcessScan scan;
  const auto names = host.list("/proc");
  if (!names) {
    scan.hidden = names.error().message;
    return scan;
  }
  // hidepid=2 (proc(5)): who may not see PID 1 does not see anyone else's.
  if (std::ranges::find(*names, "1") == names->end())
    scan.hidden = "/proc does not show the processes of others (hidepid)";
  Reader reader(host);
  const bool look_at_files = verbs_can_be_open(host);
  for (const auto& name : *names) {
    const auto pid = parse_i64(name);
    if (pid && *pid > 0 && is_digit(name.front())) scan_one(reader, *pid, look_at_files, scan);
  }
  return scan;
}

}  // namespace pindown
