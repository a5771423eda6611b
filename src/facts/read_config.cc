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
  if (why != Missing::kAbsent) add_config_problem(problems, text.error().message);
  return Fact<std::string>::none(why, path);
}

std::vector<ConfigLine> split_lines(std::string_view text, std::string_view path) {
  std::vector<ConfigLine> lines;
  TextLines each(text);
  for (std::string_view line; each.next(line);)
    lines.push_back({std::string(line), {fmt::format("{}:{}", path, each.number()), std::string(line), {}}});
  return lines;
}

void add_config_problem(std::vector<std::string>& problems, std::string text) {
  constexpr std::size_t kMost = 1'000;
  if (problems.size() < kMost) problems.push_back(std::move(text));
}

ConfigFile read_lines(const Host& host, const std::string& path, std::size_t max_bytes,
                      std::vector<std::string>& problems) {
  const Fact<std::string> text = read_text(host, path, max_bytes, problems);
  if (!text) return ConfigFile::none(text.missing, path);
  return ConfigFile::of(split_lines(*text, path), {path, {}});
}

namespace {

bool says_nothing(std::string_view line) {
  constexpr std::size_t kLong = 1'000;  // pam_limits up to 1.5.3 reads pieces of 1,023 bytes
  const std::size_t first = line.find_first_not_of(" \t\r");
  return line.size() < kLong && (first == std::string_view::npos || line[first] == '#');
}

ConfigFile over_budget(const std::string& path, std::vector<std::string>& problems) {
  add_config_problem(problems, fmt::format("{}: not read, there is too much beside it", path));
  return ConfigFile::none(Missing::kError, path);
}

}  // namespace

ConfigFile read_lines(const Host& host, const std::string& path, std::size_t max_bytes,
                      std::vector<std::string>& problems, ReadBudget& budget) {
  const Fact<std::string> text = read_text(host, path, max_bytes, problems);
  if (!text) return ConfigFile::none(text.missing, path);
  if (text->size() > budget.bytes) return over_budget(path, problems);
  budget.bytes -= text->size();
  std::vector<ConfigLine> lines;
  TextLines each(*text);
  for (std::string_view line; each.next(line);) {
    if (says_nothing(line)) continue;
    if (budget.lines == 0) return over_budget(path, problems);
    --budget.lines;
    lines.push_back({std::string(line), {fmt::format("{}:{}", path, each.number()), std::string(line), {}}});
  }
  return ConfigFile::of(std::move(lines), {path, {}});
}

}  // namespace pindown
