// SPDX-License-Identifier: Apache-2.0
// The chain of processes as links with their limits. Entry points: trail.h. The limit of a process is its parent's
// unless somebody changed it (kernel/fork.c copy_signal copies it, execve and setuid keep it), so the link whose value
// differs from its parent's is where it was set. Must not: say what set it; that is for the checks.
#include "model/trail.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "facts/proc.h"
#include "model/session_start.h"

namespace pindown {
namespace {

constexpr std::size_t kMaxName = 40;

/// A session of sshd is all "sshd" in comm; its title says whose: "sshd: alice [priv]", "sshd: alice@pts/0".
std::string_view title_of(const Process& process) {
  const std::string_view title = process.cmdline;
  if (!process.comm.starts_with("sshd") || !title.starts_with("sshd") || contains(title, "[listener]")) return {};
  const auto colon = title.find(": ");
  if (colon == title.npos) return {};
  return title.substr(0, title.find_first_of(" @", colon + 2));
}

std::string name_of(const Process& process, const Process* parent) {
  const std::string_view service = service_of_cgroup(process.cgroup);
  const bool first_of_service = parent == nullptr || service_of_cgroup(parent->cgroup) != service;
  if (!service.empty() && first_of_service && process.where.pid != 1) return std::string(service);
  const std::string_view title = title_of(process);
  if (!title.empty()) return std::string(title.substr(0, kMaxName));
  return process.comm.empty() ? "?" : process.comm;
}

std::optional<Limit> soft_of(const Process* process) {
  return process != nullptr && process->memlock ? process->memlock->soft : std::nullopt;
}

TrailLink link_of(const Process& process, const Process* parent) {
  TrailLink link;
  link.name = name_of(process, parent);
  link.comm = process.comm;
  link.pid = process.where.pid.value_or(0);
  link.source = process.memlock.source.path;
  if (!process.memlock) return link;
  link.soft = process.memlock->soft;
  link.hard = process.memlock->hard;
  link.text = process.memlock.source.text;
  const auto above = soft_of(parent);
  link.set_here = above && link.soft && *link.soft != *above;
  if (link.set_here) link.note = "set here";
  return link;
}

std::string_view capability_word(const Process& process) {
  const auto effective = process.caps ? process.caps->effective : std::nullopt;
  if (!effective) return "unknown";
  if (!has_cap(*effective, kCapIpcLock)) return "no";
  if (!process.initial_userns) return "unknown";
  return *process.initial_userns ? "yes" : "void in its user namespace";
}

Subject subject_of(const Process& process) {
  Subject subject;
  if (!process.where.host.empty()) subject.host = process.where.host;
  subject.pid = process.where.pid;
  subject.rank = process.where.rank;
  const std::string& shown = process.cmdline.empty() ? process.comm : process.cmdline;
  if (!shown.empty()) subject.process = shown;
  if (!process.user.empty()) subject.user = process.user;
  return subject;
}

int last_index(const Trail& trail) {
  return static_cast<int>(trail.links.size()) - 1;
}

const TrailLink& link_at(const Trail& trail, int index) {
  return trail.links[static_cast<std::size_t>(index)];
}

}  // namespace

Trail derive_trail(const std::vector<Process>& chain) {
  Trail trail;
  if (chain.empty()) return trail;
  for (std::size_t i = chain.size(); i-- > 0;) {
    const Process* parent = i + 1 < chain.size() ? &chain[i + 1] : nullptr;
    trail.links.push_back(link_of(chain[i], parent));
  }
  const Process& subject = chain.front();
  trail.subject = subject_of(subject);
  trail.summary = fmt::format("VmPin {} · CAP_IPC_LOCK {}", subject.vm_pin ? format_size(*subject.vm_pin) : "unknown",
                              capability_word(subject));
  return trail;
}

void annotate_trail(Trail& trail, const std::vector<UnitFile>& units, const ManagerConf& manager) {
  for (TrailLink& link : trail.links) {
    const auto unit = std::ranges::find(units, link.name, &UnitFile::name);
    if (unit == units.end() || !link.soft) continue;
    const Fact<MemlockLimit>& configured = unit->memlock.known() ? unit->memlock : manager.default_memlock;
    const bool explains = configured.known() && configured->soft == link.soft;
    if (explains) {
      link.source = configured.source.path;
      link.text = configured.source.text;
    } else if (configured.known() && configured->soft && opens_own_session(link.comm)) {
      link.note += fmt::format("{}the unit says {} ({}); PAM set another", link.note.empty() ? "" : "; ",
                               format_limit(*configured->soft), configured.source.path);
    } else if (configured.known() && configured->soft) {
      link.note += fmt::format("{}now configured: {} ({}); restart to apply", link.note.empty() ? "" : "; ",
                               format_limit(*configured->soft), configured.source.path);
    } else if (link.set_here && unit->fragment.known()) {
      link.note += "; no LimitMEMLOCK in " + *unit->fragment;
    }
  }
}

int lowered_at(const Trail& trail) {
  const auto subject = trail.links.empty() ? std::nullopt : trail.links.back().soft;
  if (!subject) return -1;
  for (int i = last_index(trail); i > 0; --i) {
    const TrailLink& link = link_at(trail, i);
    const auto& above = link_at(trail, i - 1).soft;
    // A lowering that a later link undid does not explain the subject's value.
    if (link.set_here && link.soft && above && *link.soft < *above && *subject < *above) return i;
  }
  return -1;
}

int set_at(const Trail& trail) {
  for (int i = last_index(trail); i >= 0; --i) {
    const TrailLink& link = link_at(trail, i);
    if (!link.soft) return -1;
    if (link.set_here) return i;
    // Above a chain that does not reach PID 1 (docker exec, hidepid) anybody may have set it.
    if (i == 0) return link.pid == 1 ? 0 : -1;
  }
  return -1;
}

}  // namespace pindown
