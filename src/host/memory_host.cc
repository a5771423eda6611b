// SPDX-License-Identifier: Apache-2.0
// A tree in memory, for tests: what a path holds is what the test put there. Entry point: make_memory_host.
// Must not: touch the build machine, or follow links (a test puts a file where the reader will look).
#include <fmt/format.h>

#include <cerrno>
#include <set>
#include <utility>

#include "host/descriptor.h"
#include "host/host.h"

namespace pindown {
namespace {

/// `path` itself, or something below it.
bool covers(std::string_view path, std::string_view below) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return below.starts_with(path) && (below.size() == path.size() || path == "/" || below[path.size()] == '/');
}

class MemoryHost final : public Host {
 public:
  explicit MemoryHost(MemoryTree tree) : tree_(std::move(tree)) {}

  std::expected<std::string, HostError> read(std::string_view path, std::size_t max_bytes) const override {
    if (is_denied(path)) return std::unexpected(host_error(path, EACCES));
    const auto it = tree_.files.find(std::string(path));
    if (it == tree_.files.end()) return std::unexpected(host_error(path, is_directory(path) ? EISDIR : ENOENT));
    if (it->second.size() > max_bytes) {
      return std::unexpected(
          HostError{HostErrorKind::kTooLarge, fmt::format("cannot read {}: larger than {} bytes", path, max_bytes)});
    }
    return it->second;
  }

  std::expected<std::vector<std::string>, HostError> list(std::string_view path) const override {
    if (is_denied(path)) return std::unexpected(host_error(path, EACCES));
    if (!is_directory(path))
      return std::unexpected(host_error(path, tree_.files.contains(std::string(path)) ? ENOTDIR : ENOENT));
    std::set<std::string> names;
    for (const auto& [name, _] : tree_.files) add_child(path, name, names);
    for (const auto& [name, _] : tree_.links) add_child(path, name, names);
    for (const auto& name : tree_.denied) add_child(path, name, names);
    return std::vector<std::string>(names.begin(), names.end());
  }

  std::expected<std::string, HostError> link(std::string_view path) const override {
    if (is_denied(path)) return std::unexpected(host_error(path, EACCES));
    const auto it = tree_.links.find(std::string(path));
    if (it != tree_.links.end()) return it->second;
    if (!exists(path)) return std::unexpected(host_error(path, ENOENT));
    return std::unexpected(HostError{HostErrorKind::kError, fmt::format("cannot read {}: not a symbolic link", path)});
  }

  bool exists(std::string_view path) const override {
    const std::string key(path);
    return tree_.files.contains(key) || tree_.links.contains(key) || is_directory(path) || is_denied(path);
  }

  bool live() const override { return false; }

 private:
  bool is_denied(std::string_view path) const {
    for (const auto& denied : tree_.denied) {
      if (covers(denied, path)) return true;
    }
    return false;
  }

  bool is_directory(std::string_view path) const {
    auto below = [&](const std::string& name) { return covers(path, name) && name.size() > path.size(); };
    for (const auto& [name, _] : tree_.files) {
      if (below(name)) return true;
    }
    for (const auto& [name, _] : tree_.links) {
      if (below(name)) return true;
    }
    return false;
  }

  static void add_child(std::string_view directory, std::string_view name, std::set<std::string>& names) {
    while (directory.ends_with('/')) directory.remove_suffix(1);
    if (!name.starts_with(directory) || name.size() <= directory.size() + 1 || name[directory.size()] != '/') return;
    const std::string_view rest = name.substr(directory.size() + 1);
    names.emplace(rest.substr(0, rest.find('/')));
  }

  MemoryTree tree_;
};

}  // namespace

std::unique_ptr<Host> make_memory_host(MemoryTree tree) {
  return std::make_unique<MemoryHost>(std::move(tree));
}

}  // namespace pindown
