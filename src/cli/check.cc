// SPDX-License-Identifier: Apache-2.0
// `pindown check [INPUT…] [--pid P]…`: reads inputs or this host, diagnoses, renders.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>

#include "base/host_name.h"
#include "base/text.h"
#include "checks/diagnose.h"
#include "cli/cli.h"
#include "cli/sessions.h"
#include "facts/collect.h"
#include "facts/login.h"
#include "facts/proc.h"
#include "facts/verbs.h"
#include "finding/report_json.h"
#include "model/read_log.h"
#include "render/report_text.h"

namespace pindown::cli {
namespace {

struct Options {
  std::vector<std::string> inputs;
  std::vector<std::int64_t> pids;
  std::string need;
  std::string threshold = "error";
  bool here = false;
  bool trigger_literals = false;
  Output output;
};

std::string host_name() {
  std::string name(256, '\0');
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  name.resize(name.find('\0'));
  return name;
}

/// By calendar arithmetic: gmtime_r(3) would read /etc/localtime first.
std::string utc_now() {
  using namespace std::chrono;
  const auto now = floor<seconds>(system_clock::now());
  const auto day = floor<days>(now);
  const year_month_day date(day);
  const hh_mm_ss time(now - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), time.hours().count(),
                     time.minutes().count(), time.seconds().count());
}

LogInput failed_input(const std::string& path, const std::string& problem) {
  LogInput input;
  input.summary = {path, "unreadable", 0, 0, problem};
  return input;
}

LogInput read_input(const std::string& path) {
  auto stream = open_input(path);
  if (!stream) return failed_input(path, stream.error().message);
  return read_log(**stream, path == "-" ? "stdin" : path);
}

/// A directory's files that say nothing to pindown are not worth a complaint each: they are listed as passed over.
void read_directory(const std::string& path, std::vector<LogInput>& logs) {
  Listing listing = list_inputs(path);
  std::size_t passed_over = 0;
  const std::size_t before = logs.size();
  for (const std::string& file : listing.files) {
    LogInput input = read_input(file);
    const std::string& kind = input.summary.kind;
    const bool silent = input.summary.problem.empty() || kind == "empty" || kind == "unrecognised";
    if (!input.recognised && silent) {
      input.summary.problem.clear();
      input.summary.kind = kPassedOver;
      ++passed_over;
    }
    logs.push_back(std::move(input));
  }
  if (passed_over == listing.files.size()) {
    logs.resize(before);
    logs.push_back(failed_input(path, fmt::format("none of its {} files is known to pindown", listing.files.size())));
    logs.back().summary.kind = "directory";
  }
  for (const std::string& problem : listing.problems) logs.push_back(failed_input(path, problem));
}

std::vector<LogInput> read_inputs(const std::vector<std::string>& paths) {
  std::vector<LogInput> logs;
  for (const std::string& path : paths) {
    if (path != "-" && is_directory(path)) {
      read_directory(path, logs);
      continue;
    }
    logs.push_back(read_input(path));
    // Alone, it makes PD901; beside others it must not be passed over.
    LogInput& log = logs.back();
    if (paths.size() > 1 && !log.recognised && log.summary.problem.empty())
      log.summary.problem = "nothing in it is known to pindown";
  }
  return logs;
}

/// Whether every line that names a machine names this one. What names a pod or a container is of another machine's
/// making, even if it looks the same.
bool log_is_from_here(const std::vector<LogInput>& logs, const std::string& host) {
  if (host.empty()) return false;
  bool any = false;
  for (const LogInput& log : logs) {
    for (const logs::Event& event : log.events) {
      const std::string_view seen = event.shape.host;
      if (seen.empty()) continue;
      const bool elsewhere = event.shape.kubernetes || logs::looks_like_docker_id(seen) || names_several(seen);
      if (elsewhere || !same_host(seen, host)) return false;
      any = true;
    }
  }
  return any;
}

/// The processes that failed, where they are still there. A pid is used again: only one that uses RDMA is believed.
void join_living(const Host& host, const std::string& name, const std::vector<LogInput>& logs, Facts& machine) {
  constexpr std::size_t kMostPids = 64;
  std::set<std::pair<std::string, std::int64_t>> asked;
  for (const LogInput& log : logs) {
    for (const logs::Event& event : log.events) {
      const logs::Shape& shape = event.shape;
      if (!shape.pid || !logs::is_failure(event.kind) || asked.size() == kMostPids) continue;
      if (!shape.host.empty() && !same_host(shape.host, name)) continue;
      if (!asked.emplace(shape.host, *shape.pid).second) continue;
      Process process = collect_process(host, *shape.pid);
      const bool uses_rdma = process.nccl_mapped.known() || (process.verbs_open && !process.verbs_open->empty());
      if (!process.memlock.known() || !uses_rdma) continue;
      process.kind = ProcessKind::kJob;
      process.where = {shape.host, shape.pid, shape.rank};
      machine.processes.push_back(std::move(process));
    }
  }
}

/// This machine's facts for a log that is of this machine: because the user says so, or by its name. In a container
/// the name proves nothing, because any number of them may have it.
std::optional<LiveFacts> facts_from_here(const std::vector<LogInput>& logs, bool told) {
  const std::string name = host_name();
  if (!told && !log_is_from_here(logs, name)) return std::nullopt;
  const auto host = make_live_host();
  LiveFacts here;
  here.machine = collect_machine(*host);
  here.machine.read_as_root = ::geteuid() == 0;
  collect_device_limits(*host, here.machine);
  if (!told && here.machine.inside_container.value == true) return std::nullopt;
  join_living(*host, name, logs, here.machine);
  return here;
}

/// The services that appear above the processes that are judged.
std::vector<std::string> services_of(const LiveFacts& live) {
  std::set<std::string> names;
  for (const auto* chains : {&live.jobs, &live.daemons}) {
    for (const auto& chain : *chains) {
      for (const Process& process : chain) {
        if (contains(process.cgroup, "/user@")) continue;  // a user manager's unit, which has another file
        const std::string_view unit = service_of_cgroup(process.cgroup);
        if (!unit.empty() && names.size() < 256) names.emplace(unit);
      }
    }
  }
  return {names.begin(), names.end()};
}

/// Whether sshd may have opened what is judged: it is above it, or a session is where it runs.
bool has_session(const LiveFacts& live) {
  const auto opened = [](const Process& p) { return p.comm.starts_with("sshd") || contains(p.cgroup, "/user.slice"); };
  const auto any = [&opened](const auto& chain) { return std::ranges::any_of(chain, opened); };
  return std::ranges::any_of(live.jobs, any) || std::ranges::any_of(live.daemons, any);
}

/// Whether something judged has a limit that somebody set, or failed to raise.
bool has_limited(const LiveFacts& live) {
  const auto limited = [](const auto& chain) { return is_limited(chain.front()); };
  return std::ranges::any_of(live.jobs, limited) || std::ranges::any_of(live.daemons, limited);
}

/// What configures the limits of this machine's sessions and services; nothing is read where nothing is limited.
void add_configuration(const Host& host, LiveFacts& live) {
  if (!has_limited(live)) return;
  live.login = collect_login_configuration(host, services_of(live), has_session(live));
  add_login_facts(*live.login, live.machine);
  live.sessions = predict_sessions(host, live.jobs);
}

LiveFacts collect_live(const Host& host, const std::vector<std::int64_t>& pids) {
  LiveFacts live;
  live.machine = collect_machine(host);
  live.machine.read_as_root = ::geteuid() == 0;
  if (live.machine.host.empty()) live.machine.host = host_name();
  live.asked = pids;
  for (const std::int64_t pid : pids) {
    const Process process = collect_process(host, pid);
    if (process.memlock.missing == Missing::kVanished || process.memlock.missing == Missing::kAbsent) {
      live.vanished.push_back(pid);
    } else {
      live.jobs.push_back(collect_ancestors(host, process));
    }
  }
  if (!pids.empty()) {
    add_configuration(host, live);
    return live;
  }
  collect_device_limits(host, live.machine);
  const ProcessScan scan = collect_processes(host);
  for (const Process& process : scan.jobs) live.jobs.push_back(collect_ancestors(host, process));
  for (const Process& process : scan.daemons) live.daemons.push_back(collect_ancestors(host, process));
  live.seen = scan.seen;
  live.denied = scan.denied;
  live.hidden = scan.hidden;
  add_configuration(host, live);
  return live;
}

Severity severity_from(const std::string& name) {
  if (name == "note") return Severity::kNote;
  return name == "warning" ? Severity::kWarning : Severity::kError;
}

int render(Report report, const Options& options) {
  if (report.host.empty()) report.host = host_name();
  report.time = utc_now();
  const std::string text = options.output.format == Format::kJson ? dump(to_json(report)) + "\n"
                                                                  : render_text(report, make_style(options.output));
  if (!print(text)) return kInternal;
  return exit_code(report.verdict);
}

int check_logs(const Options& options, const Policy& policy) {
  std::vector<LogInput> logs = read_inputs(options.inputs);
  for (const LogInput& log : logs) {
    const std::string& problem = log.summary.problem;
    if (!problem.empty()) complain(contains(problem, log.summary.path) ? problem : log.summary.path + ": " + problem);
  }
  const std::optional<LiveFacts> here = facts_from_here(logs, options.here);
  return render(diagnose_logs(std::move(logs), here, policy), options);
}

int check_host(const Options& options, const Policy& policy) {
  const auto host = make_live_host();
  return render(diagnose_host(collect_live(*host, options.pids), policy), options);
}

int print_literals() {
  std::string out;
  for (const std::string_view literal : trigger_literals()) out += fmt::format("{}\n", literal);
  return print(out) ? 0 : kInternal;
}

int run_check(const Options& options) {
  if (options.trigger_literals) return print_literals();
  Policy policy;
  policy.threshold = severity_from(options.threshold);
  if (!options.need.empty()) {
    const auto need = parse_size(options.need);
    if (!need) {
      complain("--need: " + need.error());
      return kUsage;
    }
    policy.need = {need->bytes, "--need " + options.need};
  }
  if (!options.inputs.empty() && !options.pids.empty()) {
    complain("give either inputs or --pid, not both");
    return kUsage;
  }
  return options.inputs.empty() ? check_host(options, policy) : check_logs(options, policy);
}

}  // namespace

void add_check(CLI::App& app, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("check", "diagnose logs, a process, or (with no input) this host");
  command->add_option("INPUT", options->inputs, "logs, plain or compressed; directories of them; - for standard input");
  command->add_option("--pid", options->pids, "judge this process and its ancestors (may be given more than once)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 22))
      ->type_name("P")
      ->allow_extra_args(false);  // "--pid 42 train.log": the log is an input
  command->add_option("--need", options->need, "locked memory the job needs per process: 4G, 512MiB")
      ->type_name("SIZE");
  command->add_option("--threshold", options->threshold, "findings from this severity on are a fault (default error)")
      ->check(CLI::IsMember({"note", "warning", "error"}))
      ->type_name("SEVERITY");
  command->add_flag("--here", options->here, "the logs are from this machine: use its facts too");
  command->add_flag("-v,--verbose", options->output.verbose, "show all evidence, trails and what was ruled out");
  command->add_flag("--trigger-literals", options->trigger_literals)->group("");
  add_output_options(*command, options->output, {"text", "json"});
  command->callback([options, &run] { run = [options] { return run_check(*options); }; });
}

}  // namespace pindown::cli
