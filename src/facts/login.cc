// SPDX-License-Identifier: Apache-2.0
// See login.h.
#include "facts/login.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "facts/collect.h"
#include "facts/collect_detail.h"
#include "facts/proc.h"

namespace pindown {
namespace {

using collect::line_of;
using collect::missing_of;
using collect::note_problem;
using collect::unquote;

Distribution collect_distribution(const Host& host, std::vector<std::string>& problems) {
  Distribution distro;
  distro.id = Fact<std::string>::none(Missing::kAbsent, "/etc/os-release");
  for (const char* path : {"/etc/os-release", "/usr/lib/os-release"}) {
    const auto text = host.read(path);
    if (!text) {
      note_problem(problems, text.error());
      continue;
    }
    const std::string_view id = line_of(*text, "ID=");
    if (!id.empty()) distro.id = Fact<std::string>::of(unquote(id.substr(3)), {path, std::string(id)});
    const std::string_view like = line_of(*text, "ID_LIKE=");
    if (!like.empty()) distro.id_like = unquote(like.substr(8));
    const std::string_view version = line_of(*text, "VERSION_ID=");
    if (!version.empty()) distro.version = unquote(version.substr(11));
    return distro;
  }
  return distro;
}

void collect_pid1(const Host& host, LoginFacts& facts) {
  constexpr std::string_view kLimits = "/proc/1/limits";
  const auto limits = host.read(kLimits);
  facts.pid1 = Fact<MemlockLimit>::none(Missing::kMalformed, std::string(kLimits));
  if (!limits) {
    note_problem(facts.problems, limits.error());
    facts.pid1.missing = missing_of(limits.error().kind);
  } else if (const auto parsed = parse_limits(*limits)) {
    facts.pid1 =
        Fact<MemlockLimit>::of(*parsed, {std::string(kLimits), std::string(line_of(*limits, "Max locked memory"))});
  }
  const auto status = host.read("/proc/1/status");
  if (status) facts.pid1_caps = Fact<CapabilitySets>::of(parse_status(*status).caps, {"/proc/1/status", {}});
}

/// conf=FILE of every pam_limits line: few, and mostly none.
void collect_named_limits(const Host& host, LoginFacts& facts) {
  constexpr std::size_t kMost = 64;
  std::set<std::string> paths;
  for (const auto& [name, service] : facts.pam.services) {
    if (!service.known()) continue;
    for (const PamLine& line : *service) {
      if (!contains(line.module, "pam_limits")) continue;
      for (const std::string& argument : line.arguments) {
        if (argument.starts_with("conf=") && paths.size() < kMost) paths.insert(argument.substr(5));
      }
    }
  }
  for (const std::string& path : paths) facts.named_limits[path] = collect_limits_file(host, path);
}

/// "0::/system.slice/ssh.service" → "ssh.service": the first part that is a service, which is the system manager's.
std::string_view unit_of(std::string_view cgroup) {
  for (std::string_view part : split(cgroup, '/')) {
    if (part.ends_with(".service")) return part;
  }
  return {};
}

/// The running main process of each unit asked for: in the unit's cgroup, and a child of PID 1.
void collect_daemons(const Host& host, const LoginQuestion& question, LoginFacts& facts) {
  const auto names = host.list("/proc");
  if (!names) return;
  for (const std::string& name : *names) {
    const auto pid = parse_u64(name);
    if (!pid || *pid == 0) continue;
    const auto cgroup = host.read(fmt::format("/proc/{}/cgroup", *pid));
    if (!cgroup) continue;
    const std::string_view unit = unit_of(std::string_view(*cgroup).substr(0, cgroup->find_last_not_of('\n') + 1));
    if (std::ranges::find(question.units, unit) == question.units.end()) continue;
    Process process = collect_process(host, static_cast<std::int64_t>(*pid));
    if (process.ppid == 1 && process.memlock.known()) facts.daemons.emplace(std::string(unit), std::move(process));
  }
}

}  // namespace

std::string user_manager_unit(const Account& account) {
  return fmt::format("user@{}.service", account.uid);
}

namespace {

/// systemd makes this link anew at every start of a unit (src/core/unit.c unit_export_invocation_id, since 236).
std::optional<bool> is_newer_than_service(const Host& host, const UnitFile& unit, const ManagerConf& manager) {
  const bool by_default = !unit.memlock.known();
  if (by_default && !manager.default_memlock.known()) return std::nullopt;
  const std::string& place = (by_default ? manager.default_memlock : unit.memlock).source.path;
  const auto written = host.changed(place.substr(0, place.rfind(':')));
  const auto started = host.changed(fmt::format("/run/systemd/units/invocation:{}", unit.name));
  if (!written || !started) return std::nullopt;
  if (*written > *started) return true;
  if (by_default) return std::nullopt;  // systemd may have read the file later still
  // What was in force at the start may have stood in a drop-in that is gone.
  for (const char* directory : {"/etc/systemd/system", "/run/systemd/system"}) {
    const auto changed = host.changed(fmt::format("{}/{}.d", directory, unit.name));
    if (changed && *changed > *started) return std::nullopt;
  }
  return false;
}

}  // namespace

LoginFacts collect_login_configuration(const Host& host, const std::vector<std::string>& units, bool with_sshd) {
  LoginFacts facts;
  facts.live = host.live();
  facts.limits = collect_limits(host);
  if (with_sshd) facts.sshd = collect_sshd(host);
  if (!units.empty()) facts.system_manager = collect_manager(host);
  for (const std::string& name : units) {
    UnitFile& unit = facts.units[name] = collect_unit(host, name);
    unit.memlock_newer_than_service = is_newer_than_service(host, unit, facts.system_manager);
  }
  return facts;
}

namespace {

bool is_enabled(const Host& host, std::string_view target, std::string_view unit) {
  for (const char* directory : {"/etc/systemd/system", "/run/systemd/system"}) {
    for (const char* kind : {"wants", "requires"}) {
      // The link may lead out of the directory; that it is there is what counts.
      if (host.link(fmt::format("{}/{}.{}/{}", directory, target, kind, unit))) return true;
    }
  }
  return false;
}

/// The invocation link is there while the unit is loaded and was started.
bool is_started(const Host& host, std::string_view unit) {
  return host.live() && host.link(fmt::format("/run/systemd/units/invocation:{}", unit)).has_value();
}

void collect_per_connection(const Host& host, LoginFacts& facts) {
  for (const std::string name : {"ssh", "sshd"}) {
    const std::string socket = name + ".socket";
    const bool listens = is_enabled(host, "sockets.target", socket) || is_started(host, socket);
    const std::string service = name + ".service";
    if (!listens || is_started(host, service)) continue;
    if (!host.live() && is_enabled(host, "multi-user.target", service)) continue;
    if (parse_unit_boolean(collect_unit(host, socket).accept.value.value_or("")) != true) continue;
    facts.per_connection = name + "@.service";
    // An instance has a name of its own; drop-ins are those of the template.
    facts.units[facts.per_connection] = collect_unit(host, name + "@connection.service");
    return;
  }
}

constexpr std::string_view kSlurmd = "slurmd.service";

/// A slurmd that was started by hand, from an init script or in a container: its limits are what jobs get, too.
void find_slurmd(const Host& host, LoginFacts& facts) {
  const auto names = host.list("/proc");
  if (!names) return;
  for (const std::string& name : *names) {
    const auto pid = parse_u64(name);
    if (!pid) continue;
    const auto comm = host.read(fmt::format("/proc/{}/comm", *pid));
    if (!comm || trim(*comm) != "slurmd") continue;
    Process process = collect_process(host, static_cast<std::int64_t>(*pid));
    if (process.memlock.known()) facts.daemons.emplace(std::string(kSlurmd), std::move(process));
  }
}

void collect_slurm_of(const Host& host, const LoginQuestion& question, LoginFacts& facts) {
  if (facts.live && !facts.daemons.contains(std::string(kSlurmd))) find_slurmd(host, facts);
  const auto running = facts.daemons.find(std::string(kSlurmd));
  const auto package = facts.packages.versions.find(kSlurmPackage);
  SlurmQuestion slurm;
  if (running != facts.daemons.end()) slurm.slurmd_cmdline = running->second.cmdline;
  if (package != facts.packages.versions.end()) slurm.version = package->second.value.value_or("");
  slurm.file = question.slurm_conf;
  facts.slurm = collect_slurm(host, slurm);
}

/// Whom the service runs as, whoever asks; a unit that is not there runs as nobody.
std::string user_of_unit(const LoginQuestion& question, const LoginFacts& facts) {
  for (const std::string& name : question.units) {
    const auto unit = facts.units.find(name);
    if (unit == facts.units.end() || !unit->second.fragment.known()) continue;
    if (unit->second.user.known()) return *unit->second.user;
    return unit->second.dynamic_user ? name.substr(0, name.rfind('.')) : "root";
  }
  return question.user;
}

}  // namespace

LoginFacts collect_login_machine(const Host& host) {
  LoginFacts facts;
  facts.live = host.live();
  facts.distro = collect_distribution(host, facts.problems);
  facts.kernel = collect::read_line(host, "/proc/sys/kernel/osrelease", facts.problems);
  facts.packages = collect_packages(host, facts.distro, facts.problems);
  collect_pid1(host, facts);
  facts.limits = collect_limits(host);
  facts.pam = collect_pam(host);
  collect_named_limits(host, facts);
  facts.sshd = collect_sshd(host);
  facts.system_manager = collect_manager(host);
  facts.user_manager = collect_manager(host, true);
  facts.sudoers = collect_sudoers(host);
  if (facts.live) facts.self = collect_process(host, ::getpid());
  return facts;
}

void add_question(const Host& host, const LoginQuestion& question, LoginFacts& facts) {
  // Looking for a unit's aliases reads every link beside it, so the other names are asked for only where they matter.
  for (const std::string& unit : question.units) {
    facts.units[unit] = collect_unit(host, unit);
    if (facts.units[unit].fragment.known()) break;
  }
  for (const std::string& unit : question.user_units) facts.user_units[unit] = collect_unit(host, unit, true);
  if (question.ssh) collect_per_connection(host, facts);
  const std::string user = question.user_of_unit ? user_of_unit(question, facts) : question.user;
  if (!user.empty()) facts.account = collect_account(host, user);
  if (question.user_manager && facts.account.known()) {
    const std::string unit = user_manager_unit(*facts.account);
    facts.units[unit] = collect_unit(host, unit);
  }
  if (facts.live) collect_daemons(host, question, facts);
  if (question.slurm) collect_slurm_of(host, question, facts);
}

LoginFacts collect_login(const Host& host, const LoginQuestion& question) {
  LoginFacts facts = collect_login_machine(host);
  add_question(host, question, facts);
  return facts;
}

namespace {

void add_limits_file(const ConfigFile& file, Facts& machine) {
  if (!file.known() && file.missing != Missing::kAbsent && file.missing != Missing::kNotAsked)
    machine.limits_conf_unread = file.source.path;
  if (!file.known()) return;
  for (const ConfigLine& line : *file) {
    const std::string_view text = std::string_view(line.text).substr(0, line.text.find('#'));
    const auto words = split_blanks(text);
    if (words.size() < 4 || !iequals(words[2], "memlock")) continue;
    const auto value_at = static_cast<std::size_t>(words[3].data() - text.data());
    machine.limits_conf.push_back({std::string(words[0]), std::string(words[1]), std::string(words[2]),
                                   std::string(text.substr(value_at)), line.source});
  }
}

}  // namespace

void add_login_facts(const LoginFacts& login, Facts& machine) {
  if (!machine.sshd_usepam.known()) machine.sshd_usepam = login.sshd.use_pam;
  add_limits_file(login.limits.main.known() ? login.limits.main : login.limits.vendor, machine);
  for (const ConfigFile& file : login.limits.drop_ins) add_limits_file(file, machine);
  for (const auto& [name, unit] : login.units) {
    if (unit.memlock.known())
      machine.units.push_back({name, *unit.memlock, unit.memlock.source, unit.memlock_newer_than_service});
    const Fact<MemlockLimit>& by_default = login.system_manager.default_memlock;
    if (!unit.memlock.known() && by_default.known() && unit.memlock_newer_than_service == true)
      machine.units.push_back({name, *by_default, by_default.source, true});
  }
}

}  // namespace pindown
