// SPDX-License-Identifier: Apache-2.0
// What incident.cc and incident_after.cc both ask of an event, and attempts: a log may tell of a job that was started
// again. Header only, pure. Must not: order or group.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/text.h"
#include "logs/event.h"

namespace pindown::logs {

/// Warnings that name a condition without saying that anything failed of it.
inline bool is_weak(const Event& e) {
  return e.kind == Kind::kMemlockWarning || e.kind == Kind::kDriverMissing || e.kind == Kind::kRegisterableLow;
}

/// Failures that another rank's or an earlier failure brings about; never first while a direct one exists.
inline bool is_derived(Kind kind) {
  return kind == Kind::kConnection || kind == Kind::kLibraryError || kind == Kind::kCompletion;
}

/// Ends of a process: first only if they come before everything else.
inline bool is_end(Kind kind) {
  return kind == Kind::kSegfault || kind == Kind::kSigbus || kind == Kind::kKilled || kind == Kind::kPythonException ||
         kind == Kind::kCancelled;
}

/// Calls that come one after the other on the way to registered memory; opening the device is another matter.
inline bool is_charged_step(Kind kind) {
  return kind == Kind::kRegMr || kind == Kind::kRegDmabuf || kind == Kind::kCreateQueue || kind == Kind::kAllocPd ||
         kind == Kind::kForkHugepages;
}

inline bool same_failure(const Event& a, const Event& b) {
  const bool comparable = a.kind == b.kind || (is_charged_step(a.kind) && is_charged_step(b.kind));
  if (!comparable) return false;
  return a.error == b.error || !a.error || !b.error;
}

/// The launcher says that it starts the job's processes again: torchrun's agent
/// (torch/distributed/elastic/agent/server/ api.py, _invoke_run), slurmstepd at a requeue.
inline bool is_restart(const Event& e) {
  return e.kind == Kind::kRestart || (e.kind == Kind::kCancelled && contains(e.detail, "REQUEUE"));
}

/// Which attempt of the job a line is of: the number of restarts before it in its input.
class Attempts {
 public:
  explicit Attempts(const std::vector<Event>& events) {
    for (const Event& e : events) {
      if (!is_restart(e)) continue;
      auto& lines = restarts_[e.input];
      if (lines.size() < kMost) lines.push_back(e);
    }
  }
  std::size_t of(const Event& e) const {
    const auto at = restarts_.find(e.input);
    if (at == restarts_.end()) return 0;
    return static_cast<std::size_t>(
        std::ranges::count_if(at->second, [&e](const Event& restart) { return restart.line < e.line; }));
  }
  /// The restart that ended the attempt of `e`, if there was one.
  const Event* end_of(const Event& e) const {
    const auto at = restarts_.find(e.input);
    if (at == restarts_.end()) return nullptr;
    const auto next = std::ranges::find_if(at->second, [&e](const Event& r) { return r.line > e.line; });
    return next == at->second.end() ? nullptr : &*next;
  }

 private:
  static constexpr std::size_t kMost = 64;
  std::map<std::string, std::vector<Event>> restarts_;
};

}  // namespace pindown::logs
