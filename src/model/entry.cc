// SPDX-License-Identifier: Apache-2.0
// See entry.h.
#include "model/entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace pindown {
namespace {

struct EntryRow {
  std::string_view name;
  EntryKind kind;
  bool login_shell;
};
constexpr std::array<EntryRow, 13> kEntries = {{
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
    {"slurm", EntryKind::kSlurm, false},
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
    case EntryKind::kSlurm:
      return {"slurmd.service"};
    default:
      return {};
  }
}

}  // namespace pindown
