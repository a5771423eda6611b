// SPDX-License-Identifier: Apache-2.0
// Parsers of /proc text: limits, status, stat, meminfo, uid_map, environ, maps. Entry points: proc.h. One pass over the
// text, no allocation but for what is kept. Must not: read a file, or believe a field that is not there.
#include "facts/proc.h"

#include <algorithm>
#include <limits>

#include "base/text.h"

namespace pindown {
namespace {

constexpr std::size_t kMaxMeminfoLines = 512;
constexpr std::size_t kMaxVariables = 512;
constexpr std::size_t kMaxValueBytes = 256;

std::optional<Limit> parse_rlimit(std::string_view word) {
  if (word == "unlimited") return Limit::unlimited();
  const auto number = parse_u64(word);
  return number ? std::optional(Limit{*number}) : std::nullopt;
}

/// "   5248 kB": the unit is always kB in /proc (fs/proc/task_mmu.c SEQ_PUT_DEC, fs/proc/meminfo.c show_val_kb).
std::optional<std::uint64_t> parse_kib(std::string_view text) {
  const auto words = split_blanks(text);
  if (words.size() != 2 || words[1] != "kB") return std::nullopt;
  const auto kib = parse_u64(words[0]);
  if (!kib || *kib > std::numeric_limits<std::uint64_t>::max() / 1024) return std::nullopt;
  return *kib * 1024;
}

/// The mask is 16 hex digits (fs/proc/array.c render_cap_t); any longer number is not one.
std::optional<std::uint64_t> parse_mask(std::string_view text) {
  return parse_hex(trim(text));
}

std::optional<std::uint32_t> parse_id(std::string_view word) {
  const auto number = parse_u64(word);
  if (!number || *number > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

void set_uids(std::string_view value, StatusFields& fields) {
  const auto words = split_blanks(value);
  if (words.size() < 2) return;
  fields.ruid = parse_id(words[0]);
  fields.euid = parse_id(words[1]);
}

std::optional<bool> parse_bit(std::string_view text) {
  const std::string_view word = trim(text);
  if (word == "0" || word == "1") return word == "1";
  return std::nullopt;
}

void set_capability(std::string_view key, std::string_view value, CapabilitySets& caps) {
  if (key == "CapInh") caps.inheritable = parse_mask(value);
  if (key == "CapPrm") caps.permitted = parse_mask(value);
  if (key == "CapEff") caps.effective = parse_mask(value);
  if (key == "CapBnd") caps.bounding = parse_mask(value);
  if (key == "CapAmb") caps.ambient = parse_mask(value);
}

void set_status_field(std::string_view key, std::string_view value, StatusFields& fields) {
  if (key.starts_with("Cap")) return set_capability(key, value, fields.caps);
  if (key == "Name") fields.name = trim(value);
  if (key == "PPid") fields.ppid = parse_i64(trim(value));
  if (key == "Uid") set_uids(value, fields);
  if (key == "VmPin") fields.vm_pin = parse_kib(value);
  if (key == "VmLck") fields.vm_lck = parse_kib(value);
  if (key == "NoNewPrivs") fields.no_new_privs = parse_bit(value);
}

/// The path column of a maps line; the five columns before it hold no '/' (fs/proc/task_mmu.c show_map_vma).
std::string_view maps_path(std::string_view line) {
  const auto slash = line.find('/');
  if (slash == line.npos) return {};
  std::string_view path = line.substr(slash);
  constexpr std::string_view kDeleted = " (deleted)";
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  return path;
}

bool is_nccl_library(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("libnccl.so") || name.starts_with("libnccl-net") || name.starts_with("librccl.so");
}

/// The first mapping of NCCL or RCCL, before `end`; `end` moves to it. Searches for the few letters first: a maps file
/// can have 65,530 lines and more.
std::string find_nccl(std::string_view text, std::string_view letters, std::size_t& end) {
  for (auto at = text.find(letters); at < end;) {
    const auto start = text.rfind('\n', at);
    const auto first = start == text.npos ? 0 : start + 1;
    const auto last = std::min(text.find('\n', at), text.size());
    const std::string_view path = maps_path(text.substr(first, last - first));
    if (is_nccl_library(path)) {
      end = at;
      return std::string(path);
    }
    at = text.find(letters, last);
  }
  return {};
}

}  // namespace

std::optional<MemlockLimit> parse_limits(std::string_view text) {
  std::string_view line;
  while (next_line(text, line)) {
    line = trim(line);
    if (!consume(line, "Max locked memory")) continue;
    const auto words = split_blanks(line);
    if (words.size() < 2 || words.size() > 3 || (words.size() == 3 && words[2] != "bytes")) return std::nullopt;
    const MemlockLimit limit{parse_rlimit(words[0]), parse_rlimit(words[1])};
    if (!limit.soft || !limit.hard) return std::nullopt;
    return limit;
  }
  return std::nullopt;
}

StatusFields parse_status(std::string_view text) {
  StatusFields fields;
  std::string_view line;
  while (next_line(text, line)) {
    line = trim(line);
    const auto colon = line.find(':');
    if (colon != line.npos) set_status_field(line.substr(0, colon), line.substr(colon + 1), fields);
  }
  return fields;
}

Meminfo parse_meminfo(std::string_view text, std::string_view path) {
  Meminfo meminfo;
  std::string_view line;
  while (meminfo.bytes.size() < kMaxMeminfoLines && next_line(text, line)) {
    line = trim(line);
    const auto colon = line.find(':');
    if (colon == line.npos || colon == 0) continue;
    const std::string_view value = line.substr(colon + 1);
    auto number = parse_kib(value);
    if (!number) number = parse_u64(trim(value));
    if (!number) continue;
    const std::string name(line.substr(0, colon));
    if (!meminfo.bytes.emplace(name, *number).second) continue;
    meminfo.source.emplace(name, Source{std::string(path), std::string(line)});
  }
  return meminfo;
}

std::optional<bool> parse_uid_map_is_initial(std::string_view text) {
  std::size_t lines = 0;
  bool whole = false;
  std::string_view line;
  while (next_line(text, line)) {
    const auto words = split_blanks(trim(line));
    if (words.empty()) continue;
    if (words.size() != 3 || !parse_id(words[0]) || !parse_id(words[1]) || !parse_id(words[2])) return std::nullopt;
    whole = words[0] == "0" && words[1] == "0" && words[2] == "4294967295";
    if (++lines > 1) return false;
  }
  if (lines == 0) return std::nullopt;
  return whole;
}

std::optional<bool> is_initial_userns_link(std::string_view target) {
  target = trim(target);
  if (!consume(target, "user:[") || !target.ends_with(']')) return std::nullopt;
  target.remove_suffix(1);
  const auto inode = parse_u64(target);
  if (!inode) return std::nullopt;
  // USER_NS_INIT_INO, include/linux/proc_ns.h (6.1), include/uapi/linux/nsfs.h (7.2).
  return *inode == 0xEFFFFFFDU;
}

std::optional<StatFields> parse_stat(std::string_view text) {
  const auto open = text.find('(');
  const auto close = text.rfind(')');
  if (open == text.npos || close == text.npos || close < open) return std::nullopt;
  const auto words = split_blanks(trim(text.substr(close + 1)));
  // proc_pid_stat(5): words[0] is field 3 (state).
  constexpr std::size_t kPpid = 4 - 3;
  constexpr std::size_t kStartTime = 22 - 3;
  if (words.size() <= kStartTime) return std::nullopt;
  const auto ppid = parse_i64(words[kPpid]);
  const auto start = parse_u64(words[kStartTime]);
  if (!ppid || !start) return std::nullopt;
  return StatFields{std::string(text.substr(open + 1, close - open - 1)), *ppid, *start};
}

bool is_kept_variable(std::string_view name) {
  static constexpr std::string_view kPrefixes[] = {"NCCL_",  "RCCL_", "UCX_",  "FI_",
                                                   "RDMAV_", "IBV_",  "MLX5_", "OMPI_MCA_"};
  if (name.starts_with("PYTORCH_")) return name.ends_with("ALLOC_CONF");
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes), [&](auto prefix) { return name.starts_with(prefix); });
}

std::vector<std::pair<std::string, std::string>> parse_environ(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> kept;
  while (!text.empty() && kept.size() < kMaxVariables) {
    const auto end = text.find('\0');
    const std::string_view entry = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    const auto equals = entry.find('=');
    if (equals == entry.npos || !is_kept_variable(entry.substr(0, equals))) continue;
    kept.emplace_back(entry.substr(0, equals), entry.substr(equals + 1, kMaxValueBytes));
  }
  return kept;
}

MapsFields parse_maps(std::string_view text) {
  MapsFields fields;
  fields.count = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  if (!text.empty() && text.back() != '\n') ++fields.count;
  std::size_t end = text.size();
  fields.nccl_path = find_nccl(text, "libnccl", end);
  const std::string rccl = find_nccl(text, "librccl", end);
  if (!rccl.empty()) fields.nccl_path = rccl;
  return fields;
}

std::string_view service_of_cgroup(std::string_view cgroup) {
  while (!cgroup.empty()) {
    const std::string_view name = cgroup.substr(cgroup.rfind('/') + 1);
    constexpr std::string_view kSuffix = ".service";
    if (name.ends_with(kSuffix) && name.size() > kSuffix.size()) return name;
    cgroup.remove_suffix(std::min(name.size() + 1, cgroup.size()));
  }
  return {};
}

}  // namespace pindown
