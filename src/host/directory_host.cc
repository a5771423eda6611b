// SPDX-License-Identifier: Apache-2.0
// A directory laid out as on the machine (a snapshot, an unpacked sosreport, /host in a container). Every path is
// resolved by the kernel inside that directory: openat2(2) with RESOLVE_IN_ROOT, Linux 5.6+ (fs/open.c, fs/namei.c), so
// neither "..", nor an absolute link, nor a rename in between leads out of it. Entry point: make_directory_host.
// Must not: open a path in any other way, or read anything that is not a regular file.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "host/descriptor.h"
#include "host/host.h"

namespace pindown {
namespace {

Descriptor open_inside(int root, const char* path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  if ((flags & O_PATH) == 0) how.flags |= O_NONBLOCK | O_NOCTTY;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  // EAGAIN: something was renamed while the kernel resolved ".."; it cannot prove the result is inside and asks for a
  // retry.
  for (int attempt = 0;; ++attempt) {
    const long fd = ::syscall(SYS_openat2, root, path, &how, sizeof(how));
    const bool again = fd < 0 && (errno == EINTR || errno == EAGAIN) && attempt < 16;
    if (!again) return Descriptor(static_cast<int>(fd));
  }
}

class DirectoryHost final : public Host {
 public:
  explicit DirectoryHost(Descriptor root) : root_(std::move(root)) {}

  std::expected<std::string, HostError> read(std::string_view path, std::size_t max_bytes) const override {
    const CPath c_path(path);
    if (!c_path.valid()) return std::unexpected(host_error(path, ENOENT));
    const Descriptor fd = open_inside(root_.get(), c_path.c_str(), O_RDONLY);
    if (!fd.open()) return std::unexpected(host_error(path, errno));
    struct stat info{};
    if (::fstat(fd.get(), &info) != 0) return std::unexpected(host_error(path, errno));
    if (!S_ISREG(info.st_mode)) {
      return std::unexpected(HostError{HostErrorKind::kError, fmt::format("cannot read {}: not a regular file", path)});
    }
    return read_to_end(fd.get(), path, max_bytes);
  }

  std::expected<std::vector<std::string>, HostError> list(std::string_view path) const override {
    const CPath c_path(path);
    if (!c_path.valid()) return std::unexpected(host_error(path, ENOENT));
    const Descriptor fd = open_inside(root_.get(), c_path.c_str(), O_RDONLY | O_DIRECTORY);
    if (!fd.open()) return std::unexpected(host_error(path, errno));
    return list_names(fd.get(), path);
  }

  std::expected<std::string, HostError> link(std::string_view path) const override {
    const CPath c_path(path);
    if (!c_path.valid()) return std::unexpected(host_error(path, ENOENT));
    const Descriptor fd = open_inside(root_.get(), c_path.c_str(), O_PATH | O_NOFOLLOW);
    if (!fd.open()) return std::unexpected(host_error(path, errno));
    return read_link_at(fd.get(), "", path);
  }

  bool exists(std::string_view path) const override {
    const CPath c_path(path);
    return c_path.valid() && open_inside(root_.get(), c_path.c_str(), O_PATH).open();
  }

  bool live() const override { return false; }

 private:
  Descriptor root_;
};

HostError no_openat2(std::string_view root) {
  return {
      HostErrorKind::kError,
      fmt::format("cannot use {} as a root: openat2 is missing or blocked here, and without it a link could lead out "
                  "of it; run pindown on Linux 5.6 or later",
                  root)};
}

}  // namespace

std::expected<std::unique_ptr<Host>, HostError> make_directory_host(std::string_view root) {
  const std::string path(root);
  Descriptor fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd.open() && errno == ENOTDIR) {
    return std::unexpected(HostError{HostErrorKind::kNotFound, fmt::format("cannot read {}: not a directory", root)});
  }
  if (!fd.open()) return std::unexpected(host_error(root, errno));
  const Descriptor inside = open_inside(fd.get(), ".", O_PATH);
  // Old container seccomp profiles answer EPERM for a system call they do not know.
  if (!inside.open() && (errno == ENOSYS || errno == EPERM)) return std::unexpected(no_openat2(root));
  if (!inside.open()) return std::unexpected(host_error(root, errno));
  return std::make_unique<DirectoryHost>(std::move(fd));
}

}  // namespace pindown
