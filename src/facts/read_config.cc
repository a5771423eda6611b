// SPDX-License-Identifier: Apache-2.0
// Files as text and lines. Entry points: read_text, read_lines. Must not: judge a line.
#include "facts/read_config.h"

#include <fmt/format.h>

#include <utility>

#include "facts/collect_detail.h"

namespace pindown {
namespace {

/// /dev/null behind up to eight links: below a directory that stands for a machine there is no such device.
bool leads_to_null(const Host& host, std::string path) {
  for (int hop = 0; hop < 8; ++hop) {
    const auto target = host.link(path);
    if (!target) return false;
    if (*target == "/dev/null") return true;
    path = target->starts_with('/') ? *target : path.substr(0, path.rfind('/') + 1) + *target;
  }
  return false;
}

bool opens_empty(const Host& host, const std::string& path) {
  return host.list(path).has_value() || leads_to_null(host, path);
}

}  // namespace

Fact<std::string> read_text(const Host& host, const std::string& path, std::size_t max_bytes,
                            std::vector<std::string>& problems) {
  auto text = host.read(path, max_bytes);
  if (text) return Fact<std::string>::of(std::move(*text), {path, {}});
  if (text.error().kind != HostErrorKind::kDenied && opens_empty(host, path)) {
    return Fact<std::string>::of({}, {path, {}});
  }
  const Missing why = collect::missing_of(text.error().kind);
  if (why != Missing::kAbsent) problems.push_back(text.error().message);
  return Fact<std::string>::none(why, path);
}

std::vector<ConfigLine> split_lines(std::string_view text, std::string_view path) {
  std::vector<ConfigLine> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string line(text.substr(0, end));
    Source source{fmt::format("{}:{}", path, number), line};
    lines.push_back({std::move(line), std::move(source)});
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

ConfigFile read_lines(const Host& host, const std::string& path, std::size_t max_bytes,
                      std::vector<std::string>& problems) {
  const Fact<std::string> text = read_text(host, path, max_bytes, problems);
  if (!text) return ConfigFile::none(text.missing, path);
  return ConfigFile::of(split_lines(*text, path), {path, {}});
}

}  // namespace pindown
