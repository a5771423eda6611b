// SPDX-License-Identifier: Apache-2.0
// Reading, listing and readlink on an open descriptor, and the words for an errno. Everything is bounded: a file by the
// caller, a directory by kMaxNames. Must not: open anything, allocate per read(2).
#include "host/descriptor.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/text.h"

namespace pindown {
namespace {

// A process may hold as many descriptors as fs.nr_open allows (1,048,576 by default), and each is a name.
constexpr std::size_t kMaxNames = 1U << 21;
constexpr std::size_t kChunk = 32U << 10;

std::string reason(int number, bool after_open) {
  switch (number) {
    case ENOENT:
      return after_open ? "it ended while being read" : "no such file or directory";
    case ESRCH:
      return "the process has ended";
    case EACCES:
    case EPERM:
      return "permission denied";
    case EISDIR:
      return "is a directory";
    case EINVAL:
      return "invalid argument";
    case ENAMETOOLONG:
      return "the path is too long";
    default:
      break;
  }
  // Not strerror: its words depend on the locale.
  const char* text = strerrordesc_np(number);
  return text != nullptr ? lower(text) : fmt::format("errno {}", number);
}

HostErrorKind kind_of(int number, bool after_open) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
      return after_open ? HostErrorKind::kVanished : HostErrorKind::kNotFound;
    case ESRCH:
      return HostErrorKind::kVanished;
    case EACCES:
    case EPERM:
      return HostErrorKind::kDenied;
    default:
      return HostErrorKind::kError;
  }
}

HostError too_large(std::string_view path, std::size_t max_bytes) {
  return {HostErrorKind::kTooLarge, fmt::format("cannot read {}: larger than {} bytes", path, max_bytes)};
}

ssize_t read_retrying(int fd, char* buffer, std::size_t size) {
  ssize_t n = 0;
  do {
    n = ::read(fd, buffer, size);
  } while (n < 0 && errno == EINTR);
  return n;
}

// glibc has getdents64 as a function only since 2.30, and opendir allocates and calls fstat each time.
struct RawEntry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t length;
  std::uint8_t type;
  char name[1];
};
constexpr std::size_t kNameOffset = offsetof(RawEntry, name);

/// Appends the names of one getdents64 buffer. False if the kernel's (or a FUSE server's) records make no sense.
bool append_names(const char* buffer, std::size_t size, std::vector<std::string>& names) {
  for (std::size_t at = 0; at < size;) {
    std::uint16_t length = 0;
    if (size - at <= kNameOffset) return false;
    std::memcpy(&length, buffer + at + offsetof(RawEntry, length), sizeof(length));
    if (length <= kNameOffset || length > size - at) return false;
    const char* name = buffer + at + kNameOffset;
    const std::string_view text(name, ::strnlen(name, length - kNameOffset));
    if (text != "." && text != "..") names.emplace_back(text);
    at += length;
  }
  return true;
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

CPath::CPath(std::string_view path) {
  valid_ = !path.empty() && path.front() == '/' && path.size() < sizeof(text_) && path.find('\0') == path.npos;
  const std::size_t size = valid_ ? path.size() : 0;
  if (size > 0) std::memcpy(text_, path.data(), size);
  text_[size] = '\0';
}

HostError host_error(std::string_view path, int number, bool after_open) {
  return {kind_of(number, after_open), fmt::format("cannot read {}: {}", path, reason(number, after_open))};
}

std::expected<std::string, HostError> read_to_end(int fd, std::string_view path, std::size_t max_bytes) {
  // Most files of /proc fit the stack buffer; only a longer one is gathered in `text` piece by piece.
  char buffer[kChunk];
  std::size_t used = 0;
  std::string text;
  while (true) {
    const ssize_t n = read_retrying(fd, buffer + used, sizeof(buffer) - used);
    if (n < 0) return std::unexpected(host_error(path, errno, kAfterOpen));
    used += static_cast<std::size_t>(n);
    if (text.size() + used > max_bytes) return std::unexpected(too_large(path, max_bytes));
    if (n == 0) break;
    if (used == sizeof(buffer)) {
      text.append(buffer, used);
      used = 0;
    }
  }
  text.append(buffer, used);
  return text;
}

std::expected<std::vector<std::string>, HostError> list_names(int fd, std::string_view path) {
  alignas(RawEntry) char buffer[kChunk];
  std::vector<std::string> names;
  while (true) {
    const long n = ::syscall(SYS_getdents64, fd, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::unexpected(host_error(path, errno, kAfterOpen));
    if (n == 0) return names;
    if (!append_names(buffer, static_cast<std::size_t>(n), names)) return std::unexpected(host_error(path, EIO));
    if (names.size() > kMaxNames) {
      return std::unexpected(
          HostError{HostErrorKind::kTooLarge, fmt::format("cannot list {}: more than {} names", path, kMaxNames)});
    }
  }
}

std::expected<std::string, HostError> read_link_at(int fd, const char* name, std::string_view path) {
  char target[4096];
  const ssize_t n = ::readlinkat(fd, name, target, sizeof(target));
  if (n < 0 && (errno == EINVAL || (errno == ENOENT && *name == '\0'))) {
    return std::unexpected(HostError{HostErrorKind::kError, fmt::format("cannot read {}: not a symbolic link", path)});
  }
  if (n < 0) return std::unexpected(host_error(path, errno));
  if (static_cast<std::size_t>(n) == sizeof(target)) return std::unexpected(too_large(path, sizeof(target)));
  return std::string(target, static_cast<std::size_t>(n));
}

}  // namespace pindown
