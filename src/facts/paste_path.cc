// SPDX-License-Identifier: Apache-2.0
// What a file of a Linux machine tells, judged by its path alone: /proc, /sys, cgroups, configuration. Entry point:
// question_of_path. Also used for the "path:" that grep prints in front of its lines.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/paste_internal.h"

namespace pindown::paste {
namespace {

Question ask(Topic topic, std::string_view arg = {}, bool single = false) {
  Question q;
  q.topic = topic;
  q.arg = arg;
  q.single = single;
  return q;
}

}  // namespace

/// Daemons whose children are jobs or containers: their limits are what those start with.
std::string_view job_daemon(std::string_view text) {
  static constexpr std::array<std::string_view, 13> kDaemons = {
      "slurmd", "slurmstepd", "sshd",  "containerd", "dockerd",       "crio",       "pbs_mom",
      "raylet", "orted",      "prted", "kubelet",    "condor_startd", "flux-broker"};
  for (const std::string_view daemon : kDaemons) {
    const auto at = text.find(daemon);
    if (at == text.npos) continue;
    const auto end = at + daemon.size();
    const bool begins = at == 0 || !is_alnum(text[at - 1]);
    if (begins && (end == text.size() || !is_alnum(text[end]))) return daemon;
  }
  return {};
}

/// "self", "4242", "$(pidof slurmd)", "<pid>".
void set_who(std::string_view who, Question& q) {
  if (who == "self" || who == "thread-self" || who == "$$" || who == "$BASHPID") return;
  q.other_process = true;
  q.pid = parse_i64(who);
  if (!q.pid) q.comm = job_daemon(who);
}

namespace {

Question process_file(std::string_view path) {
  // The name of the process may hold slashes: "$(cat /run/sshd.pid)".
  const auto leaf_at = path.ends_with("/ns/user") ? path.size() - 8 : path.rfind('/');
  if (leaf_at == path.npos || leaf_at == 0) return {};
  static constexpr std::pair<std::string_view, Topic> kLeaves[] = {
      {"limits", Topic::kLimitsFile}, {"status", Topic::kStatusFile}, {"uid_map", Topic::kUidMap},
      {"ns/user", Topic::kUserNs},    {"maps", Topic::kMapCount},     {"environ", Topic::kEnviron},
  };
  const std::string_view leaf = path.substr(leaf_at + 1);
  const auto row = std::ranges::find(kLeaves, leaf, [](const auto& r) { return r.first; });
  if (row == std::end(kLeaves)) return {};
  Question q = ask(row->second);
  q.single = q.topic == Topic::kMapCount;
  set_who(path.substr(0, leaf_at), q);
  return q;
}

Question proc_file(std::string_view path) {
  static constexpr std::pair<std::string_view, Topic> kFiles[] = {
      {"meminfo", Topic::kMeminfo}, {"buddyinfo", Topic::kBuddyinfo},           {"modules", Topic::kModules},
      {"version", Topic::kEvident}, {"driver/nvidia/version", Topic::kEvident},
  };
  for (const auto& [name, topic] : kFiles) {
    if (path == name) return ask(topic);
  }
  if (path == "cmdline") return ask(Topic::kKernelCmdline, {}, true);
  if (path == "sys/kernel/osrelease") return ask(Topic::kKernelRelease, {}, true);
  if (consume(path, "sys/")) {
    std::string name(path);
    std::ranges::replace(name, '/', '.');
    return ask(Topic::kSysctlValue, name, true);
  }
  return process_file(path);
}

Question sys_file(std::string_view path) {
  if (consume(path, "module/")) {
    const auto slash = path.find('/');
    const std::string_view leaf = slash == path.npos ? "" : path.substr(slash + 1);
    if (leaf == "version") return ask(Topic::kModuleVersion, path.substr(0, slash), true);
  }
  if (consume(path, "class/infiniband/")) return ask(Topic::kIbAttribute, path, true);
  return {};
}

/// "hugetlb.2MB.max" → "2MB".
Question hugetlb_file(std::string_view name) {
  if (!consume(name, "hugetlb.")) return {};
  const auto dot = name.find('.');
  if (dot == name.npos) return {};
  const std::string_view kind = name.substr(dot + 1);
  if (kind != "max" && kind != "limit_in_bytes") return {};
  return ask(Topic::kHugetlb, name.substr(0, dot), true);
}

/// "/etc/systemd/system/docker.service.d/override.conf", "/lib/systemd/system/slurmd.service".
Question unit_file(std::string_view path) {
  if (!contains(path, "/systemd/")) return {};
  for (std::string_view part : split(path, '/')) {
    if (part.ends_with(".d")) part.remove_suffix(2);
    if (part.ends_with(".service")) return ask(Topic::kUnitFile, part);
  }
  return {};
}

/// Files of commands that run before or as the job: shells' start-up files and job scripts.
bool is_script(std::string_view path) {
  static constexpr std::array<std::string_view, 12> kNames = {".bashrc",     ".bash_profile", ".bash_login", ".profile",
                                                              ".zshrc",      ".zshenv",       ".zprofile",   ".cshrc",
                                                              "bash.bashrc", "bashrc",        "profile",     ".tcshrc"};
  static constexpr std::array<std::string_view, 8> kEndings = {".sh",  ".bash", ".sbatch", ".slurm",
                                                               ".job", ".pbs",  ".lsf",    ".csh"};
  const std::string_view name = base_name(path);
  return std::ranges::find(kNames, name) != kNames.end() || contains(path, "/profile.d") ||
         std::ranges::any_of(kEndings, [name](std::string_view ending) { return name.ends_with(ending); });
}

Question config_file(std::string_view path) {
  const std::string_view name = base_name(path);
  if (name == "os-release" || name == "lsb-release") return ask(Topic::kEvident);
  if (name == "redhat-release" || name == "system-release" || name == "centos-release" || name == "rocky-release") {
    return ask(Topic::kDistroLine, {}, true);
  }
  if (name == "limits.conf" || contains(path, "/limits.d")) return ask(Topic::kLimitsConf);
  if (name == "slurm.conf") return ask(Topic::kSlurm);
  if (contains(path, "sshd_config")) return ask(Topic::kSshd);
  if (contains(path, "/etc/security")) return ask(Topic::kLimitsConf);  // grep -r
  if (name == "nccl.conf" || name == ".nccl.conf") return ask(Topic::kEnviron);
  if (name == "efa_installed_packages") return ask(Topic::kEvident);
  if (is_script(path)) return ask(Topic::kScript);
  return unit_file(path);
}

}  // namespace

Question question_of_path(std::string_view path) {
  if (consume(path, "/proc/")) return proc_file(path);
  const std::string_view name = base_name(path);
  if (name == "rdma.max") return ask(Topic::kRdmaMax);
  if (name == "rdma.current") return ask(Topic::kRdmaCurrent);
  if (name.starts_with("hugetlb.")) return hugetlb_file(name);
  if (consume(path, "/sys/")) return sys_file(path);
  return config_file(path);
}

}  // namespace pindown::paste
