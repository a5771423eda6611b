// SPDX-License-Identifier: Apache-2.0
// See predict.h. A session is a value that walks down the chain: what starts it, what PAM makes of it, what comes last.
#include "model/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "model/pam_limits.h"
#include "model/pam_session.h"
#include "model/service_limit.h"

namespace pindown {
namespace {

struct EntryRow {
  std::string_view name;
  EntryKind kind;
  bool login_shell;
};
constexpr std::array<EntryRow, 12> kEntries = {{
    {"ssh", EntryKind::kSsh, false},
    {"login", EntryKind::kLogin, false},
    {"su", EntryKind::kSu, false},
    {"su-l", EntryKind::kSu, true},
    {"sudo", EntryKind::kSudo, false},
    {"sudo-i", EntryKind::kSudo, true},
    {"runuser", EntryKind::kRunuser, false},
    {"runuser-l", EntryKind::kRunuser, true},
    {"cron", EntryKind::kCron, false},
    {"at", EntryKind::kAt, false},
    {"service", EntryKind::kService, false},
    {"user-service", EntryKind::kUserService, false},
}};

bool is_unit_name(std::string_view name) {
  return !name.empty() && name.size() < 256 && name[0] != '.' &&
         std::ranges::all_of(name, [](char c) { return is_alnum(c) || contains(":-_.\\@", std::string_view(&c, 1)); });
}

std::string with_suffix(std::string_view unit) {
  return unit.empty() || unit.ends_with(".service") ? std::string(unit) : std::string(unit) + ".service";
}

std::string known_entries() {
  std::string names;
  for (const EntryRow& row : kEntries) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

/// Names differ between families of distributions; the first one that exists counts.
std::vector<std::string> units_of(const Entry& entry) {
  switch (entry.kind) {
    case EntryKind::kSsh:
      return {"ssh.service", "sshd.service"};
    case EntryKind::kLogin:
      return {"getty@tty1.service"};
    case EntryKind::kCron:
      return {"cron.service", "crond.service"};
    case EntryKind::kAt:
      return {"atd.service"};
    case EntryKind::kService:
      return {entry.unit.empty() ? "pindown-without-settings.service" : entry.unit};
    default:
      return {};
  }
}

std::vector<std::string> daemons_of(const Entry& entry, const LoginFacts& facts) {
  if (entry.kind == EntryKind::kSsh && !facts.per_connection.empty()) return {facts.per_connection};
  if (entry.kind != EntryKind::kUserService) return units_of(entry);
  if (!facts.account.known()) return {};
  return {user_manager_unit(*facts.account)};
}

/// The session as far as it has come.
struct Walk {
  explicit Walk(const LoginFacts& f) : facts(f) {}
  const LoginFacts& facts;
  MemlockLimit now;
  std::optional<bool> cap;
  Source decided;
  std::vector<TrailLink> links;
  std::vector<std::string> unknown;
  std::vector<std::string> assumed;
  bool start_is_assumed = false;  // systemd's default, by a version that nobody read
  bool refused = false;
  std::string refused_why;

  void refuse(Source by, std::string why) {
    refused = true;
    decided = std::move(by);
    refused_why = std::move(why);
  }
  void miss(std::string what) {
    if (std::ranges::find(unknown, what) == unknown.end()) unknown.push_back(std::move(what));
  }
  /// The answer depends on a version that nobody read.
  void assume(std::string_view what, std::string_view version) {
    std::string line =
        fmt::format("{} {} is what {} have; the package was not read, and another version could change this", what,
                    version, facts.packages.derived_from);
    if (std::ranges::find(assumed, line) == assumed.end()) assumed.push_back(std::move(line));
  }
  bool derived() const { return !facts.packages.derived_from.empty(); }
};

bool same(const MemlockLimit& a, const MemlockLimit& b) {
  return a.soft == b.soft && a.hard == b.hard;
}

void add_link(Walk& walk, std::string name, std::int64_t pid, const MemlockLimit& limit, const Source& source,
              std::string note) {
  TrailLink link;
  link.name = std::move(name);
  link.pid = pid;
  link.soft = limit.soft;
  link.hard = limit.hard;
  link.set_here = walk.links.empty() || !same(limit, walk.now);
  link.source = source.path;
  link.text = source.text;
  link.note = std::move(note);
  if (link.set_here) walk.decided = source;
  walk.now = limit;
  walk.links.push_back(std::move(link));
}

std::string version_text(const LoginFacts& facts, const char* package) {
  const auto& versions = facts.packages.versions;
  const auto at = versions.find(package);
  return at != versions.end() && at->second.known() ? *at->second : std::string();
}

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

/// The name of the PAM service as the program asks for it.
std::string pam_service(const Entry& entry, const LoginFacts& facts) {
  const auto is_there = [&facts](const std::string& name) {
    const auto at = facts.pam.services.find(name);
    return at != facts.pam.services.end() && at->second.known();
  };
  switch (entry.kind) {
    case EntryKind::kSsh:
      return facts.sshd.pam_service.value.value_or("sshd");
    case EntryKind::kLogin:
      return "login";
    case EntryKind::kSu:
      return entry.login_shell ? "su-l" : "su";
    case EntryKind::kSudo:
      return entry.login_shell && is_there("sudo-i") ? "sudo-i" : "sudo";
    case EntryKind::kRunuser:
      return entry.login_shell ? "runuser-l" : "runuser";
    case EntryKind::kCron:
      return is_there("crond") && !is_there("cron") ? "crond" : "cron";
    case EntryKind::kAt:
      return "atd";
    case EntryKind::kUserService:
      return "systemd-user";
    case EntryKind::kService:
      return {};
  }
  return {};
}

bool may_raise(const LoginFacts& facts) {
  const auto& bounding = facts.pid1_caps.known() ? facts.pid1_caps->bounding : std::optional<std::uint64_t>();
  return !bounding || has_cap(*bounding, kCapSysResource);
}

std::string distro_ids(const Distribution& distro) {
  return fmt::format("{} {}", distro.id.value.value_or(""), distro.id_like);
}

/// All but runuser call pam_acct_mgmt before they open the session (util-linux login-utils/su-common.c
/// supam_authenticate(), sshd auth-pam.c, sudo plugins/sudoers/auth/pam.c, systemd src/core/execute.c setup_pam()).
bool asks_account(std::string_view service) {
  return service != "runuser" && service != "runuser-l";
}

PamOutcome outcome_of(const Walk& walk, const std::string& service, const PamVersion& version, const Account& user) {
  const LoginFacts& facts = walk.facts;
  const PamOpening opening{facts.pam, facts.limits,     facts.named_limits, version,
                           walk.now,  facts.pid1.value, may_raise(facts),   asks_account(service)};
  return derive_pam_outcome(opening, service, user);
}

PamOutcome outcome_of(const Walk& walk, const std::string& service, const PamVersion& version) {
  return outcome_of(walk, service, version, *walk.facts.account);
}

bool same_answer(const PamOutcome& a, const PamOutcome& b) {
  return a.limits.soft == b.limits.soft && a.limits.hard == b.limits.hard && a.limits.refused == b.limits.refused &&
         a.limits.decided_by.path == b.limits.decided_by.path && a.session.unknown == b.session.unknown &&
         a.limits.unknown == b.limits.unknown;
}

/// The groups that lines of `file` are for: "@hpc", "%hpc".
void add_groups_named(const ConfigFile& file, std::vector<std::pair<std::string, std::string>>& groups) {
  constexpr std::size_t kMost = 1000;
  if (!file) return;
  for (const ConfigLine& line : *file) {
    const auto words = split_blanks(std::string_view(line.text).substr(0, 1000));
    if (words.empty() || words[0].size() < 2 || (words[0][0] != '@' && words[0][0] != '%')) continue;
    if (groups.size() < kMost) groups.emplace_back(words[0].substr(1), line.source.path);
  }
}

/// The user may be in groups of a name service that was not asked: said where a line of limits.conf is for such a group
/// and would change the answer.
void doubt_groups(Walk& walk, const std::string& service, const PamVersion& version, const PamOutcome& outcome) {
  const Account& user = *walk.facts.account;
  if (user.groups_elsewhere.empty()) return;
  std::vector<std::pair<std::string, std::string>> named;
  add_groups_named(walk.facts.limits.main, named);
  add_groups_named(walk.facts.limits.vendor, named);
  for (const ConfigFile& file : walk.facts.limits.drop_ins) add_groups_named(file, named);
  for (const auto& [group, place] : named) {
    Account member = user;
    member.groups.emplace_back(group, ~std::uint32_t{0} - 1);
    if (same_answer(outcome, outcome_of(walk, service, version, member))) continue;
    walk.assumed.push_back(
        fmt::format("{} is taken not to be in the group {} ({}): /etc/group does not have it, and {}, which "
                    "/etc/nsswitch.conf names too, was not asked",
                    user.name, group, place, user.groups_elsewhere));
    return;
  }
}

/// What the installed version makes of the session. A version that nobody read matters only if others would make
/// something else of it; one that is not known at all is no obstacle where all agree.
std::optional<PamOutcome> open_with_version(Walk& walk, const std::string& service) {
  const std::string ids = distro_ids(walk.facts.distro);
  const std::string installed = version_text(walk.facts, kPamPackage);
  const auto version = pam_version(installed, ids);
  if (version && !walk.derived()) {
    PamOutcome outcome = outcome_of(walk, service, *version);
    doubt_groups(walk, service, *version, outcome);
    return outcome;
  }
  const std::vector<PamVersion> others = pam_versions(ids);
  PamOutcome outcome = outcome_of(walk, service, version.value_or(others.front()));
  const bool all_agree = std::ranges::all_of(
      others, [&](const PamVersion& other) { return same_answer(outcome, outcome_of(walk, service, other)); });
  if (!all_agree && !version) return std::nullopt;
  if (!all_agree) walk.assume("PAM", installed);
  doubt_groups(walk, service, version.value_or(others.front()), outcome);
  return outcome;
}

/// The stack without pam_limits is what decided where pam_limits would have made another limit of it.
void skip_limits(Walk& walk, const std::string& service, const PamSession& session) {
  const LoginFacts& facts = walk.facts;
  const auto file = facts.pam.services.find(session.service);
  const Source stack = file == facts.pam.services.end() ? Source{} : Source{file->second.source.path, {}};
  add_link(walk, fmt::format("{} ({})", kPamWithoutLimits, service), 0, walk.now, stack,
           "no pam_limits in its session stack");
  const auto version = pam_version(version_text(facts, kPamPackage), distro_ids(facts.distro));
  if (!version || !session.unknown.empty()) return;
  const SessionLimits would = derive_pam_limits({}, facts.limits, nullptr, *facts.account, *version, walk.now,
                                                facts.pid1.value, may_raise(facts));
  if (would.soft && !same(walk.now, {would.soft, would.hard})) walk.decided = stack;
}

void open_pam_session(Walk& walk, const std::string& service) {
  const LoginFacts& facts = walk.facts;
  if (!facts.account.known()) {
    walk.miss(fmt::format("the user is not in /etc/passwd ({}): groups and uid are not known",
                          missing_name(facts.account.missing)));
    walk.now = {};
    return;
  }
  const auto opened = open_with_version(walk, service);
  if (!opened) {
    walk.miss("the version of PAM: it decides how limits.conf is read");
    walk.now = {};
    return;
  }
  const PamOutcome& outcome = *opened;
  for (const auto* unknown : {&outcome.session.unknown, &outcome.limits.unknown}) {
    for (const std::string& each : *unknown) walk.miss(each);
  }
  if (outcome.session.refused || outcome.limits.refused) {
    walk.refuse(outcome.limits.refused_by, outcome.session.why.empty() ? outcome.limits.why : outcome.session.why);
    return;
  }
  if (outcome.session.calls.empty() && !outcome.session.unknown.empty()) {
    walk.now = {};  // whether pam_limits is reached is what is not known
    return;
  }
  if (outcome.session.calls.empty()) {
    return skip_limits(walk, service, outcome.session);
  }
  const SessionLimits& limits = outcome.limits;
  if (!limits.soft || !limits.hard) walk.miss(limits.why.empty() ? "what pam_limits starts from" : limits.why);
  const Source& stack_line = outcome.session.calls.back().source;
  const bool set = !limits.decided_by.path.empty();
  add_link(walk, fmt::format("pam_limits ({})", service), 0, {limits.soft, limits.hard},
           set ? limits.decided_by : stack_line, limits.why);
  if (set) walk.decided = limits.decided_by;
}

/// UsePAM no is what decided where PAM would have made another limit of it.
void skip_pam_of_sshd(Walk& walk) {
  Walk with_pam = walk;
  open_pam_session(with_pam, pam_service({.kind = EntryKind::kSsh}, walk.facts));
  const bool would_differ = with_pam.unknown.size() == walk.unknown.size() && !same(with_pam.now, walk.now);
  add_link(walk, "sshd without PAM", 0, walk.now, walk.facts.sshd.use_pam.source, "limits.conf is not read");
  if (would_differ) walk.decided = walk.facts.sshd.use_pam.source;
}

void open_ssh_session(Walk& walk) {
  const SshdConf& sshd = walk.facts.sshd;
  if (sshd.refuses) {
    walk.refuse(*sshd.refuses, fmt::format("sshd does not start: {}", sshd.why));
    return;
  }
  for (const std::string& problem : sshd.problems) walk.miss(problem);
  if (!sshd.use_pam.known()) {
    walk.miss(fmt::format("{}: whether sshd uses PAM is not known", sshd.file));
    walk.now = {};
    return;
  }
  if (!*sshd.use_pam) return skip_pam_of_sshd(walk);
  open_pam_session(walk, pam_service({.kind = EntryKind::kSsh}, walk.facts));
}

void apply_sudoers(Walk& walk) {
  if (!walk.facts.sudoers.known()) {
    if (walk.facts.sudoers.missing == Missing::kDenied)
      walk.miss("/etc/sudoers cannot be read: it can set rlimit_memlock");
    return;
  }
  const SudoersLimit& limit = *walk.facts.sudoers;
  if (limit.from_user || (!limit.soft && !limit.hard)) return;
  MemlockLimit next = walk.now;
  if (limit.soft) next.soft = limit.soft;
  if (limit.hard) next.hard = limit.hard;
  add_link(walk, "sudoers", 0, next, walk.facts.sudoers.source, "rlimit_memlock");
}

/// A user's service: the manager's default, else what the manager has; never above the manager's hard limit.
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

bool names_ipc_lock(std::string_view value) {
  return icontains(value, "CAP_IPC_LOCK");
}

/// What the unit takes from root or gives to others; the last assignments of systemd.exec(5)'s lists are enough here,
/// because only one capability is asked for.
std::optional<bool> capability_of_service(const UnitFile& unit, bool root) {
  bool bounded_out = false;
  bool ambient = false;
  for (const UnitAssignment& line : unit.capabilities) {
    const bool inverted = line.value.starts_with("~");
    if (line.key == "CapabilityBoundingSet")
      bounded_out = names_ipc_lock(line.value) == inverted && !line.value.empty();
    if (line.key == "AmbientCapabilities" && !inverted) ambient = ambient || names_ipc_lock(line.value);
    if (line.key == "PrivateUsers" && line.value != "no" && line.value != "false") return false;
  }
  if (bounded_out) return false;
  return root || ambient;
}

std::optional<bool> capability(const Entry& entry, const LoginFacts& facts) {
  if (facts.pid1_caps.known() && facts.pid1_caps->bounding && !has_cap(*facts.pid1_caps->bounding, kCapIpcLock))
    return false;
  if (entry.kind == EntryKind::kService) {
    const auto unit = facts.units.find(entry.unit);
    if (unit == facts.units.end() || !unit->second.fragment.known()) return std::nullopt;
    const bool root = !unit->second.user.known() || *unit->second.user == "root" || *unit->second.user == "0";
    return capability_of_service(unit->second, root);
  }
  if (!facts.account.known()) return std::nullopt;
  return facts.account->uid == 0;
}

void open_session(Walk& walk, const Entry& entry) {
  switch (entry.kind) {
    case EntryKind::kSsh:
      return open_ssh_session(walk);
    case EntryKind::kService: {
      const auto unit = walk.facts.units.find(entry.unit);
      if (unit != walk.facts.units.end() && unit->second.pam_name.known())
        open_pam_session(walk, *unit->second.pam_name);
      return;
    }
    case EntryKind::kSudo:
      open_pam_session(walk, pam_service(entry, walk.facts));
      return apply_sudoers(walk);
    case EntryKind::kUserService:
      open_pam_session(walk, pam_service(entry, walk.facts));
      return start_user_service(walk, entry);
    default:
      return open_pam_session(walk, pam_service(entry, walk.facts));
  }
}

std::string user_name(const LoginFacts& facts) {
  return facts.account.known() ? facts.account->name : std::string();
}

void start_from_caller(Walk& walk, const std::optional<Entry>& caller, const LoginFacts* caller_facts) {
  if (caller && caller_facts != nullptr) {
    const Prediction start = derive_prediction(*caller, *caller_facts, std::nullopt, nullptr);
    walk.links = start.links;
    walk.now = {start.soft, start.hard};
    walk.decided = {start.decided_by.source, start.decided_by.text};
    for (const std::string& each : start.unknown) walk.miss(each);
    walk.assumed = start.assumed;
    return;
  }
  const Process& self = walk.facts.self;
  if (walk.facts.live && self.memlock.known()) {
    add_link(walk, "the caller", self.where.pid.value_or(0), *self.memlock, self.memlock.source, walk.facts.self_is);
  }
}

/// systemd's default is still what the session has, in one of its two values.
bool keeps_start(const Walk& walk) {
  if (walk.links.empty()) return false;
  const TrailLink& start = walk.links.front();
  return walk.now.soft == start.soft || walk.now.hard == start.hard;
}

Prediction conclude(Walk& walk, const Entry& entry) {
  if (walk.start_is_assumed && keeps_start(walk)) walk.assume("systemd", version_text(walk.facts, kSystemdPackage));
  Prediction out;
  out.entry = entry.name;
  out.user = user_name(walk.facts);
  out.links = walk.links;
  out.refused = walk.refused;
  out.refused_why = walk.refused_why;
  out.unknown = walk.unknown;
  out.assumed = walk.assumed;
  out.decided_by = {walk.decided.path, walk.decided.text, {}};
  if (walk.refused) return out;
  out.soft = walk.now.soft;
  out.hard = walk.now.hard;
  out.cap_ipc_lock = capability(entry, walk.facts);
  const bool unexplained = (!out.soft || !out.hard) && out.unknown.empty();
  if (unexplained) out.unknown.push_back("what calls it is not known: give --from, for instance --from ssh:alice");
  return out;
}

}  // namespace

std::expected<Entry, std::string> parse_entry(std::string_view text) {
  const auto colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  for (const EntryRow& row : kEntries) {
    if (row.name != name) continue;
    Entry entry{row.kind, row.login_shell, {}, {}, std::string(text)};
    const bool takes_unit = row.kind == EntryKind::kService || row.kind == EntryKind::kUserService;
    if (colon == text.npos) {
      if (row.kind == EntryKind::kService) return std::unexpected("service needs a name: service:slurmd");
      return entry;
    }
    const std::string_view unit = text.substr(colon + 1);
    if (!takes_unit || !is_unit_name(unit)) return std::unexpected(fmt::format("{}: not the name of a unit", text));
    entry.unit = with_suffix(unit);
    return entry;
  }
  return std::unexpected(fmt::format("no entry point is called {}; there are {}", name, known_entries()));
}

std::expected<Entry, std::string> parse_caller(std::string_view text) {
  if (text == "service") return Entry{EntryKind::kService, false, {}, {}, "service"};
  const auto colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  if (name == "service" || name == "user-service") return parse_entry(text);
  auto entry = parse_entry(name);
  if (entry && colon != text.npos) entry->user = text.substr(colon + 1);
  return entry;
}

bool starts_from_caller(EntryKind kind) {
  return kind == EntryKind::kSu || kind == EntryKind::kSudo || kind == EntryKind::kRunuser;
}

LoginQuestion question_of(const Entry& entry, std::string_view user) {
  LoginQuestion question;
  question.user = user;
  question.units = units_of(entry);
  question.user_manager = entry.kind == EntryKind::kUserService;
  question.ssh = entry.kind == EntryKind::kSsh;
  if (entry.kind == EntryKind::kUserService && !entry.unit.empty()) question.user_units.push_back(entry.unit);
  return question;
}

Prediction derive_prediction(const Entry& entry, const LoginFacts& facts, const std::optional<Entry>& caller,
                             const LoginFacts* caller_facts) {
  Walk walk(facts);
  if (starts_from_caller(entry.kind)) {
    start_from_caller(walk, caller, caller_facts);
  } else {
    start_from_unit(walk, entry, daemons_of(entry, facts));
  }
  open_session(walk, entry);
  return conclude(walk, entry);
}

}  // namespace pindown
