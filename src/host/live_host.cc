// SPDX-License-Identifier: Apache-2.0
// The machine pindown runs on: plain system calls, one open, read and close a file. Entry point: make_live_host.
// Must not: block (a FIFO in place of a file), call stat on every file, or keep anything between calls.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "host/descriptor.h"
#include "host/host.h"

namespace pindown {
namespace {

Descriptor open_retrying(const CPath& path, int flags) {
  int fd = -1;
  do {
    // NONBLOCK so that a FIFO cannot hang, NOCTTY so that a terminal does not become ours.
    fd = ::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  } while (fd < 0 && errno == EINTR);
  return Descriptor(fd);
}

class LiveHost final : public Host {
 public:
  std::expected<std::string, HostError> read(std::string_view path, std::size_t max_bytes) const override {
    const CPath c_path(path);
    if (!c_path.valid()) return std::unexpected(host_error(path, ENOENT));
    const Descriptor fd = open_retrying(c_path, O_RDONLY);
    if (!fd.open()) return std::unexpected(host_error(path, errno));
    return read_to_end(fd.get(), path, max_bytes);
  }

  std::expected<std::vector<std::string>, HostError> list(std::string_view path) const override {
    const CPath c_path(path);
    if (!c_path.valid()) return std::unexpected(host_error(path, ENOENT));
    const Descriptor fd = open_retrying(c_path, O_RDONLY | O_DIRECTORY);
    if (!fd.open()) return std::unexpected(host_error(path, errno));
    return list_names(fd.get(), path);
  }

  std::expected<std::string, HostError> link(std::string_view path) const override {
    const CPath c_path(path);
    if (!c_path.valid()) return std::unexpected(host_error(path, ENOENT));
    return read_link_at(AT_FDCWD, c_path.c_str(), path);
  }

  bool exists(std::string_view path) const override {
    const CPath c_path(path);
    return c_path.valid() && ::access(c_path.c_str(), F_OK) == 0;
  }

  std::optional<std::int64_t> changed(std::string_view path) const override {
    const CPath c_path(path);
    struct stat info{};
    if (!c_path.valid() || ::lstat(c_path.c_str(), &info) != 0) return std::nullopt;
    const auto time = [](const struct stat& of) {
      return std::int64_t{of.st_ctim.tv_sec} * 1'000'000'000 + of.st_ctim.tv_nsec;
    };
    const std::int64_t own = time(info);
    // A link is as new as what it names.
    if (!S_ISLNK(info.st_mode) || ::stat(c_path.c_str(), &info) != 0) return own;
    return std::max(own, time(info));
  }

  bool live() const override { return true; }
};

}  // namespace

std::unique_ptr<Host> make_live_host() {
  return std::make_unique<LiveHost>();
}

}  // namespace pindown
