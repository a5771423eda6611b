// SPDX-License-Identifier: Apache-2.0
// The machine: kernel, distribution, memory, sysctls, modules, drivers. Entry point: collect_machine; RDMA devices, the
// container question, the kernel log and processes have files of their own (collect_*.cc).
// Must not: judge, or read a file nobody judges.
#include "facts/collect.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>

#include "base/text.h"
#include "facts/collect_detail.h"
#include "facts/proc.h"

namespace pindown {
namespace collect {

Missing missing_of(HostErrorKind kind) {
  switch (kind) {
    case HostErrorKind::kNotFound:
      return Missing::kAbsent;
    case HostErrorKind::kDenied:
      return Missing::kDenied;
    case HostErrorKind::kVanished:
      return Missing::kVanished;
    case HostErrorKind::kTooLarge:
    case HostErrorKind::kError:
      return Missing::kError;
  }
  return Missing::kError;
}

void note_problem(std::vector<std::string>& problems, const HostError& error) {
  if (error.kind == HostErrorKind::kNotFound || error.kind == HostErrorKind::kVanished) return;
  if (std::find(problems.begin(), problems.end(), error.message) == problems.end()) problems.push_back(error.message);
}

Fact<std::string> read_line(const Host& host, const std::string& path, std::vector<std::string>& problems) {
  const auto text = host.read(path);
  if (!text) {
    note_problem(problems, text.error());
    return Fact<std::string>::none(missing_of(text.error().kind), path);
  }
  std::string_view rest = *text;
  std::string_view line;
  if (!next_line(rest, line) || trim(line).empty()) return Fact<std::string>::none(Missing::kMalformed, path);
  return Fact<std::string>::of(std::string(trim(line)), {path, std::string(line)});
}

std::string_view line_of(std::string_view text, std::string_view key) {
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with(key)) return line;
    at = end + 1;
  }
  return {};
}

std::string UserNames::name_of(std::uint32_t uid) {
  const auto known = known_.find(uid);
  if (known != known_.end()) return known->second;
  if (!passwd_) passwd_ = host_.read("/etc/passwd").value_or("");
  std::string name = std::to_string(uid);
  std::string_view rest = *passwd_;
  std::string_view line;
  while (next_line(rest, line)) {
    const auto fields = split(line, ':');
    if (fields.size() < 3 || fields[0].empty() || parse_u64(fields[2]) != uid) continue;
    name = std::string(fields[0]);
    break;
  }
  return known_.emplace(uid, std::move(name)).first->second;
}

std::string unquote(std::string_view text) {
  text = trim(text);
  const char quote = text.empty() ? '\0' : text.front();
  const bool quoted = (quote == '"' || quote == '\'') && text.size() >= 2 && text.back() == quote;
  if (quoted) text = text.substr(1, text.size() - 2);
  if (!quoted || quote == '\'') return std::string(text);
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    plain += text[i];
  }
  return plain;
}

}  // namespace collect

namespace {

using collect::note_problem;
using collect::read_line;
using collect::unquote;

Fact<std::string> collect_distro(const Host& host, std::vector<std::string>& problems) {
  Fact<std::string> answer = Fact<std::string>::none(Missing::kAbsent, "/etc/os-release");
  for (const char* path : {"/etc/os-release", "/usr/lib/os-release"}) {
    const auto text = host.read(path);
    if (!text) {
      note_problem(problems, text.error());
      if (text.error().kind != HostErrorKind::kNotFound) answer.missing = collect::missing_of(text.error().kind);
      continue;
    }
    constexpr std::string_view kKey = "PRETTY_NAME=";
    const std::string_view line = collect::line_of(*text, kKey);
    if (line.empty()) return Fact<std::string>::none(Missing::kMalformed, path);
    return Fact<std::string>::of(unquote(line.substr(kKey.size())), {path, std::string(line)});
  }
  return answer;
}

Fact<std::string> collect_arch(const Host& host) {
  struct utsname name{};
  if (!host.live() || ::uname(&name) != 0) return Fact<std::string>::none(Missing::kNotAsked, "uname -m");
  return Fact<std::string>::of(name.machine, {"uname -m", name.machine});
}

void collect_meminfo(const Host& host, Facts& facts) {
  constexpr std::string_view kPath = "/proc/meminfo";
  const auto text = host.read(kPath);
  if (text) {
    facts.meminfo = parse_meminfo(*text, kPath);
  } else {
    note_problem(facts.problems, text.error());
  }
}

void collect_sysctls(const Host& host, Facts& facts) {
  for (const std::string name : {"vm.max_map_count", "vm.overcommit_memory", "vm.hugetlb_shm_group"}) {
    std::string path = "/proc/sys/" + name;
    std::replace(path.begin(), path.end(), '.', '/');
    facts.sysctl[name] = read_line(host, path, facts.problems);
  }
}

// A kernel without CONFIG_MODULES has no /proc/modules: then what is built in is not known, and nothing is complete.
void collect_modules(const Host& host, Facts& facts) {
  constexpr std::string_view kPath = "/proc/modules";
  const auto text = host.read(kPath);
  if (!text) {
    note_problem(facts.problems, text.error());
    facts.modules_complete = Fact<bool>::none(collect::missing_of(text.error().kind), std::string(kPath));
    return;
  }
  std::string_view rest = *text;
  std::string_view line;
  while (next_line(rest, line)) {
    std::string name(line.substr(0, line.find(' ')));
    if (name.empty()) continue;
    std::replace(name.begin(), name.end(), '-', '_');
    facts.modules[name] = Fact<bool>::of(true, {std::string(kPath), std::string(line)});
  }
  facts.modules_complete = Fact<bool>::of(true, {std::string(kPath), {}});
}

bool is_version(std::string_view word) {
  return word.find('.') != word.npos &&
         std::all_of(word.begin(), word.end(), [](char c) { return is_digit(c) || c == '.'; });
}

// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.14  Release Build  (…)"; without "Open" it is the
// proprietary one. The open modules say MODULE_LICENSE("Dual MIT/GPL"), kernel-open/nvidia/nv.c.
void collect_nvidia(const Host& host, Facts& facts) {
  facts.versions["nvidia_driver"] = read_line(host, "/sys/module/nvidia/version", facts.problems);
  const auto nvrm = read_line(host, "/proc/driver/nvidia/version", facts.problems);
  if (!nvrm) return;
  const bool open_modules = contains(*nvrm, "Open Kernel Module");
  facts.nvidia_license = Fact<std::string>::of(open_modules ? "Dual MIT/GPL" : "NVIDIA", nvrm.source);
  if (facts.versions["nvidia_driver"].known()) return;
  for (const std::string_view word : split_blanks(*nvrm)) {
    if (!is_version(word)) continue;
    facts.versions["nvidia_driver"] = Fact<std::string>::of(std::string(word), nvrm.source);
    return;
  }
}

Fact<std::string> collect_whole(const Host& host, const std::string& path, std::vector<std::string>& problems) {
  auto text = host.read(path);
  if (!text) {
    note_problem(problems, text.error());
    return Fact<std::string>::none(collect::missing_of(text.error().kind), path);
  }
  std::string first = text->substr(0, text->find('\n'));
  return Fact<std::string>::of(std::move(*text), {path, std::move(first)});
}

std::string collect_host_name(const Host& host) {
  std::vector<std::string> ignored;
  for (const char* path : {"/proc/sys/kernel/hostname", "/etc/hostname"}) {
    const auto name = read_line(host, path, ignored);
    if (name) return *name;
  }
  return {};
}

}  // namespace

Facts collect_machine(const Host& host) {
  Facts facts;
  facts.host = collect_host_name(host);
  facts.kernel = read_line(host, "/proc/sys/kernel/osrelease", facts.problems);
  facts.arch = collect_arch(host);
  facts.distro = collect_distro(host, facts.problems);
  facts.cmdline = read_line(host, "/proc/cmdline", facts.problems);
  facts.inside_container = collect::collect_inside_container(host);
  collect_meminfo(host, facts);
  collect_sysctls(host, facts);
  collect_modules(host, facts);
  collect_nvidia(host, facts);
  collect::collect_rdma(host, facts);
  facts.buddyinfo = collect_whole(host, "/proc/buddyinfo", facts.problems);
  collect::collect_kernel_log(host, facts);
  return facts;
}

}  // namespace pindown
