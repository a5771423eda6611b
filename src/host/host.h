// SPDX-License-Identifier: Apache-2.0
// The only seam between pindown and the outside: bytes of files, names in directories, targets of links. The live
// machine, a directory laid out like one, and an in-memory tree for tests take the same path. Paths are absolute, as on
// the machine. Must not: interpret a byte, follow a symlink out of its root, or read more than it is asked to.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pindown {

/// NotFound and Denied are answers, not failures; kVanished is ESRCH/ENOENT after a successful open (a process ended).
enum class HostErrorKind { kNotFound, kDenied, kVanished, kTooLarge, kError };
struct HostError {
  HostErrorKind kind = HostErrorKind::kError;
  std::string message;  // "cannot read /proc/42/environ: permission denied"
};

class Host {
 public:
  virtual ~Host() = default;
  /// The whole file; kTooLarge above `max_bytes`. Files in /proc report size 0 and are read until EOF.
  virtual std::expected<std::string, HostError> read(std::string_view path, std::size_t max_bytes = 4U << 20) const = 0;
  /// Names in a directory, unsorted, without "." and "..".
  virtual std::expected<std::vector<std::string>, HostError> list(std::string_view path) const = 0;
  /// Target of a symbolic link (readlink), not resolved.
  virtual std::expected<std::string, HostError> link(std::string_view path) const = 0;
  virtual bool exists(std::string_view path) const = 0;
  /// When the file, or the link itself or what it names, was last written or put there (st_ctime, nanoseconds). Of the
  /// live machine only: in a directory it is the time of the copy.
  virtual std::optional<std::int64_t> changed(std::string_view) const { return std::nullopt; }
  /// True only for the machine pindown runs on: system calls about it make sense.
  virtual bool live() const = 0;
};

/// This machine, root "/".
std::unique_ptr<Host> make_live_host();
/// A directory laid out as on the machine. Symlinks are resolved inside it (openat2 RESOLVE_IN_ROOT).
std::expected<std::unique_ptr<Host>, HostError> make_directory_host(std::string_view root);

/// For tests: path → content; a path ending in '/' is an empty directory; links and denied paths are listed apart.
struct MemoryTree {
  std::map<std::string, std::string> files;
  std::map<std::string, std::string> links;
  std::vector<std::string> denied;
};
std::unique_ptr<Host> make_memory_host(MemoryTree tree);

}  // namespace pindown
