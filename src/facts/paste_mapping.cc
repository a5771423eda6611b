// SPDX-License-Identifier: Apache-2.0
// Reads lines of /proc/PID/maps, of ps(1) and of pgrep(1): what backs an address, and which program a pid is. Entry
// points: read_mapping, read_ps_row, read_pid_list, ps_columns.
#include <algorithm>

#include "base/text.h"
#include "facts/paste_internal.h"

namespace pindown::paste {
namespace {

bool is_hex(std::string_view text) {
  return !text.empty() && text.size() <= 16 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

bool is_permissions(std::string_view text) {
  return text.size() == 4 && contains("r-", text.substr(0, 1)) && contains("w-", text.substr(1, 1)) &&
         contains("x-", text.substr(2, 1)) && contains("ps", text.substr(3, 1));
}

/// "-o pid,lstart,cmd", "-o pid= -o comm=", "-eo" the same: the lists of columns, in order.
std::string format_of(std::span<const std::string> words) {
  std::string out;
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string_view word = words[i];
    const bool cluster = word.size() < 8 && word.ends_with('o') && !word.starts_with("--");
    if ((cluster || word == "--format") && i + 1 < words.size()) {
      out += words[++i] + ',';
    } else if (consume(word, "--format=") || consume(word, "-o")) {
      out += std::string(word) + ',';
    }
  }
  return out;
}

PsColumns columns_of_format(std::string_view format) {
  PsColumns out;
  int at = 0;
  for (std::string_view field : split(format.substr(0, 400), ',')) {
    field = trim(field.substr(0, field.find('=')));
    if (field.empty()) continue;
    if (field == "pid") out.pid = at;
    const bool name = field == "comm" || field == "cmd" || field == "args" || field == "command" || field == "ucmd";
    if (name && out.name < 0) out.name = at;
    at += field == "lstart" ? 5 : 1;  // "Thu Feb 12 01:20:33 2026"
  }
  return out;
}

bool learn_name(const Context& c, std::int64_t pid, std::string_view program) {
  if (pid <= 0 || program.empty() || c.facts.pid_names.size() >= kMaxList) return false;
  c.facts.pid_names.emplace(pid, std::string(base_name(program).substr(0, 64)));
  return true;
}

/// The program at its column; `ps f` draws a tree in front of it.
std::string_view program_at(std::span<const std::string_view> words, int column) {
  for (auto at = static_cast<std::size_t>(column); at < words.size(); ++at) {
    if (words[at].find_first_not_of("|\\_`-") != std::string_view::npos) return words[at];
  }
  return {};
}

bool read_columns(const Context& c, std::span<const std::string_view> words) {
  if (!c.question || c.question->columns.name < 0) return false;
  const PsColumns& columns = c.question->columns;
  if (static_cast<std::size_t>(std::max(columns.pid, columns.name)) >= words.size()) return false;
  const auto pid = columns.pid < 0 ? c.question->pid : parse_i64(words[static_cast<std::size_t>(columns.pid)]);
  if (!pid) return false;
  const std::string_view program = program_at(words, columns.name);
  // ps -p N -o comm= prints one word; its heading is in capitals.
  return program != "COMMAND" && program != "CMD" && learn_name(c, *pid, program);
}

}  // namespace

/// From the options alone: `grep` takes the heading away.
PsColumns ps_columns(std::span<const std::string> words) {
  const std::string format = format_of(words);
  if (!format.empty()) return columns_of_format(format);
  const std::string_view flags = words.size() > 1 ? std::string_view(words[1]) : std::string_view();
  const auto has = [&](std::string_view letter) { return contains(flags, letter); };
  const bool bsd = !flags.starts_with('-') || (has("a") && has("u") && has("x"));
  if (has("l") || has("j") || has("v") || has("L") || has("--")) return {};
  if (bsd && has("u")) return {1, 10};  // USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND
  if (bsd) return flags.empty() ? PsColumns{0, 3} : PsColumns{0, 4};  // PID TTY STAT TIME COMMAND
  if (has("F")) return {1, 10};                                       // UID PID PPID C SZ RSS PSR STIME TTY TIME CMD
  if (has("f")) return {1, 7};                                        // UID PID PPID C STIME TTY TIME CMD
  return {0, 3};                                                      // PID TTY TIME CMD
}

/// "7f5540000000-7f55c0000000 r--s 00000000 08:01 7741 /data/weights.bin"
bool read_mapping(const Context& c) {
  const auto words = split_blanks(c.text.substr(0, 600));
  if (words.size() < 5 || !is_permissions(words[1])) return false;
  const auto dash = words[0].find('-');
  if (dash == words[0].npos || !is_hex(words[0].substr(0, dash)) || !is_hex(words[0].substr(dash + 1))) return false;
  if (c.facts.mappings.size() >= kMaxList) return true;
  Mapping mapping;
  mapping.start = parse_hex(words[0].substr(0, dash)).value_or(0);
  mapping.end = parse_hex(words[0].substr(dash + 1)).value_or(0);
  mapping.permissions = words[1];
  if (words.size() > 5) mapping.path = words[5];
  mapping.source = c.source();
  c.facts.mappings.push_back(std::move(mapping));
  return true;
}

/// "40211 Thu Feb 12 01:20:33 2026 /usr/bin/containerd-shim-runc-v2 -namespace k8s.io": the pid and the first absolute
/// path of a line that ps printed.
bool read_ps_row(const Context& c) {
  const auto words = split_blanks(c.text.substr(0, 600));
  if (read_columns(c, words)) return true;
  const auto pid = words.size() < 2 ? std::nullopt : parse_i64(words[0]);
  if (!pid) return false;
  for (const std::string_view word : words) {
    if (word.starts_with('/') && word.size() > 1) return learn_name(c, *pid, word);
  }
  return false;
}

/// "4411 4412": what `pidof raylet` prints, one or all on a line.
bool read_pid_list(const Context& c) {
  const auto words = split_blanks(c.text.substr(0, 600));
  if (words.empty() || words.size() > 64) return false;
  if (!std::ranges::all_of(words, [](std::string_view word) { return parse_i64(word).value_or(0) > 0; })) return false;
  for (const std::string_view word : words) learn_name(c, *parse_i64(word), c.question->arg);
  return true;
}

}  // namespace pindown::paste
