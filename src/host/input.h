// SPDX-License-Identifier: Apache-2.0
// Inputs people hand over: files, pipes, directories of files; plain or gzip, xz, zstd, bzip2, told by content. Bytes
// only. Entry points: open_input, list_inputs. Must not: map files (logs grow and shrink), block on a FIFO without a
// writer, or inflate without bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "host/host.h"

namespace pindown {

class InputStream {
 public:
  virtual ~InputStream() = default;
  /// Bytes read, 0 at the end.
  virtual std::expected<std::size_t, HostError> read(char* buffer, std::size_t size) = 0;
  /// Bytes read from `offset` on, 0 at the end; for several threads at once, and without moving what read() reads next.
  /// Only where can_read_at().
  virtual std::expected<std::size_t, HostError> read_at(std::uint64_t offset, char* buffer, std::size_t size) const;
  virtual bool can_read_at() const { return false; }
  /// Goes on at a byte counted from the start; false if it can't (a pipe).
  virtual bool seek(std::uint64_t offset) = 0;
  /// Size on disk when opened; 0 if unknown or compressed.
  virtual std::uint64_t size_hint() const = 0;
};

/// Inflated bytes beyond this are not read; the input is reported as cut.
constexpr std::uint64_t kMaxInflated = std::uint64_t{16} << 30;

/// "-" is standard input. Error: "cannot open PATH: no such file or directory".
std::expected<std::unique_ptr<InputStream>, HostError> open_input(const std::string& path);

bool is_directory(const std::string& path);
/// Regular files below a directory, sorted, not following symlinks; at most 10,000 files and 8 levels deep.
struct Listing {
  std::vector<std::string> files;
  std::vector<std::string> problems;
};
Listing list_inputs(const std::string& directory);

}  // namespace pindown
