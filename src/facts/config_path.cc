// SPDX-License-Identifier: Apache-2.0
// See config_path.h.
#include "facts/config_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace pindown {
namespace {

constexpr int kMaxLinks = 40;

/// Puts the names of `path` on the stack, the first one on top.
void push_names(std::string_view path, std::vector<std::string>& stack) {
  const auto names = split(path, '/');
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    if (!name->empty() && *name != ".") stack.emplace_back(*name);
  }
}

std::string rest_of(const std::string& out, const std::string& name, const std::vector<std::string>& stack) {
  std::string path = out + "/" + name;
  for (auto next = stack.rbegin(); next != stack.rend(); ++next) path += "/" + *next;
  return path;
}

}  // namespace

std::optional<std::string> LinkResolver::resolve(std::string_view path, bool follow_last) {
  std::vector<std::string> stack;
  push_names(path, stack);
  std::string out;
  for (int links = 0; !stack.empty();) {
    const std::string name = std::move(stack.back());
    stack.pop_back();
    if (name == "..") {
      // The kernel does not leave a directory that is not there.
      if (!out.empty() && !host_.exists(out)) return rest_of(out, name, stack);
      out.resize(out.find_last_of('/') == std::string::npos ? 0 : out.find_last_of('/'));
      continue;
    }
    std::string next = fmt::format("{}/{}", out, name);
    const bool last = stack.empty();
    if ((last && !follow_last) || (!last && plain_.contains(next))) {
      out = std::move(next);
      continue;
    }
    const auto target = host_.link(next);
    if (!target) {
      if (!last) plain_.insert(next);
      out = std::move(next);
      continue;
    }
    if (++links > kMaxLinks) return std::nullopt;
    if (target->starts_with('/')) out.clear();
    push_names(*target, stack);
  }
  return out.empty() ? "/" : out;
}

ConfigText read_config(const Host& host, const std::string& path, std::size_t max_bytes) {
  if (path == "/dev/null") return {};
  auto bytes = host.read(path, max_bytes);
  if (bytes) return {std::move(*bytes), std::nullopt, false, {}};
  ConfigText out;
  out.problem = bytes.error().message;
  switch (bytes.error().kind) {
    case HostErrorKind::kNotFound:
    case HostErrorKind::kVanished:
      out.missing = Missing::kAbsent;
      out.problem.clear();
      return out;
    case HostErrorKind::kDenied:
      out.missing = Missing::kDenied;
      return out;
    case HostErrorKind::kTooLarge:
    case HostErrorKind::kError:
      break;
  }
  out.missing = Missing::kError;
  out.directory = bytes.error().kind == HostErrorKind::kError && host.list(path).has_value();
  return out;
}

std::string parent_path(std::string_view path) {
  const auto slash = path.find_last_of('/');
  return slash == std::string_view::npos || slash == 0 ? "/" : std::string(path.substr(0, slash));
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

}  // namespace pindown
