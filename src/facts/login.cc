// SPDX-License-Identifier: Apache-2.0
// See login.h. Versions come from dpkg's status file; rpm's database is not text, so there they stay unknown.
#include "facts/login.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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

/// The paragraph of an installed package, deb822: "Package:" first, then "Status: install ok installed", "Version: …".
Fact<std::string> package_version(std::string_view status, std::string_view name) {
  constexpr std::string_view kPath = "/var/lib/dpkg/status";
  const std::string head = fmt::format("Package: {}\n", name);
  for (std::size_t at = status.find(head); at != status.npos; at = status.find(head, at + 1)) {
    if (at > 0 && status[at - 1] != '\n') continue;
    const std::string_view paragraph = status.substr(at, status.find("\n\n", at) - at);
    const std::string_view state = line_of(paragraph, "Status: ");
    const std::string_view version = line_of(paragraph, "Version: ");
    if (!state.ends_with(" installed") || version.empty()) continue;
    const std::string text = fmt::format("{} {}", name, version.substr(9));
    return Fact<std::string>::of(std::string(version.substr(9)), {std::string(kPath), text});
  }
  return Fact<std::string>::none(Missing::kAbsent, std::string(kPath));
}

void collect_packages(const Host& host, LoginFacts& facts) {
  static constexpr std::array<const char*, 5> kNames = {"libpam-modules", "systemd", "openssh-server", "sudo",
                                                        "util-linux"};
  constexpr std::size_t kMostBytes = 64U << 20;
  const auto status = host.read("/var/lib/dpkg/status", kMostBytes);
  for (const char* name : kNames) {
    facts.packages[name] = status ? package_version(*status, name)
                                  : Fact<std::string>::none(missing_of(status.error().kind), "/var/lib/dpkg/status");
  }
  if (!status) note_problem(facts.problems, status.error());
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

/// "0::/system.slice/ssh.service" → "ssh.service": the last part that is a unit.
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

LoginFacts collect_login_configuration(const Host& host, const std::vector<std::string>& units) {
  LoginFacts facts;
  facts.live = host.live();
  facts.limits = collect_limits(host);
  facts.sshd = collect_sshd(host);
  facts.system_manager = collect_manager(host);
  for (const std::string& unit : units) facts.units[unit] = collect_unit(host, unit);
  return facts;
}

LoginFacts collect_login(const Host& host, const LoginQuestion& question) {
  LoginFacts facts;
  facts.live = host.live();
  facts.distro = collect_distribution(host, facts.problems);
  facts.kernel = collect::read_line(host, "/proc/sys/kernel/osrelease", facts.problems);
  collect_packages(host, facts);
  collect_pid1(host, facts);
  facts.limits = collect_limits(host);
  facts.pam = collect_pam(host);
  collect_named_limits(host, facts);
  facts.sshd = collect_sshd(host);
  facts.system_manager = collect_manager(host);
  facts.user_manager = collect_manager(host, true);
  facts.sudoers = collect_sudoers(host);
  for (const std::string& unit : question.units) facts.units[unit] = collect_unit(host, unit);
  for (const std::string& unit : question.user_units) facts.user_units[unit] = collect_unit(host, unit, true);
  if (!question.user.empty()) facts.account = collect_account(host, question.user);
  if (question.user_manager && facts.account.known()) {
    const std::string unit = user_manager_unit(*facts.account);
    facts.units[unit] = collect_unit(host, unit);
  }
  if (!facts.live) return facts;
  collect_daemons(host, question, facts);
  facts.self = collect_process(host, ::getpid());
  return facts;
}

namespace {

void add_limits_file(const ConfigFile& file, Facts& machine) {
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
    if (unit.memlock.known()) machine.units.push_back({name, *unit.memlock, unit.memlock.source});
  }
}

}  // namespace pindown
