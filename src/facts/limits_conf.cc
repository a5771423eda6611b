// SPDX-License-Identifier: Apache-2.0
// Which files pam_limits reads and in which order. Entry points: collect_limits, collect_limits_file. Must not: read a
// line's meaning.
#include "facts/limits_conf.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "facts/read_config.h"

namespace pindown {
namespace {

constexpr std::size_t kMaxBytes = 4U << 20;
constexpr std::size_t kMaxDropIns = 10'000;
constexpr char kEtc[] = "/etc/security";
/// SUSE's and Red Hat's; a machine has one of them at most. Which one its PAM reads is for the model to know.
constexpr std::array<const char*, 2> kVendors = {"/usr/etc/security", "/usr/share/security"};

/// glob(3) of "*.conf": a star matches no leading dot, and a name may be ".conf" only with one.
bool globbed(std::string_view name) {
  return name.ends_with(".conf") && !name.starts_with('.');
}

/// Name → directory; what `names` holds already stays, so the first directory hides the next. A directory that cannot
/// be listed is no error to pam_limits: glob() fails and nothing is read. But it runs as root: what is denied here is
/// not denied there, and stands among the files as one that could not be read.
void add_names(const Host& host, const std::string& directory, std::map<std::string, std::string>& names,
               LimitsConf& conf) {
  const auto listed = host.list(directory);
  if (!listed) {
    if (listed.error().kind == HostErrorKind::kNotFound) return;
    conf.problems.push_back(listed.error().message);
    if (listed.error().kind != HostErrorKind::kDenied) return;
    conf.drop_ins.push_back(ConfigFile::none(Missing::kDenied, directory));
    return;
  }
  for (const std::string& name : *listed) {
    if (globbed(name)) names.emplace(name, directory);
  }
}

}  // namespace

LimitsConf collect_limits(const Host& host) {
  LimitsConf conf;
  ReadBudget budget;
  conf.main = read_lines(host, fmt::format("{}/limits.conf", kEtc), kMaxBytes, conf.problems, budget);
  std::map<std::string, std::string> names;
  add_names(host, fmt::format("{}/limits.d", kEtc), names, conf);
  for (const char* vendor : kVendors) {
    if (!conf.vendor)
      conf.vendor = read_lines(host, fmt::format("{}/limits.conf", vendor), kMaxBytes, conf.problems, budget);
    add_names(host, fmt::format("{}/limits.d", vendor), names, conf);
  }
  for (const auto& [name, directory] : names) {
    if (conf.drop_ins.size() >= kMaxDropIns) {
      conf.problems.push_back(
          fmt::format("{}: only the first {} of {} files were read", directory, kMaxDropIns, names.size()));
      conf.drop_ins.push_back(ConfigFile::none(Missing::kError, directory));
      break;
    }
    conf.drop_ins.push_back(read_lines(host, fmt::format("{}/{}", directory, name), kMaxBytes, conf.problems, budget));
  }
  return conf;
}

ConfigFile collect_limits_file(const Host& host, const std::string& path) {
  std::vector<std::string> ignored;
  ReadBudget budget;
  return read_lines(host, path, kMaxBytes, ignored, budget);
}

}  // namespace pindown
