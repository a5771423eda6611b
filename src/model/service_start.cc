// SPDX-License-Identifier: Apache-2.0
// See service_start.h.
#include "model/service_start.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/service_limit.h"

namespace pindown {
namespace {

const UnitFile* unit_called(const LoginFacts& facts, const std::vector<std::string>& names) {
  const UnitFile* first = nullptr;
  for (const std::string& name : names) {
    const auto at = facts.units.find(name);
    if (at == facts.units.end()) continue;
    if (at->second.fragment.known()) return &at->second;
    if (first == nullptr) first = &at->second;
  }
  return first;
}

/// What the running daemon has is what its children get, whatever the files say by now.
bool start_from_daemon(Walk& walk, const std::vector<std::string>& names, const ServiceLimit& configured) {
  for (const std::string& name : names) {
    const auto running = walk.facts.daemons.find(name);
    if (running == walk.facts.daemons.end()) continue;
    const Process& process = running->second;
    const bool stale =
        configured.soft && (process.memlock->soft != configured.soft || process.memlock->hard != configured.hard);
    add_link(walk, name, process.where.pid.value_or(0), *process.memlock, process.memlock.source,
             stale ? fmt::format("configured is {} now: restart {}", format_limit(*configured.soft), name) : "");
    if (!stale && !configured.decided_by.path.empty()) walk.decided = configured.decided_by;
    return true;
  }
  return false;
}

/// The running kernel's version; that of the release where the machine is not running.
std::string kernel_text(const LoginFacts& facts) {
  return facts.kernel.known() ? *facts.kernel : facts.packages.derived_kernel;
}

/// A service that nobody configured has no file here: what its type's drop-ins (service.d) say, and the defaults.
UnitFile without_settings(UnitFile unit) {
  unit.name = "a service";
  unit.fragment = Fact<std::string>::of("a service without LimitMEMLOCK", {});
  return unit;
}

}  // namespace

void start_from_unit(Walk& walk, const Entry& entry, const std::vector<std::string>& names) {
  const UnitFile* unit = unit_called(walk.facts, names);
  const bool nameless = entry.kind == EntryKind::kService && entry.unit.empty();
  const UnitFile plain = nameless && unit != nullptr ? without_settings(*unit) : UnitFile{};
  if (nameless && unit != nullptr) unit = &plain;
  if (unit == nullptr || !unit->fragment.known()) {
    const std::string name = names.empty() ? "the service" : names.front();
    const bool absent = unit == nullptr || unit->fragment.missing == Missing::kAbsent;
    walk.miss(absent ? fmt::format("{}: there is no such unit", name)
                     : fmt::format("{} could not be read", unit->fragment.source.path));
    return;
  }
  if (unit->refuses) walk.miss(fmt::format("{} is not loaded: {} ({})", unit->name, unit->why, unit->refuses->path));
  if (unit->masked) walk.miss(fmt::format("{} is masked: it does not start", unit->name));
  for (const std::string& problem : unit->problems) walk.miss(problem);
  const std::string systemd = version_text(walk.facts, kSystemdPackage);
  const ServiceLimit limit = derive_service_limit(*unit, walk.facts.system_manager, systemd, kernel_text(walk.facts));
  if (start_from_daemon(walk, names, limit)) return;
  if (!limit.soft || !limit.hard) walk.miss(limit.why);
  walk.start_is_assumed = limit.soft && limit.by_default && walk.derived();
  add_link(walk, unit->name, 0, {limit.soft, limit.hard}, limit.decided_by, limit.why);
}

void start_user_service(Walk& walk, const Entry& entry) {
  const LoginFacts& facts = walk.facts;
  const Fact<MemlockLimit>* chosen = &facts.user_manager.default_memlock;
  const auto unit = facts.user_units.find(entry.unit);
  if (unit != facts.user_units.end() && unit->second.memlock.known()) chosen = &unit->second.memlock;
  if (!chosen->known() || !walk.now.hard) return;
  MemlockLimit next = **chosen;
  if (next.soft) next.soft = std::min(*next.soft, *walk.now.hard);
  if (next.hard) next.hard = std::min(*next.hard, *walk.now.hard);
  add_link(walk, entry.unit.empty() ? "user.conf" : entry.unit, 0, next, chosen->source, "");
}

}  // namespace pindown
