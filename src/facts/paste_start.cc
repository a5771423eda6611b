// SPDX-License-Identifier: Apache-2.0
// Which of the commands typed at a prompt start something new: whatever is printed after one is not of the run before.
// Entry point: started_command. Must not: read what a command asks or sets (paste_command.cc).
#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/paste.h"
#include "facts/paste_internal.h"

namespace pindown {
namespace {

/// Commands that show a file, a log or a state, or set something for the shell: a run in the background, or the one
/// whose log is being read, may speak again after them.
constexpr std::array kLooks = {
    "cat",   "tail",      "head",    "less",     "more",        "grep",        "egrep",        "zgrep",      "zcat",
    "sed",   "awk",       "wc",      "watch",    "journalctl",  "logs",        "stern",        "dmesg",      "ls",
    "ll",    "lsmod",     "lspci",   "lscpu",    "lsof",        "ps",          "top",          "pgrep",      "pstree",
    "echo",  "export",    "unset",   "env",      "printenv",    "cd",          "pwd",          "ulimit",     "prlimit",
    "uname", "hostname",  "whoami",  "date",     "uptime",      "free",        "df",           "mount",      "ip",
    "ss",    "netstat",   "ethtool", "modinfo",  "modprobe",    "sysctl",      "systemctl",    "nvidia-smi", "rocm-smi",
    "rdma",  "show_gids", "ibstat",  "ibstatus", "ibv_devinfo", "ibv_devices", "ibdev2netdev", "scontrol",   "squeue",
    "sacct", "sinfo",     "inspect", "describe", "get",         "kill",        "pkill",        "vi",         "vim",
    "nano",  "git",       "pip",     "dpkg",     "rpm",         "apt",         "yum",          "dnf",        "history",
    "which", "sleep"};

bool looks_only(std::string_view word) {
  return std::ranges::find(kLooks, word.substr(word.rfind('/') + 1)) != kLooks.end();
}

/// Words in front of the command proper: sudo, its options, VAR=value.
bool is_prefix(std::string_view word) {
  return word == "sudo" || word == "time" || word == "nohup" || word.starts_with('-') ||
         (word.find('=') != word.npos && word.find('/') > word.find('='));
}

/// `ssh HOST ls`, `docker exec C env`, `kubectl -n NS logs P`: the command proper is somewhere among the first words.
bool starts_something(std::string_view simple) {
  constexpr std::size_t kWords = 8;
  bool any = false;
  const auto words = split_blanks(simple.substr(0, simple.find('|')));
  for (std::size_t i = 0; i < std::min(words.size(), kWords); ++i) {
    const std::string_view word = words[i].substr(std::min(words[i].find_first_not_of("\"'("), words[i].size()));
    if (word.empty() || is_prefix(word)) continue;
    if (looks_only(word)) return false;
    any = true;
  }
  return any;
}

}  // namespace

std::optional<std::string> started_command(std::string_view text) {
  constexpr std::size_t kMost = 400;
  const auto prompt = paste::parse_prompt(text.substr(0, 4096));
  if (!prompt || prompt->command.empty()) return std::nullopt;
  if (prompt->kind != paste::PromptKind::kPlain && prompt->kind != paste::PromptKind::kNamed) return std::nullopt;
  std::string_view rest = prompt->command.substr(0, kMost);
  while (!rest.empty()) {  // `cd bench && ./run`
    const auto end = std::min(rest.find_first_of(";&"), rest.size());
    if (starts_something(rest.substr(0, end))) return std::string(prompt->command.substr(0, kMost));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::nullopt;
}

}  // namespace pindown
