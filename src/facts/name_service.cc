// SPDX-License-Identifier: Apache-2.0
// See name_service.h.
#include "facts/name_service.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include "base/text.h"
#include "facts/read_config.h"
#include "host/helper.h"

namespace pindown {
namespace {

constexpr std::size_t kMaxBytes = 1U << 20;
constexpr std::array<std::string_view, 6> kLocal = {"files", "compat", "systemd", "db", "altfiles", "extrausers"};

/// "1000(alice)", "4999": number and name; what follows stays in `text`.
std::optional<std::pair<std::string, std::uint32_t>> take_identity(std::string_view& text) {
  const auto number = parse_u64(take_digits(text));
  if (!number || *number > 0xffffffffU) return std::nullopt;
  std::pair<std::string, std::uint32_t> identity{{}, static_cast<std::uint32_t>(*number)};
  if (!consume(text, "(")) return identity;
  // A name may hold brackets: it ends where the next field begins.
  std::size_t end = text.find(')');
  while (end != text.npos && end + 1 < text.size() && text[end + 1] != ',' && text[end + 1] != ' ') {
    end = text.find(')', end + 1);
  }
  if (end == text.npos) return std::nullopt;
  identity.first = text.substr(0, end);
  text.remove_prefix(end + 1);
  return identity;
}

void add_group(Account& account, std::pair<std::string, std::uint32_t> group) {
  if (group.second == account.gid) return;
  account.groups.push_back(std::move(group));
}

/// "[NOTFOUND=return]", blanks inside too, says what to do after a service; it is none.
std::string without_actions(std::string_view services) {
  std::string out;
  bool inside = false;
  for (const char c : services) {
    inside = inside || c == '[';
    if (!inside) out += c;
    inside = inside && c != ']';
  }
  return out;
}

}  // namespace

std::string other_name_services(const Host& host, std::string_view database) {
  std::vector<std::string> ignored;
  const Fact<std::string> text = read_text(host, "/etc/nsswitch.conf", kMaxBytes, ignored);
  if (!text) return {};
  std::string others;
  for (const ConfigLine& line : split_lines(*text, "/etc/nsswitch.conf")) {
    std::string_view rest = std::string_view(line.text).substr(0, line.text.find('#'));
    rest = trim(rest);
    if (!consume(rest, database) || !consume(rest, ":")) continue;
    others.clear();
    const std::string services = without_actions(rest);
    for (const std::string_view word : split_blanks(services)) {
      if (std::ranges::find(kLocal, word) != kLocal.end()) continue;
      others += others.empty() ? "" : " ";
      others += word;
    }
  }
  return others;
}

std::optional<Account> parse_id_line(std::string_view line) {
  line = trim(line);
  if (!consume(line, "uid=")) return std::nullopt;
  const auto user = take_identity(line);
  if (!user || user->first.empty() || !consume(line, " gid=")) return std::nullopt;
  const auto primary = take_identity(line);
  if (!primary) return std::nullopt;
  Account account{user->first, user->second, primary->second, {*primary}};
  if (!consume(line, " groups=")) return account;
  do {
    auto group = take_identity(line);
    if (!group) return std::nullopt;
    add_group(account, std::move(*group));
  } while (consume(line, ","));
  return account;
}

std::optional<Account> ask_id(const Host& host, std::string_view user) {
  static bool silent = false;
  if (!host.live() || silent || user.empty() || user.starts_with('-')) return std::nullopt;
  const auto printed = run_system_program("/usr/bin/id", {"--", std::string(user)}, std::chrono::seconds(2), 1U << 20);
  silent = !printed;
  return printed ? parse_id_line(*printed) : std::nullopt;
}

}  // namespace pindown
