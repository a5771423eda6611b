// SPDX-License-Identifier: Apache-2.0
// See incident.h. The order of decisions is the spine of the taxonomy: what failed first, what merely followed, did it
// go on.
#include "logs/incident.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "logs/incident_after.h"
#include "logs/incident_parts.h"
#include "logs/nccl_version.h"

namespace pindown::logs {
namespace {

constexpr std::size_t kKeep = 64;
constexpr std::size_t kMostIncidents = 16;

bool is_kernel(Kind kind) {
  switch (kind) {
    case Kind::kMlx5Command:
    case Kind::kEfaCommand:
    case Kind::kMkeyAsync:
    case Kind::kKernelPin:
    case Kind::kNvrm:
    case Kind::kUnknownSymbol:
    case Kind::kAvcDenied:
    case Kind::kPortDown:
    case Kind::kDeviceHealth:
    case Kind::kDriverMessage:
    case Kind::kKernelSegfault:
      return true;
    default:
      return false;
  }
}

/// Events are already in the order of their inputs and lines. Failures with a wall clock time are put in the order of
/// their times where these span less than a day (one clock, not local time beside UTC); those without keep their place.
void order_by_time(std::vector<Event>& failures) {
  std::vector<std::size_t> places;
  std::vector<Event> timed;
  for (std::size_t i = 0; i < failures.size(); ++i) {
    if (!failures[i].shape.time_us) continue;
    places.push_back(i);
    timed.push_back(failures[i]);
  }
  if (timed.size() < 2) return;
  const auto time = [](const Event& e) { return *e.shape.time_us; };
  const auto [low, high] = std::ranges::minmax(timed, {}, time);
  constexpr std::int64_t kDay = std::int64_t{86400} * 1000000;
  if (time(high) - time(low) >= kDay) return;
  std::ranges::stable_sort(timed, {}, time);
  for (std::size_t i = 0; i < places.size(); ++i) failures[places[i]] = std::move(timed[i]);
}

/// Several inputs, not all lines timed: the input whose first timed failure is earliest goes first.
void order_inputs(std::vector<Event>& failures) {
  std::map<std::string, std::int64_t> first;
  for (const Event& e : failures) {
    if (e.shape.time_us) {
      first.try_emplace(e.input, *e.shape.time_us);
    } else if (!first.contains(e.input)) {
      return;  // an input that starts untimed: its place is unknown, keep the order given
    }
  }
  std::ranges::stable_sort(failures, {}, [&first](const Event& e) { return first[e.input]; });
}

void note_rank(Incident& incident, const Event& e) {
  constexpr std::size_t kMost = 65536;
  if (!e.shape.host.empty() && incident.hosts.size() < kMost) incident.hosts.insert(e.shape.host);
  if (e.shape.rank && incident.ranks.size() < kMost) incident.ranks.insert(fmt::format("rank {}", *e.shape.rank));
  if (e.shape.pid && !e.shape.host.empty() && incident.processes.size() < kMost) {
    incident.processes.insert(fmt::format("{}:{}", e.shape.host, *e.shape.pid));
  }
}

/// A later line of the same failure often knows more: NCCL's torch echo lacks the position, UCX's second line the size.
void complete(Event& first, const Event& later) {
  if (!same_origin(first, later)) return;
  if (!first.error && later.error && first.verb == later.verb) {
    first.error = later.error;
    first.error_text = later.error_text;
  }
  if (!first.limit && later.limit) {
    first.limit = later.limit;
    first.limit_hint = later.limit_hint;
  }
  if (first.device.empty()) first.device = later.device;
  if (!first.length && first.address && first.address == later.address) first.length = later.length;
}

void attach_echo(Incident& incident, Event e) {
  complete(incident.first, e);
  incident.echo_count += 1 + e.repeats;
  if (incident.echoes.size() < kKeep) incident.echoes.push_back(std::move(e));
}

void attach_same(Incident& incident, Event e) {
  incident.occurrences += 1 + e.repeats;
  note_rank(incident, e);
  complete(incident.first, e);
  if (incident.same.size() < kKeep) incident.same.push_back(std::move(e));
}

Incident start_incident(Event first) {
  Incident incident;
  note_rank(incident, first);
  incident.occurrences = 1 + first.repeats;
  incident.first = std::move(first);
  return incident;
}

bool of_other_host(const Event& a, const Event& b) {
  return !a.shape.host.empty() && !b.shape.host.empty() && !same_origin_host(a, b);
}

/// Where a failure belongs: the same failure elsewhere, a consequence of one, or a new incident.
void place_failure(std::vector<Incident>& incidents, Event e, const Attempts& attempts) {
  for (Incident& incident : incidents) {
    if (same_failure(incident.first, e)) return attach_same(incident, std::move(e));
  }
  // A later attempt fails of its own causes, unless it fails for the same.
  const bool later = !incidents.empty() && e.input == incidents.back().first.input &&
                     attempts.of(e) > attempts.of(incidents.back().first);
  if (later && incidents.size() < kMostIncidents) {
    incidents.push_back(start_incident(std::move(e)));
    return;
  }
  const bool consequence = is_derived(e.kind) || is_end(e.kind) || e.kind == Kind::kHostOom;
  if (!incidents.empty() && consequence) return attach_echo(incidents.front(), std::move(e));
  if (!incidents.empty() && is_weak(e) && !of_other_host(e, incidents.front().first))
    return attach_echo(incidents.front(), std::move(e));
  if (incidents.size() >= kMostIncidents) return attach_echo(incidents.front(), std::move(e));
  incidents.push_back(start_incident(std::move(e)));
}

/// Lock refusals outside RDMA, and a pool with fewer threads, are often survived: no cause of a run that fails to
/// register later.
bool is_often_survived(Kind kind) {
  return kind == Kind::kThreads || kind == Kind::kIoUring || kind == Kind::kOtherMlock;
}

/// Shown to have come before: by the clock, or in the output of one process.
bool surely_before(const Event& a, const Event& b) {
  if (a.shape.time_us && b.shape.time_us) return *a.shape.time_us < *b.shape.time_us;
  const bool one_process = a.shape.pid && a.shape.pid == b.shape.pid && same_origin_host(a, b);
  return one_process && a.input == b.input && a.line < b.line;
}

/// A transfer that ended with an error before any direct failure follows from none of them; the failed registrations
/// while everything is torn down follow from it.
bool completion_was_first(const Event& completion, const std::vector<Event>& failures) {
  if (completion.kind != Kind::kCompletion) return false;
  return std::ranges::all_of(failures, [&completion](const Event& e) {
    return is_derived(e.kind) || is_weak(e) || surely_before(completion, e);
  });
}

/// Puts direct failures before what they bring about; keeps the order otherwise. An end of a process or an
/// out-of-memory that comes before the first registration failure stays before it (N-05).
std::vector<Event> causes_first(std::vector<Event> failures) {
  std::map<std::string, std::uint64_t> cancelled;  // by input
  for (const Event& e : failures) {
    if (e.kind == Kind::kCancelled) cancelled.try_emplace(e.input, e.line);
  }
  std::set<std::pair<std::string, std::uint64_t>> first;
  for (const Event& e : failures) {
    if (first.size() < kKeep && completion_was_first(e, failures)) first.emplace(e.input, e.line);
  }
  const auto rank = [&cancelled, &first](const Event& e) {
    // A cancelled job leaves killed processes and exceptions behind. A failed registration stays before it, though: the
    // job may have hung on that, or have been queued again.
    const auto cancel = is_end(e.kind) ? cancelled.find(e.input) : cancelled.end();
    if (cancel != cancelled.end() && e.line > cancel->second) return 2;
    if (e.kind == Kind::kCancelled) return 1;
    if (is_derived(e.kind)) return first.contains({e.input, e.line}) ? -1 : 3;
    if (is_weak(e) && e.kind != Kind::kDriverMissing) return 2;
    return is_often_survived(e.kind) ? 1 : 0;
  };
  std::ranges::stable_sort(failures, {}, rank);
  return failures;
}

bool is_import_error(const Event& e) {
  return e.detail.starts_with("ModuleNotFoundError") || e.detail.starts_with("ImportError");
}

/// An exception before the library even starts in the same input was handled: the program went on to start it. So was a
/// missing optional module, if the input goes on to register memory at all.
void drop_survived_exceptions(std::vector<Event>& failures, const std::vector<Event>& events) {
  std::map<std::string, std::uint64_t> last_start;
  std::map<std::string, std::uint64_t> last_use;
  for (const Event& e : events) {
    const bool start =
        e.kind == Kind::kNetUsing || (e.kind == Kind::kVersion && e.shape.text.starts_with("NCCL version"));
    const bool use = e.kind == Kind::kInitComplete || (is_registration(e.kind) && !is_weak(e));
    if (start) last_start[e.input] = std::max(last_start[e.input], e.line);
    if (use) last_use[e.input] = std::max(last_use[e.input], e.line);
  }
  const auto before = [](const std::map<std::string, std::uint64_t>& last, const Event& e) {
    const auto at = last.find(e.input);
    return at != last.end() && e.line < at->second;
  };
  std::erase_if(failures, [&](const Event& e) {
    if (e.kind != Kind::kPythonException) return false;
    return before(last_start, e) || (is_import_error(e) && before(last_use, e));
  });
}

/// srun cancels the step of a task that failed, and then gives no reason: a consequence, unless nothing stands before
/// it.
void demote_cancels(std::vector<Event>& events) {
  std::set<std::string> failed;  // inputs
  for (Event& e : events) {
    const bool plain = e.kind == Kind::kCancelled && e.detail.empty();
    if (plain && failed.contains(e.input)) e.kind = Kind::kExit;
    if (is_failure(e.kind) || e.kind == Kind::kExit || e.kind == Kind::kEcho) failed.insert(e.input);
  }
}

/// NCCL found no device and may use nothing else (NCCL_NET=IB): what ended it is that there was no device to open.
void promote_missing_network(std::vector<Event>& events) {
  const bool none = std::ranges::any_of(events, [](const Event& e) {
    return e.kind == Kind::kTransport && contains(e.raw, "NET/IB : No ") && contains(e.raw, "found");
  });
  if (!none) return;
  for (Event& e : events) {
    if (e.kind == Kind::kExit && contains(e.raw, "Failed to initialize any NET plugin")) e.kind = Kind::kOpenDevice;
  }
}

/// What a library tells at a debugging level only is a failure if the process then crashes of it (N-06), else a try.
void drop_quiet(std::vector<Event>& failures, RunContext& run) {
  const auto crash = [](const Event& e) { return e.kind == Kind::kSegfault || e.kind == Kind::kSigbus; };
  const bool crashed = std::ranges::any_of(failures, crash);
  if (crashed) return;
  for (const Event& e : failures) {
    if (!e.quiet || run.notes.size() >= kKeep) continue;
    run.notes.push_back(e);
    run.notes.back().kind = Kind::kMention;
  }
  std::erase_if(failures, [](const Event& e) { return e.quiet; });
}

/// "rxe_eth0" of "… for device /sys/class/infiniband/rxe_eth0"; empty where the warning names no device.
std::string_view warned_device(std::string_view line) {
  constexpr std::string_view kClass = "/sys/class/infiniband/";
  const auto at = line.find(kClass);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + kClass.size());
  return line.substr(0, line.find_first_of(" /:'\""));
}

/// "siw" of "libsiw-rdmav34.so", the file that rdma-core's libibverbs/init.c looks for.
std::string_view warned_provider(std::string_view file) {
  if (const auto slash = file.rfind('/'); slash != std::string_view::npos) file.remove_prefix(slash + 1);
  const auto abi = file.find("-rdmav");
  return file.starts_with("lib") && abi != std::string_view::npos ? file.substr(3, abi - 3) : std::string_view{};
}

/// The driver by the name it gives its devices; udev's own names (rocep1s0, ibp3s0) don't tell.
std::string_view driver_of(std::string_view device) {
  for (const std::string_view driver : {"mlx5", "mlx4", "bnxt_re", "rxe", "siw", "efa", "qedr", "hns", "hfi1"}) {
    if (device.starts_with(driver)) return driver;
  }
  return {};
}

/// libibverbs warns of every device and every configured provider, also of those that nobody uses. Another device of a
/// driver in use is one that the run lost.
bool concerns_none_of(const Event& warning, const std::set<std::string>& devices) {
  const std::string_view device = warned_device(warning.raw);
  const std::string_view provider = device.empty() ? warned_provider(warning.detail) : driver_of(device);
  return !provider.empty() && std::ranges::all_of(devices, [provider](const std::string& used) {
    return !driver_of(used).empty() && !provider.starts_with(driver_of(used));
  });
}

/// A provider that is missing for a device the run does not use, while the library names those it does.
void drop_unused_drivers(std::vector<Event>& failures, RunContext& run) {
  if (!run.net_ib || run.devices.empty()) return;
  const auto unused = [&run](const Event& e) {
    return e.kind == Kind::kDriverMissing && concerns_none_of(e, run.devices);
  };
  for (const Event& e : failures) {
    if (!unused(e) || run.notes.size() >= kKeep) continue;
    run.notes.push_back(e);
    run.notes.back().kind = Kind::kMention;
  }
  std::erase_if(failures, unused);
}

// ---- context

HostContext* host_of(const Event& e, RunContext& run) {
  constexpr std::size_t kMostHosts = 16384;
  if (e.shape.host.empty() || (run.by_host.size() >= kMostHosts && !run.by_host.contains(e.shape.host))) return nullptr;
  return &run.by_host[e.shape.host];
}

void read_using_line(const Event& e, RunContext& run) {
  const std::string_view rest = e.shape.text;
  run.net_ib = true;
  const bool relaxed = contains(rest, "[RO]");
  run.relaxed_ordering = relaxed || run.relaxed_ordering.value_or(false);
  if (auto* host = host_of(e, run)) host->relaxed_ordering = relaxed;
  for (const std::string_view word : split_blanks(rest)) {
    const auto close = word.find(']');
    const auto colon = word.find(':');
    if (word.front() != '[' || close == std::string_view::npos || colon == std::string_view::npos || colon < close)
      continue;
    if (run.devices.size() < 64) run.devices.emplace(word.substr(close + 1, colon - close - 1));
  }
}

void read_channel(const Event& e, RunContext& run) {
  const std::string_view path = e.detail;
  if (path.starts_with("Socket")) run.socket_transport = true;
  if (!path.starts_with("IB") && !path.starts_with("AWS") && !path.starts_with("OFI") && !path.starts_with("UCX"))
    return;
  const bool gdr = contains(path, "GDRDMA");
  (gdr ? run.gdr_channels : run.host_channels) = true;
  if (auto* host = host_of(e, run)) (gdr ? host->gdr_channels : host->host_channels) = true;
}

void read_transport(const Event& e, RunContext& run) {
  const std::string_view detail = e.detail;
  if (contains(e.shape.text, "Using network")) {
    if (detail == "Socket") run.socket_transport = true;
    if (detail == "IB" || detail.starts_with("IB")) run.net_ib = true;
    if (detail != "Socket" && detail != "IB") run.plugin = std::string(detail);
  } else if (icontains(detail, "tcp") || icontains(detail, "socket") || icontains(detail, "ethernet")) {
    run.socket_transport = true;
  }
}

void read_context(const Event& e, RunContext& run) {
  switch (e.kind) {
    case Kind::kVersion:
      if (run.nccl_version.empty()) {
        run.nccl_version = e.detail;
        run.version_event = e;
      }
      break;
    case Kind::kNetUsing:
      read_using_line(e, run);
      break;
    case Kind::kChannel:
      read_channel(e, run);
      break;
    case Kind::kGdr:
      run.gdr_enabled = run.gdr_enabled.value_or(false) || e.detail == "Enabled";
      break;
    case Kind::kDmabufAvailable:
      run.dmabuf_available = true;
      break;
    case Kind::kTransport:
      read_transport(e, run);
      break;
    case Kind::kInitComplete:
      run.init_complete = true;
      break;
    case Kind::kBanner:
      if (e.detail == "Process frozen" && e.shape.pid && run.frozen.size() < kKeep) {
        run.frozen.emplace(e.shape.host, *e.shape.pid);
      }
      if (e.library == "aws-ofi-nccl" && run.plugin.empty()) run.plugin = e.detail;
      if (!e.device.empty() && run.devices.size() < 64) run.devices.insert(e.device);
      break;
    default:
      break;
  }
  const bool citable = e.kind == Kind::kNetUsing || e.kind == Kind::kChannel || e.kind == Kind::kTransport ||
                       e.kind == Kind::kGdr || e.kind == Kind::kBanner || e.kind == Kind::kDmabufAvailable ||
                       e.kind == Kind::kMention;
  if (citable && run.notes.size() < kKeep) run.notes.push_back(e);
}

void read_launcher(const Event& e, RunContext& run) {
  if (!e.shape.host.empty() && e.kind != Kind::kProgress && run.job_inputs.size() < 65536)
    run.job_inputs.insert(e.input);
  if (!e.shape.launcher.empty()) run.launchers.insert(e.shape.launcher);
  if (e.shape.kubernetes) run.launchers.insert("kubectl");
  for (const std::string_view launcher : {"slurm", "pyxis", "enroot", "pbs", "ray", "flux", "deepspeed"}) {
    if (e.library == launcher) run.launchers.insert(e.library);
  }
}

void name_versions(LogFindings& log) {
  for (Incident& incident : log.incidents) {
    const bool nccl = incident.first.library == "nccl" || incident.first.library == "rccl";
    if (!nccl) continue;
    incident.version_from_banner = !log.context.nccl_version.empty();
    incident.version_hint = incident.version_from_banner ? log.context.nccl_version : nccl_version_hint(incident.first);
  }
}

/// ncclResult_t: 0 success, 4 and 5 what the caller or its settings got wrong, 7 in progress.
bool is_no_failure_code(std::string_view code) {
  return code == "0" || code == "4" || code == "5" || code == "7";
}

/// Echoes without any failure (NIXL_ERR_BACKEND, a proxy line alone): something failed whose own line is not in this
/// log.
void adopt_orphans(LogFindings& log, std::vector<Event>& echoes) {
  if (!log.incidents.empty() || log.context.init_complete) return;
  for (std::size_t i = 0; i < echoes.size(); ++i) {
    if (echoes[i].kind == Kind::kExit) continue;  // an exit says nothing of registration
    const bool trace = echoes[i].library == "nccl" && !echoes[i].detail.empty();
    if (trace && is_no_failure_code(echoes[i].detail)) continue;
    Event first = echoes[i];
    first.kind = Kind::kLibraryError;
    echoes.erase(echoes.begin() + static_cast<std::ptrdiff_t>(i));
    log.incidents.push_back(start_incident(std::move(first)));
    return;
  }
}

/// A warning or an error of the library that no row knows. These are printed by runs that work, too.
bool is_unknown_warning(const Event& e) {
  if (e.kind != Kind::kMention || (!contains(e.raw, "NCCL WARN") && !contains(e.raw, "UCX  ERROR"))) return false;
  for (const std::string_view harmless : {"iommu", "NUMA", "plugin", "Plugin", "MSCCL", "set by environment"}) {
    if (contains(e.raw, harmless)) return false;
  }
  return true;
}

/// An exit with an error; or a warning that nobody knows, or a port that failed, after which the job shows no more
/// work.
std::optional<Event> ended_by(const std::vector<Event>& events) {
  const Event* open = nullptr;
  for (const Event& e : events) {
    if (e.kind == Kind::kExit) return e;
    const bool port = e.kind == Kind::kPortDown && e.library == "nccl";
    const bool works = port ? !contains(e.detail, "error") : e.kind == Kind::kProgress || e.kind == Kind::kInitComplete;
    if (works) open = nullptr;
    if ((port && !works) || (!open && is_unknown_warning(e))) open = &e;
  }
  return open == nullptr ? std::nullopt : std::optional(*open);
}

}  // namespace

bool same_origin_host(const Event& a, const Event& b) {
  return a.shape.host.empty() || b.shape.host.empty() || a.shape.host == b.shape.host;
}

bool same_origin(const Event& a, const Event& b) {
  if (a.input != b.input || !same_origin_host(a, b)) return false;
  if (a.shape.pid && b.shape.pid && a.shape.pid != b.shape.pid) return false;
  if (a.shape.rank && b.shape.rank && a.shape.rank != b.shape.rank) return false;
  return a.shape.wrapper.empty() || b.shape.wrapper.empty() || a.shape.wrapper == b.shape.wrapper ||
         a.shape.rank == b.shape.rank;
}

LogFindings derive_incidents(std::vector<Event> events, const RunContext& seed) {
  LogFindings log;
  log.context = seed;
  demote_cancels(events);
  promote_missing_network(events);
  std::vector<Event> failures;
  std::vector<Event> echoes;
  for (const Event& e : events) {
    if (e.kind != Kind::kProgress && e.kind != Kind::kExit) log.recognised = true;
    read_launcher(e, log.context);
    if (is_kernel(e.kind)) {
      if (log.context.kernel.size() < 256) log.context.kernel.push_back(e);
    } else if (is_failure(e.kind)) {
      if (e.library == "kernel" && log.context.kernel.size() < 256) log.context.kernel.push_back(e);
      log.context.registration_failed |= is_registration(e.kind);
      failures.push_back(e);
    } else if (e.kind == Kind::kEcho || e.kind == Kind::kExit) {
      echoes.push_back(e);
    } else {
      read_context(e, log.context);
    }
  }
  const Attempts attempts(events);
  drop_survived_exceptions(failures, events);
  drop_quiet(failures, log.context);
  drop_unused_drivers(failures, log.context);
  order_inputs(failures);
  order_by_time(failures);
  for (Event& e : causes_first(std::move(failures))) place_failure(log.incidents, std::move(e), attempts);
  adopt_orphans(log, echoes);
  if (!log.incidents.empty()) {
    for (Event& e : echoes) {
      note_rank(log.incidents.front(), e);
      attach_echo(log.incidents.front(), std::move(e));
    }
  }
  decide_continued(log, events, attempts);
  log.ended_by = ended_by(events);
  name_versions(log);
  log.initialised = log.context.init_complete;
  return log;
}

}  // namespace pindown::logs
