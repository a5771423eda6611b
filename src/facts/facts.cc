// SPDX-License-Identifier: Apache-2.0
// Joining facts that came from several inputs, and finding the process a line speaks of. Entry points: merge_facts,
// process_at. What is known already is never overwritten: the caller merges in order of trust.
#include "facts/facts.h"

#include <algorithm>

namespace pindown {
namespace {

// A log can name any number of processes; nothing looks at the facts of this many.
constexpr std::size_t kMaxProcesses = 4096;

/// A reason ("denied") says more than nobody having looked, a value more than any reason.
template <class T>
void take(Fact<T>& mine, const Fact<T>& other) {
  if (mine.known()) return;
  if (other.known() || mine.missing == Missing::kNotAsked) mine = other;
}

template <class T>
void take_each(std::map<std::string, Fact<T>>& mine, const std::map<std::string, Fact<T>>& other) {
  for (const auto& [name, fact] : other) take(mine[name], fact);
}

template <class T>
void append(std::vector<T>& mine, const std::vector<T>& other) {
  mine.insert(mine.end(), other.begin(), other.end());
}

void take_meminfo(Meminfo& mine, const Meminfo& other) {
  for (const auto& [name, value] : other.bytes) {
    if (!mine.bytes.emplace(name, value).second) continue;
    const auto source = other.source.find(name);
    if (source != other.source.end()) mine.source[name] = source->second;
  }
}

void append_new(std::vector<std::string>& mine, const std::vector<std::string>& other) {
  for (const auto& line : other) {
    if (std::find(mine.begin(), mine.end(), line) == mine.end()) mine.push_back(line);
  }
}

void take_scalars(Facts& facts, const Facts& other) {
  if (facts.host.empty()) facts.host = other.host;
  take(facts.kernel, other.kernel);
  take(facts.arch, other.arch);
  take(facts.distro, other.distro);
  take(facts.cmdline, other.cmdline);
  take(facts.inside_container, other.inside_container);
  take(facts.modules_complete, other.modules_complete);
  take(facts.nvidia_license, other.nvidia_license);
  take(facts.rdma_present, other.rdma_present);
  take(facts.buddyinfo, other.buddyinfo);
  take(facts.sshd_usepam, other.sshd_usepam);
  take(facts.kernel_log, other.kernel_log);
  take(facts.pod_privileged, other.pod_privileged);
}

}  // namespace

void merge_device(RdmaDevice& mine, const RdmaDevice& other) {
  if (mine.name.empty()) mine.name = other.name, mine.host = other.host;
  take(mine.state, other.state);
  take(mine.link_layer, other.link_layer);
  take(mine.firmware, other.firmware);
  take(mine.max_mr_size, other.max_mr_size);
  take(mine.max_mr, other.max_mr);
  take(mine.max_qp, other.max_qp);
  take(mine.max_cq, other.max_cq);
  take(mine.mr_count, other.mr_count);
  take(mine.qp_count, other.qp_count);
  take(mine.cq_count, other.cq_count);
  take(mine.cg_max_handle, other.cg_max_handle);
  take(mine.cg_max_object, other.cg_max_object);
  take(mine.cg_current_handle, other.cg_current_handle);
  take(mine.cg_current_object, other.cg_current_object);
  if (mine.gids.empty()) mine.gids = other.gids;
}

void merge_facts(Facts& facts, const Facts& other) {
  take_scalars(facts, other);
  take_meminfo(facts.meminfo, other.meminfo);
  take_each(facts.sysctl, other.sysctl);
  take_each(facts.modules, other.modules);
  take_each(facts.versions, other.versions);
  take_each(facts.hugetlb_limit, other.hugetlb_limit);
  take_each(facts.slurm_conf, other.slurm_conf);
  take_each(facts.env, other.env);
  facts.launchers.insert(other.launchers.begin(), other.launchers.end());
  facts.pod_namespaces.insert(other.pod_namespaces.begin(), other.pod_namespaces.end());
  for (const auto& [name, device] : other.devices) merge_device(facts.devices[name], device);
  append(facts.gpus, other.gpus);
  append(facts.limits_conf, other.limits_conf);
  append(facts.units, other.units);
  append(facts.containers, other.containers);
  append(facts.device_nodes, other.device_nodes);
  append(facts.processes, other.processes);
  append(facts.limit_lines, other.limit_lines);
  append(facts.limit_settings, other.limit_settings);
  append(facts.mappings, other.mappings);
  facts.pid_names.insert(other.pid_names.begin(), other.pid_names.end());
  append_new(facts.problems, other.problems);
}

Process& process_at(Facts& facts, const Where& where) {
  for (auto& process : facts.processes) {
    if (process.where == where) return process;
  }
  if (facts.processes.size() >= kMaxProcesses) {
    // Facts of yet another process are dropped, not given to a wrong one.
    thread_local Process dropped;
    dropped = Process{};
    dropped.where = where;
    return dropped;
  }
  facts.processes.emplace_back().where = where;
  return facts.processes.back();
}

}  // namespace pindown
