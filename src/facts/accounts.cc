// SPDX-License-Identifier: Apache-2.0
// Users and groups from /etc/passwd and /etc/group. Entry point: collect_account.
#include "facts/accounts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "facts/name_service.h"
#include "facts/read_config.h"

namespace pindown {
namespace {

constexpr std::size_t kMaxAccountBytes = 64U << 20;

std::optional<std::uint32_t> parse_id(std::string_view text) {
  const auto number = parse_u64(text);
  if (!number || *number > 0xffffffffU) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

/// glibc's nss/nss_files/files-parse.c: leading blanks are skipped, '#' is a comment.
std::vector<std::string_view> fields_of(std::string_view line) {
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  if (line.empty() || line.front() == '#') return {};
  return split(line, ':');
}

std::optional<Account> account_of(const std::vector<std::string_view>& fields) {
  if (fields.size() < 4 || fields[0].empty() || fields[0][0] == '+' || fields[0][0] == '-') return std::nullopt;
  const auto uid = parse_id(fields[2]);
  const auto gid = parse_id(fields[3]);
  if (!uid || !gid) return std::nullopt;
  return Account{std::string(fields[0]), *uid, *gid, {}};
}

/// By name first, as getpwnam(3) would be asked first; a number that is nobody's name is a uid.
Fact<Account> find_account(std::string_view passwd, std::string_view user, std::string_view path) {
  Fact<Account> by_uid = Fact<Account>::none(Missing::kAbsent, std::string(path));
  const auto uid = parse_id(user);
  TextLines lines(passwd);
  for (std::string_view line; lines.next(line);) {
    auto account = account_of(fields_of(line));
    if (!account) continue;
    const bool named = account->name == user;
    if (!named && (by_uid || uid != account->uid)) continue;
    auto found =
        Fact<Account>::of(std::move(*account), {fmt::format("{}:{}", path, lines.number()), std::string(line), {}});
    if (named) return found;
    by_uid = std::move(found);
  }
  return by_uid;
}

struct Group {
  std::string_view name;
  std::uint32_t gid = 0;
  bool member = false;
};

template <class Visit>
void for_each_group(std::string_view text, std::string_view user, Visit visit) {
  TextLines lines(text);
  for (std::string_view line; lines.next(line);) {
    const auto fields = fields_of(line);
    if (fields.size() < 3 || fields[0].empty() || fields[0][0] == '+' || fields[0][0] == '-') continue;
    const auto gid = parse_id(fields[2]);
    if (!gid) continue;
    const auto members = fields.size() > 3 ? split(fields[3], ',') : std::vector<std::string_view>();
    visit(Group{fields[0], *gid, std::find(members.begin(), members.end(), user) != members.end()});
  }
}

constexpr std::size_t kMaxGroups = 65'536;  // NGROUPS_MAX, include/uapi/linux/limits.h

void add_groups(Account& account, std::string_view text) {
  std::set<std::uint32_t> gids = {account.gid};
  for_each_group(text, account.name, [&](const Group& group) {
    if (group.member && gids.size() < kMaxGroups) gids.insert(group.gid);
  });
  // getgrnam(3) answers with the first of a name; a later one of the same name is never found by it.
  std::set<std::string_view> wanted, seen;
  for_each_group(text, account.name, [&](const Group& group) {
    if (gids.contains(group.gid) && wanted.size() < kMaxGroups) wanted.insert(group.name);
  });
  account.groups = {{std::string(), account.gid}};
  for_each_group(text, account.name, [&](const Group& group) {
    if (!wanted.contains(group.name) || !seen.insert(group.name).second || !gids.contains(group.gid)) return;
    if (group.gid == account.gid && account.groups[0].first.empty()) {
      account.groups[0].first = group.name;
    } else {
      account.groups.emplace_back(group.name, group.gid);
    }
  });
}

}  // namespace

namespace {

Fact<Account> account_in_files(const Host& host, std::string_view user) {
  std::vector<std::string> ignored;
  const Fact<std::string> passwd = read_text(host, "/etc/passwd", kMaxAccountBytes, ignored);
  if (!passwd) return Fact<Account>::none(passwd.missing, "/etc/passwd");
  Fact<Account> account = find_account(*passwd, user, "/etc/passwd");
  if (!account) return account;
  const Fact<std::string> group = read_text(host, "/etc/group", kMaxAccountBytes, ignored);
  // Without the groups nobody can say which lines apply; without the file there are none.
  if (!group && group.missing != Missing::kAbsent) return Fact<Account>::none(group.missing, "/etc/group");
  add_groups(*account.value, group ? std::string_view(*group) : std::string_view());
  return account;
}

}  // namespace

Fact<Account> collect_account(const Host& host, std::string_view user) {
  Fact<Account> account = account_in_files(host, user);
  const bool may_be_elsewhere = account.known() || account.missing == Missing::kAbsent;
  const std::string others = may_be_elsewhere ? other_name_services(host, account ? "group" : "passwd") : std::string();
  if (others.empty()) return account;
  if (auto asked = ask_id(host, user)) return Fact<Account>::of(std::move(*asked), {fmt::format("id {}", user), {}});
  if (account) account.value->groups_elsewhere = others;
  return account;
}

}  // namespace pindown
