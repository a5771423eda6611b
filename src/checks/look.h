// SPDX-License-Identifier: Apache-2.0
// Small questions that the families of checks about devices, memory and look-alikes (PD5xx to PD7xx) all ask of a
// situation. Header only, pure. Must not: know a code or decide a cause.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "checks/check.h"
#include "checks/limit_common.h"

namespace pindown::look {

using logs::Event;
using logs::Kind;
using logs::MemoryType;

inline bool first_is(const Situation& s, std::initializer_list<Kind> kinds) {
  if (!s.incident) return false;
  for (const Kind kind : kinds) {
    if (s.failure() == kind) return true;
  }
  return false;
}

/// The call named one buffer to register (not a queue, not a device).
inline bool buffer_failed(const Situation& s) {
  return first_is(s, {Kind::kRegMr, Kind::kRegDmabuf});
}

/// A call that pins host memory failed in a way that may be ENOMEM.
inline bool host_enomem(const Situation& s) {
  return first_is(s, {Kind::kRegMr, Kind::kCreateQueue, Kind::kAllocPd}) && s.enomem_possible() &&
         s.memory() != MemoryType::kGpu;
}

inline bool limit_proven(const Situation& s) {
  return s.incident && limits::standing(s) == limits::Standing::kProven;
}

/// The access flags that a line prints as "access=0xf".
inline std::optional<std::uint64_t> access_flags(const Event& event) {
  std::string_view text = event.raw;
  const auto at = text.find("access=0x");
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + 9);
  const auto end = text.find_first_not_of("0123456789abcdefABCDEF");
  return parse_hex(text.substr(0, std::min<std::size_t>(end, 17)));
}

/// IBV_ACCESS_ON_DEMAND (verbs.h): the pages are not pinned, so nothing is charged (ib_umem_odp_get).
inline bool on_demand(const Event& event) {
  return (access_flags(event).value_or(0) & 0x40U) != 0;
}

/// The line itself or what its pattern kept of it has the word, in any case.
inline bool says(const Event& event, std::string_view word) {
  return icontains(event.raw, word) || icontains(event.detail, word) || icontains(event.shape.text, word);
}

/// The failing line or one of those that followed it has the word.
inline bool log_says(const Situation& s, std::string_view word) {
  if (!s.incident) return false;
  if (says(s.incident->first, word)) return true;
  for (const Event& echo : s.incident->echoes) {
    if (says(echo, word)) return true;
  }
  for (const Event& note : s.run->notes) {
    if (note.library == "mapping" && says(note, word)) return true;
  }
  return false;
}

/// The library's lines call the buffer the GPU's, or the program (perftest) says where it put it.
inline bool gpu_buffer(const Situation& s) {
  if (s.memory() == MemoryType::kGpu) return true;
  if (!s.incident || !s.run || s.incident->first.library != "perftest") return false;
  return std::ranges::any_of(s.run->notes,
                             [](const Event& e) { return e.library == "perftest" && e.detail == "GPU buffer"; });
}

/// libfabric over a fabric without verbs: what is said of RDMA devices and their drivers does not hold.
inline bool without_verbs(const Situation& s) {
  if (!s.incident || !s.run) return false;
  if (contains(s.incident->first.raw, ":cxi:") || log_says(s, ":cxi:")) return true;
  return std::ranges::any_of(s.run->notes, [](const Event& e) { return icontains(e.raw, "provider is cxi"); });
}

/// A kernel-log line that has all words: from the same log, or from the machine's own kernel log.
struct KernelLine {
  Evidence evidence;
  std::string text;
  const Event* event = nullptr;  // null: from the machine's log
};

inline bool has_all(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (!icontains(text, word)) return false;
  }
  return true;
}

/// "gpu02" of "gpu02.cluster.example".
inline std::string_view short_name(std::string_view host) {
  return host.substr(0, host.find('.'));
}

/// "node09" of "node09: [12.0] mlx5_core …", as pdsh and grep mark lines; empty without such a mark.
inline std::string_view line_mark(std::string_view raw) {
  const auto colon = raw.find(": ");
  if (colon == std::string_view::npos || colon == 0 || colon > 64) return {};
  const std::string_view mark = raw.substr(0, colon);
  for (const char c : mark) {
    if (!is_alnum(c) && c != '-' && c != '.' && c != '_') return {};
  }
  return mark == "kernel" || mark == "dmesg" ? std::string_view() : mark;
}

/// The kernel's line is of another host, or of another day, than the failure.
inline bool unrelated(const Situation& s, const Event& kernel) {
  if (!s.incident) return false;
  const logs::Shape& failed = s.incident->first.shape;
  constexpr std::int64_t kDay = 86'400'000'000;
  if (kernel.shape.time_us && failed.time_us) {
    const bool before = *kernel.shape.time_us < *failed.time_us;
    const std::int64_t earlier = before ? *kernel.shape.time_us : *failed.time_us;
    const std::int64_t later = before ? *failed.time_us : *kernel.shape.time_us;
    if (earlier < later - kDay) return true;
  }
  // Both lines are marked, and the mark of the failure is its host.
  const std::string_view mark = line_mark(s.incident->first.raw);
  const std::string_view other_mark = line_mark(kernel.raw);
  if (!mark.empty() && !other_mark.empty() && mark != other_mark && short_name(mark) == short_name(failed.host)) {
    return !s.incident->hosts.contains(std::string(other_mark));
  }
  // A container's name says nothing of the node it runs on.
  if (kernel.shape.host.empty() || failed.host.empty() || s.in_container() || s.pod_like_name()) return false;
  const std::string_view host = short_name(kernel.shape.host);
  if (host == short_name(failed.host) || contains(failed.wrapper, host)) return false;
  for (const std::string& other : s.incident->hosts) {
    if (host == short_name(other)) return false;
  }
  return true;
}

/// The first kernel line of this kind that can belong to the failure, or null.
inline const Event* kernel_event(const Situation& s, Kind wanted) {
  if (!s.run) return nullptr;
  for (const Event& event : s.run->kernel) {
    if (event.kind == wanted && !unrelated(s, event)) return &event;
  }
  return nullptr;
}

inline std::optional<KernelLine> kernel_line(const Situation& s, std::initializer_list<std::string_view> words) {
  if (s.run) {
    for (const Event& event : s.run->kernel) {
      if (unrelated(s, event)) continue;
      const std::string text = event.raw + ' ' + event.verb + ' ' + event.detail;
      if (has_all(text, words)) return KernelLine{cite(event), event.raw, &event};
    }
  }
  if (!s.facts->kernel_log) return std::nullopt;
  for (const std::string& line : *s.facts->kernel_log) {
    if (has_all(line, words)) {
      return KernelLine{cite(Source{s.facts->kernel_log.source.path, line}), line, nullptr};
    }
  }
  return std::nullopt;
}

/// The kernel names the thread that failed: "(pid 4242)" is current->pid, a thread's number.
inline bool names_failing_thread(const Situation& s, const KernelLine& line) {
  for (const auto& id : {s.incident->first.shape.pid, s.incident->first.shape.tid}) {
    if (id && line.event && contains(line.text, "(pid " + std::to_string(*id) + ')')) return true;
  }
  return false;
}

/// A kernel line beside a limit that explains the failure as well leads only if it names the failing thread.
inline bool kernel_leads(const Situation& s, const KernelLine& line) {
  return !limits::blamed(s) || names_failing_thread(s, line);
}

/// The RDMA device of the failure: the one the line names, else the only one known.
inline const RdmaDevice* device_of(const Situation& s) {
  const auto& devices = s.facts->devices;
  if (s.incident && !s.incident->first.device.empty()) {
    const auto at = devices.find(s.incident->first.device);
    if (at != devices.end()) return &at->second;
  }
  return devices.size() == 1 ? &devices.begin()->second : nullptr;
}

inline std::string device_name(const Situation& s) {
  if (s.incident && !s.incident->first.device.empty()) return s.incident->first.device;
  const RdmaDevice* device = device_of(s);
  return device ? device->name : std::string();
}

/// Within two percent of the ceiling: what is left is not enough for a job's next step, and counts are taken a little
/// late.
constexpr bool nearly_full(std::uint64_t count, std::uint64_t ceiling) {
  return ceiling > 0 && count >= ceiling - ceiling / 50;
}

/// "1,204"
inline std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

/// The first three numbers of "6.8.0-45-generic" or "1.29.1"; nothing if it does not begin with a number.
inline std::optional<std::array<std::uint64_t, 3>> version_of(std::string_view text) {
  text = trim(text);
  consume(text, "v");
  std::array<std::uint64_t, 3> parts{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = parse_u64(take_digits(text));
    if (!number) return i == 0 ? std::nullopt : std::optional(parts);
    parts[i] = *number;
    if (!consume(text, ".")) break;
  }
  return parts;
}

/// What a library's INFO line says behind `words`, and the line; the first such line of the run.
struct Told {
  std::string value;
  Evidence evidence;
};
inline std::optional<Told> told(const Situation& s, std::string_view words) {
  if (!s.run) return std::nullopt;
  for (const Event& note : s.run->notes) {
    const auto at = note.raw.find(words);
    if (at == std::string::npos) continue;
    std::string_view value = trim(std::string_view(note.raw).substr(at + words.size()));
    if (value.ends_with('.')) value.remove_suffix(1);
    return Told{std::string(value.substr(0, 200)), cite(note)};
  }
  return std::nullopt;
}

/// A variable of the job: from its environment, else as NCCL says it was given it (misc/param.cc; NCCL_IB_HCA has a
/// wording of its own in transport/net_ib.cc).
inline std::optional<Told> variable(const Situation& s, const std::string& name) {
  if (const auto* set = s.env(name); set && *set) return Told{**set, cite(set->source)};
  if (auto said = told(s, name + " set by environment to ")) return said;
  return told(s, name + " set to ");
}

/// `uname -r` as pasted, else as RCCL prints it at its start.
inline std::optional<std::string> kernel_release(const Situation& s) {
  if (s.facts->kernel) return *s.facts->kernel;
  const auto said = told(s, "NCCL INFO Kernel version: ");
  return said && version_of(said->value) ? std::optional(said->value) : std::nullopt;
}

/// Somebody meant this run to use RDMA.
inline bool rdma_wanted(const Situation& s) {
  if (const auto off = variable(s, "NCCL_IB_DISABLE"); off && off->value == "1") return false;
  if (variable(s, "NCCL_IB_HCA")) return true;
  if (const auto* net = s.env("NCCL_NET"); net && *net && iequals(**net, "IB")) return true;
  return s.facts->rdma_present && *s.facts->rdma_present;
}

/// Unknown or unreadable versions are not below anything.
inline bool below(std::string_view version, const std::array<std::uint64_t, 3>& bound) {
  const auto parts = version_of(version);
  return parts && *parts < bound;
}

/// A job that went on is degraded, not broken.
inline Outcome judged(const Situation& s, Outcome out) {
  if (out.kind == Outcome::Kind::kFound && s.incident && s.incident->continued && !out.severity) {
    out.severity = Severity::kWarning;
  }
  return out;
}

inline Outcome with(Outcome out, std::vector<Remedy> remedies) {
  out.remedies = std::move(remedies);
  return out;
}

inline Outcome at_severity(Outcome out, Severity severity) {
  out.severity = severity;
  return out;
}

}  // namespace pindown::look
