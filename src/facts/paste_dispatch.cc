// SPDX-License-Identifier: Apache-2.0
// Chooses the reader of a line: by the question its command asked (read_block), or by how the line begins
// (read_evident). Most lines of a log match no first letter and cost a table look-up; nothing here allocates for them.
#include <cstring>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/paste_internal.h"

namespace pindown::paste {
namespace {

using Reader = bool (*)(const Context&);

struct TopicRow {
  Topic topic;
  Reader read;
};
constexpr TopicRow kTopics[] = {
    {Topic::kUlimit, read_ulimit_value},
    {Topic::kEchoed, read_echoed},
    {Topic::kUlimitAll, read_lock_phrase},
    {Topic::kRlimitTuple, read_rlimit_tuple},
    {Topic::kPrlimit, read_prlimit},
    {Topic::kLimitsFile, read_limits_line},
    {Topic::kStatusFile, read_status_field},
    {Topic::kUidMap, read_uid_map},
    {Topic::kUserNs, read_user_ns},
    {Topic::kMapCount, read_map_count},
    {Topic::kUserId, read_user_id},
    {Topic::kUserName, read_user_name},
    {Topic::kId, read_id},
    {Topic::kCapabilities, read_capabilities},
    {Topic::kEnviron, read_env},
    {Topic::kVariable, read_variable},
    {Topic::kKernelRelease, read_kernel_release},
    {Topic::kArch, read_arch},
    {Topic::kHostname, read_hostname},
    {Topic::kKernelCmdline, read_cmdline},
    {Topic::kDistroLine, read_distro_line},
    {Topic::kLsbRelease, read_lsb},
    {Topic::kMeminfo, read_meminfo},
    {Topic::kSysctlValue, read_sysctl_value},
    {Topic::kSysctl, read_sysctl},
    {Topic::kBuddyinfo, read_buddyinfo},
    {Topic::kUnitShow, read_unit_show},
    {Topic::kUnitShowValue, read_unit_show_value},
    {Topic::kUnitFile, read_unit_file},
    {Topic::kSshd, read_sshd},
    {Topic::kLimitsConf, read_limits_conf},
    {Topic::kSlurm, read_slurm},
    {Topic::kScript, read_script_line},
    {Topic::kModules, read_modules},
    {Topic::kModinfo, read_modinfo},
    {Topic::kModinfoField, read_modinfo_field},
    {Topic::kModuleVersion, read_module_version},
    {Topic::kListModule, read_list_module},
    {Topic::kNvidiaSmi, read_nvidia_smi},
    {Topic::kNvidiaSmiCsv, read_nvidia_csv},
    {Topic::kIbDevices, read_gid_row},
    {Topic::kIbAttribute, read_ib_attribute},
    {Topic::kRdmaMax, read_rdma_cgroup},
    {Topic::kRdmaCurrent, read_rdma_cgroup},
    {Topic::kHugetlb, read_hugetlb},
    {Topic::kDeviceNodes, read_device_node},
    {Topic::kIbClass, read_ib_class},
    {Topic::kInspect, read_inspect},
    {Topic::kProcessList, read_ps_row},
    {Topic::kPidList, read_pid_list},
    {Topic::kVersion, read_version_answer},
};

bool read_topic(Context& c, const Question& q) {
  const auto row = std::ranges::find(kTopics, q.topic, &TopicRow::topic);
  if (row == std::end(kTopics)) return false;
  c.question = &q;
  const bool understood = row->read(c);
  c.question = nullptr;
  return understood;
}

struct LeadRow {
  std::string_view lead;
  Reader read;
};
constexpr LeadRow kLeads[] = {
    {"CapInh:", read_status_line},
    {"CapPrm:", read_status_line},
    {"CapEff:", read_status_line},
    {"CapBnd:", read_status_line},
    {"CapAmb:", read_status_line},
    {"VmPin:", read_status_line},
    {"VmLck:", read_status_line},
    {"NoNewPrivs:", read_status_line},
    {"MEMLOCK", read_prlimit},
    {"memorylocked", read_lock_phrase},
    {"uid=", read_id},
    {"user:[", read_user_ns},
    {"lrwxrwxrwx", read_user_ns},
    {"uid_map", read_uid_map},
    {"Bounding set =", read_capabilities},
    {"Ambient set =", read_capabilities},
    {"Current: ", read_capabilities},
    {"Linux ", read_uname},
    {"BOOT_IMAGE=", read_cmdline},
    {"Kernel command line: ", read_cmdline},
    {"PRETTY_NAME=", read_distro},
    {"Cma", read_meminfo},
    {"HugePages_", read_meminfo},
    {"Hugepagesize:", read_meminfo},
    {"MemTotal:", read_meminfo},
    {"MemFree:", read_meminfo},
    {"Total memory: ", read_meminfo},
    {"MemAvailable:", read_meminfo},
    {"Mlocked:", read_meminfo},
    {"Unevictable:", read_meminfo},
    {"vm.", read_sysctl},
    {"kernel.", read_sysctl},
    {"user.", read_sysctl},
    {"fs.", read_sysctl},
    {"Node ", read_buddyinfo},
    {"Defaults", read_sudoers},
    {"/etc/sudoers", read_sudoers},
    {"PropagateResourceLimits", read_slurm},
    {"SLURM_VERSION", read_slurm},
    {"usepam", read_pam_or_slurm},
    {"UsePAM", read_pam_or_slurm},
    {"Module ", read_module_row},
    {"nvidia", read_module_row},
    {"nv_peer", read_module_row},
    {"ib_", read_module_row},
    {"mlx", read_module_row},
    {"rdma_", read_module_row},
    {"efa ", read_module_row},
    {"irdma ", read_module_row},
    {"bnxt_re ", read_module_row},
    {"amdgpu ", read_module_row},
    {"siw ", read_module_row},
    {"erdma ", read_module_row},
    {"gdrdrv ", read_module_row},
    {"mana_ib ", read_module_row},
    {"modprobe: ", read_module_error},
    {"insmod: ", read_module_error},
    {"modinfo: ", read_module_error},
    {"NVRM version:", read_version_line},
    {"MLNX_OFED_LINUX-", read_version_line},
    {"libfabric: ", read_version_line},
    {"# Library version: ", read_version_line},
    {"# UCT version=", read_version_line},
    {"# UCX version ", read_version_line},
    {"Library version: ", read_version_line},
    {"EFA installer version: ", read_version_line},
    {"# EFA installer version: ", read_version_line},
    {"Docker version ", read_version_line},
    {"podman version ", read_version_line},
    {"ii ", read_package},
    {"rdma-core", read_package},
    {"libibverbs", read_package},
    {"|", read_nvidia_smi},
    {"GPU ", read_gpu_line},
    {"BAR1 Memory", read_bar1},
    {"Product Name", read_gpu_field},
    {"Driver Version", read_gpu_field},
    {"Total", read_gpu_field},
    {"Used", read_gpu_field},
    {"Free", read_gpu_field},
    {"mlx", read_gid_row},
    {"GID[", read_gid_field},
    {"hca_id:", read_ib_device},
    {"CA '", read_ib_device},
    {"Infiniband device '", read_ib_device},
    {"fw_ver:", read_ib_field},
    {"Firmware version:", read_ib_field},
    {"state:", read_ib_field},
    {"State:", read_ib_field},
    {"link_layer:", read_ib_field},
    {"Link layer:", read_ib_field},
    {"max_mr", read_ib_field},
    {"max_qp:", read_ib_field},
    {"max_cq:", read_ib_field},
    {"link ", read_rdma_link},
    {"crw", read_device_node},
    {"ls: ", read_lookup_error},
    {"cat: ", read_lookup_error},
    {"stat: ", read_lookup_error},
    {"\"Ulimits\"", read_inspect},
    {"setenv ", read_env},
    {"kind: ", read_manifest},
    {"privileged: ", read_privileged},
};

/// kLeads by first byte, made once.
const std::array<std::vector<LeadRow>, 256>& leads() {
  static const auto* const table = [] {
    auto* out = new std::array<std::vector<LeadRow>, 256>;
    for (const LeadRow& row : kLeads) (*out)[static_cast<unsigned char>(row.lead[0])].push_back(row);
    return out;
  }();
  return *table;
}

/// Lines that begin with a number: wc, rdma(8). Timestamps end at the first comparison.
bool read_numbered(const Context& c) {
  std::string_view rest = c.text;
  take_digits(rest);
  if (rest.starts_with(" /proc/")) return read_map_count_line(c);
  if (rest.starts_with(": ")) return read_rdma_resource(c);
  return rest.starts_with("/") && read_rdma_link(c);
}

bool holds(std::string_view text, std::string_view word) {
  return memmem(text.data(), text.size(), word.data(), word.size()) != nullptr;
}

/// "Max locked memory", "memlock", "MEMLOCK", "ulimit -l": wherever they stand in the line.
bool read_lock_words(const Context& c) {
  const std::string_view text = c.text.substr(0, 512);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const void* k = memchr(text.data() + at, 'k', text.size() - at);
    if (!k) break;
    at = static_cast<std::size_t>(static_cast<const char*>(k) - text.data());
    if (at < 3 || text[at - 1] != 'c' || text[at - 2] != 'o' || text[at - 3] != 'l') continue;
    if (text.substr(at + 1, 2) == "ed" || (at >= 6 && to_lower(text[at - 4]) == 'm' && text[at - 5] == 'e')) {
      return read_lock_phrase(c) || read_limits_conf(c);
    }
  }
  return (holds(text, "MEMLOCK") || holds(text, "ulimit -")) && read_lock_phrase(c);
}

/// A name in capitals in front of some '=' that pindown keeps; what it is part of is read_env's to judge.
bool may_hold_variable(std::string_view text) {
  text = text.substr(0, 512);
  std::size_t at = 0;
  for (int tries = 0; tries < 8; ++tries, ++at) {
    const void* equals = at < text.size() ? memchr(text.data() + at, '=', text.size() - at) : nullptr;
    if (!equals) return false;
    at = static_cast<std::size_t>(static_cast<const char*>(equals) - text.data());
    std::size_t start = at;
    while (start > 0 && ((text[start - 1] >= 'A' && text[start - 1] <= 'Z') || is_digit(text[start - 1]) ||
                         text[start - 1] == '_')) {
      --start;
    }
    if (at - start >= 4 && keeps_variable(text.substr(start, at - start))) return true;
  }
  return false;
}

/// "/proc/1/limits:Max locked memory …", "/etc/security/limits.conf:12:* - memlock 64": grep over several files.
bool read_behind_path(const Context& c) {
  static constexpr std::array<std::string_view, 7> kPlaces = {
      "/proc/", "/sys/", "/etc/", "/lib/systemd/", "/usr/lib/systemd/", "/run/systemd/", "/opt/amazon/"};
  if (std::ranges::none_of(kPlaces, [&](std::string_view each) { return c.text.starts_with(each); })) return false;
  const auto colon = c.text.substr(0, 300).find(':');
  if (colon == c.text.npos || c.text.substr(0, colon).find(' ') != c.text.npos) return false;
  Question q = question_of_path(c.text.substr(0, colon));
  if (q.topic == Topic::kNone) return false;
  Context inner = c;
  inner.text = trim(c.text.substr(colon + 1));
  std::string_view rest = inner.text;
  if (!take_digits(rest).empty() && consume(rest, ":")) inner.text = trim(rest);
  if (inner.text.empty()) return false;
  return read_topic(inner, q) || (inner.text.find(':') != 0 && inner.text[0] != '/' && read_evident(inner));
}

/// "==> /proc/1/limits <==" of head and tail.
bool read_file_header(std::string_view text, Stream& block) {
  if (!text.starts_with("==> ") || !text.ends_with(" <==")) return false;
  block.header = question_of_path(trim(text.substr(4, text.size() - 8)));
  return block.header.topic != Topic::kNone;
}

/// What ssh, kubectl and login shells say before the output that was asked for.
bool is_noise(std::string_view text) {
  static constexpr std::array<std::string_view, 6> kNoise = {"Warning:",      "warning:",       "Defaulted container",
                                                             "bash: warning", "Connection to ", "Last login:"};
  return std::ranges::any_of(kNoise, [&](std::string_view each) { return text.starts_with(each); });
}

/// Lone values are answered in the order of the questions; the first line that does not fit uses one up.
bool read_single(Context& c, Question& q, bool once) {
  if (q.reshaped && !q.counts && q.topic != Topic::kModinfoField) return false;
  const bool understood = read_topic(c, q);
  if (understood || !is_noise(c.text)) q.answered = once;
  return understood;
}

bool read_unit_property(Context& c, Question& q) {
  const std::string key = std::string(c.text.substr(0, std::min<std::size_t>(c.text.find('='), 40))) + ' ';
  if (contains(q.seen, key)) {
    q.answered = true;
    return false;
  }
  if (!read_topic(c, q)) return false;
  q.seen += key;
  return true;
}

}  // namespace

bool read_evident(const Context& c) {
  if (c.text.empty()) return false;
  for (const LeadRow& row : leads()[static_cast<unsigned char>(c.text[0])]) {
    if (c.text.starts_with(row.lead) && row.read(c)) return true;
  }
  if (is_digit(c.text[0]) && read_numbered(c)) return true;
  if (c.text[0] == '/' && read_behind_path(c)) return true;
  if (read_lock_words(c)) return true;
  if (holds(c.text.substr(0, 60), ": pd ") && read_rdma_resource(c)) return true;
  if (c.text.size() < 300 && holds(c.text, "user:[") && read_user_ns(c)) return true;
  if (c.text.size() > 22 && c.text.find('-') < 17 && read_mapping(c)) return true;
  const bool nccl = c.line.shape.nccl_prefix || c.text.starts_with("NCCL ") || c.text.starts_with("NCCL_");
  if (nccl && holds(c.text.substr(0, 200), " set by environment to ")) return read_env(c);
  return may_hold_variable(c.text) && read_env(c);
}

bool Stream::asks_several_values() const {
  return std::ranges::count_if(command.questions, [](const Question& q) { return q.single && !q.counts; }) > 1;
}

bool read_block(Context& c, Stream& block) {
  if (read_file_header(c.text, block)) return true;
  if (block.header.topic != Topic::kNone) return read_topic(c, block.header);
  // Else every line is another task's only answer.
  const bool once = !c.fan || !block.fan.by_rank.empty() || block.asks_several_values();
  bool waiting = true;  // for the first question that has no answer yet
  for (Question& q : block.command.questions) {
    if (q.answered) continue;
    Context numbered = c;
    if (q.grep.numbered) {
      std::string_view rest = c.text;
      if (!take_digits(rest).empty() && consume(rest, ":")) numbered.text = trim(rest);
    }
    if (q.topic == Topic::kUnitShow) {
      if (read_unit_property(numbered, q)) return true;
      if (!q.answered) return false;
    } else if (!q.single && !q.counts) {
      if (read_topic(numbered, q)) return true;
    } else if (waiting) {
      waiting = false;
      if (read_single(numbered, q, once)) return true;
    }
  }
  return false;
}

}  // namespace pindown::paste
