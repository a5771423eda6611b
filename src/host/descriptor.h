// SPDX-License-Identifier: Apache-2.0
// What the live and the directory host share: an owned file descriptor, reading it to its end, listing it, and errno as
// a HostError. Private to src/host. Must not: open anything.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "host/host.h"

namespace pindown {

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Descriptor& operator=(Descriptor&&) = delete;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }

 private:
  int fd_;
};

/// A NUL-terminated copy of a path on the stack: one is needed per system call, thousands of times a scan.
class CPath {
 public:
  explicit CPath(std::string_view path);
  bool valid() const { return valid_; }  // absolute, not longer than PATH_MAX, no NUL inside
  const char* c_str() const { return text_; }

 private:
  char text_[4096];
  bool valid_;
};

/// ENOENT from open(2) is an answer (there is no such file); from read(2) it means that a process ended meanwhile.
constexpr bool kAfterOpen = true;
HostError host_error(std::string_view path, int number, bool after_open = false);

std::expected<std::string, HostError> read_to_end(int fd, std::string_view path, std::size_t max_bytes);
std::expected<std::vector<std::string>, HostError> list_names(int fd, std::string_view path);
/// readlinkat(2); an empty `name` means the link that `fd` itself is (O_PATH | O_NOFOLLOW).
std::expected<std::string, HostError> read_link_at(int fd, const char* name, std::string_view path);

}  // namespace pindown
