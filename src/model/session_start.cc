// SPDX-License-Identifier: Apache-2.0
// See session_start.h.
#include "model/session_start.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace pindown {
namespace {

bool is_cluster_with(std::string_view word, char letter) {
  return word.size() > 1 && word[0] == '-' && word[1] != '-' && word.find(letter) != word.npos;
}

/// su, runuser: "-", "-l", "--login"; what stands behind -c is the command's.
bool asks_login_of_su(std::string_view cmdline) {
  for (const std::string_view word : split_blanks(cmdline)) {
    if (word == "-" || word == "--login" || is_cluster_with(word, 'l')) return true;
    if (word == "--command" || is_cluster_with(word, 'c')) return false;
  }
  return false;
}

/// sudo: "-i", "--login" before the command.
bool asks_login_of_sudo(std::string_view cmdline) {
  const auto words = split_blanks(cmdline);
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--login" || is_cluster_with(word, 'i')) return true;
    constexpr std::array<std::string_view, 8> kWithArgument = {"-u", "-g", "-p", "-C", "-D", "-h", "-R", "-T"};
    if (std::ranges::find(kWithArgument, word) != kWithArgument.end()) ++i;
    if (!word.starts_with('-')) return false;
  }
  return false;
}

std::optional<std::string_view> entry_of(const Process& process) {
  const std::string_view comm = process.comm;
  if (comm.starts_with("sshd")) return "ssh";
  if (comm == "su") return asks_login_of_su(process.cmdline) ? "su-l" : "su";
  if (comm == "runuser") return asks_login_of_su(process.cmdline) ? "runuser-l" : "runuser";
  if (comm == "sudo") return asks_login_of_sudo(process.cmdline) ? "sudo-i" : "sudo";
  if (comm == "cron" || comm == "crond") return "cron";
  if (comm == "atd") return "at";
  if (comm == "login") return "login";
  return std::nullopt;
}

}  // namespace

bool opens_own_session(std::string_view comm) {
  return comm == "su" || comm == "sudo" || comm == "runuser" || comm == "login";
}

bool opens_session_of_child(std::string_view comm) {
  return comm == "cron" || comm == "crond" || comm == "atd";
}

std::optional<SessionStart> derive_session_start(const std::vector<Process>& chain) {
  for (std::size_t i = 1; i < chain.size(); ++i) {
    const auto name = entry_of(chain[i]);
    if (!name) continue;
    const auto entry = parse_entry(*name);
    if (!entry) return std::nullopt;
    if (!starts_from_caller(entry->kind)) return SessionStart{*entry, nullptr};
    std::size_t above = i + 1;  // sudo keeps a process of its own between itself and the command
    while (above < chain.size() && chain[above].comm == chain[i].comm) ++above;
    // A service's own first process had the unit's limit before, which is not its manager's.
    const bool manager = above >= chain.size() || chain[above].where.pid == 1 || chain[above].comm == "systemd";
    return SessionStart{*entry, manager ? nullptr : &chain[above]};
  }
  return std::nullopt;
}

}  // namespace pindown
