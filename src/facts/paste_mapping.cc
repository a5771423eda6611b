// SPDX-License-Identifier: Apache-2.0
// Reads lines of /proc/PID/maps and of ps(1): what backs an address, and which program a pid is. Entry points:
// read_mapping, read_ps_row.
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

}  // namespace

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
  const auto pid = words.size() < 2 ? std::nullopt : parse_i64(words[0]);
  if (!pid || *pid <= 0 || c.facts.pid_names.size() >= kMaxList) return false;
  for (const std::string_view word : words) {
    if (!word.starts_with('/') || word.size() < 2) continue;
    c.facts.pid_names.emplace(*pid, std::string(base_name(word).substr(0, 64)));
    return true;
  }
  return false;
}

}  // namespace pindown::paste
