// SPDX-License-Identifier: Apache-2.0
// Parsers of /proc text (proc(5)): bytes → structs. Used for the live machine and for what people paste.
// Pure; every input is hostile; what is not there stays empty.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/facts.h"

namespace pindown {

/// The "Max locked memory" line of /proc/PID/limits: "<soft> <hard> bytes", each a number or "unlimited"; also from one
/// pasted line of it ("Max locked memory 8388608 8388608 bytes"). Nothing if there is no such line or it is malformed.
std::optional<MemlockLimit> parse_limits(std::string_view text);

/// "/system.slice/sshd.service" → "sshd.service": the innermost service of a cgroup path, empty if there is none.
std::string_view service_of_cgroup(std::string_view cgroup);

/// The lines of /proc/PID/status that pindown uses.
struct StatusFields {
  std::string name;
  std::optional<std::int64_t> ppid;
  std::optional<std::uint32_t> ruid, euid;
  std::optional<std::uint64_t> vm_pin, vm_lck;  // bytes
  std::optional<bool> no_new_privs;
  CapabilitySets caps;
};
StatusFields parse_status(std::string_view text);

/// /proc/meminfo: "Name:   123 kB" → bytes; HugePages_* are counts.
Meminfo parse_meminfo(std::string_view text, std::string_view path);

/// uid_map of the first user namespace is the single line "0 0 4294967295".
std::optional<bool> parse_uid_map_is_initial(std::string_view text);
/// readlink of /proc/PID/ns/user: "user:[4026531837]" is the first user namespace (0xEFFFFFFD, USER_NS_INIT_INO).
std::optional<bool> is_initial_userns_link(std::string_view target);

struct StatFields {
  std::string comm;
  std::int64_t ppid = 0;
  std::uint64_t start_ticks = 0;
};
/// /proc/PID/stat; comm may contain blanks and parentheses.
std::optional<StatFields> parse_stat(std::string_view text);

/// From NUL-separated environ: keeps only NCCL_* RCCL_* UCX_* FI_* RDMAV_* IBV_* MLX5_* PYTORCH_*ALLOC_CONF OMPI_MCA_*
/// and drops the rest unread into any struct. Values are cut at 256 bytes.
std::vector<std::pair<std::string, std::string>> parse_environ(std::string_view text);
/// Whether pindown keeps a variable of this name (also for pasted env lines).
bool is_kept_variable(std::string_view name);

struct MapsFields {
  std::uint64_t count = 0;
  std::string nccl_path;  // first mapping whose file name starts with libnccl.so, libnccl-net or librccl.so
};
MapsFields parse_maps(std::string_view text);

}  // namespace pindown
