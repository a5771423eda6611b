// SPDX-License-Identifier: Apache-2.0
// See incident_after.h.
#include "logs/incident_after.h"

#include "base/text.h"

namespace pindown::logs {
namespace {

constexpr std::uint64_t kMuchWork = 10;  // counters after a failure that no straggler prints

bool follows(const Event& later, const Event& first) {
  if (later.input == first.input) return later.line > first.line;
  return later.shape.time_us && first.shape.time_us && *later.shape.time_us > *first.shape.time_us;
}

/// A warning is not blamed for a crash long after it; an orderly end with an error it may be. A time limit is no error.
bool ends_job(const Event& e, const Event& first) {
  if (e.kind == Kind::kCancelled) return false;
  if (e.kind == Kind::kExit) return true;
  return !is_weak(first) && (is_end(e.kind) || e.kind == Kind::kLibraryError || e.kind == Kind::kHostOom);
}

bool shows_work(const Event& e) {
  const bool other_transport =
      e.kind == Kind::kTransport && (icontains(e.detail, "socket") || icontains(e.detail, "tcp"));
  return e.kind == Kind::kProgress || e.kind == Kind::kInitComplete || other_transport;
}

/// Work of the failing process itself, or of a run whose lines name nobody. Another rank may print a step more before
/// it stops.
bool is_work_of(const Event& e, const Incident& incident) {
  if (e.kind == Kind::kProgress && e.detail == "result") return true;
  const Event& first = incident.first;
  if (e.shape.pid && first.shape.pid) {
    // Ray names a node by its address where NCCL has the host's name.
    const bool same_wrapper = !e.shape.wrapper.empty() && e.shape.wrapper == first.shape.wrapper;
    return e.shape.pid == first.shape.pid && (same_wrapper || same_origin_host(e, first));
  }
  if (e.shape.rank && first.shape.rank) return e.shape.rank == first.shape.rank;
  return e.shape.wrapper.empty() || e.shape.wrapper == first.shape.wrapper;
}

/// Where the failure was seen last, by input: work before that proves nothing. A warning may come as often as it likes.
std::map<std::string, const Event*> last_failures(const Incident& incident, const std::vector<Event>& events) {
  std::map<std::string, const Event*> last;
  if (is_weak(incident.first)) return last;
  for (const Event& e : events) {
    if (!is_failure(e.kind) || e.quiet || e.kind == Kind::kHostOom || !same_failure(incident.first, e)) continue;
    const Event*& at = last[e.input];
    if (at == nullptr || e.line > at->line) at = &e;
  }
  return last;
}

/// The last command typed between the failure and a later line of its input; null: none, it is one run.
const Event* command_between(const Event& first, const Event& later, const std::vector<Event>& commands) {
  if (later.input != first.input) return nullptr;
  const Event* last = nullptr;
  for (const Event& command : commands) {
    if (command.input == first.input && command.line > first.line && command.line < later.line) last = &command;
  }
  return last;
}

/// Only a result or a finished initialisation says that a run worked.
bool is_success(const Event& e) {
  return e.kind == Kind::kInitComplete || (e.kind == Kind::kProgress && e.detail == "result");
}

struct Aftermath {
  std::optional<Event> proof;
  std::optional<Event> rerun;         // the command of a later run that worked
  std::uint64_t own = 0, others = 0;  // signs of work before any end
  bool ended = false;
};

/// Counts `e`, which follows the failure. A later attempt of the job starts with a clean sheet.
void count_work(const Event& e, const Incident& incident, bool later_attempt, Aftermath& after) {
  if (is_restart(e)) after.ended = false;
  after.ended = after.ended || ends_job(e, incident.first);
  if (!shows_work(e) || after.ended) return;
  const bool own = later_attempt || is_work_of(e, incident);
  (own ? after.own : after.others) += 1 + e.repeats;
  if ((own || after.others >= kMuchWork) && (!after.proof || e.kind == Kind::kProgress)) after.proof = e;
}

/// What the next command prints is no work of the run that failed.
void see_rerun(const Event& e, const Event& command, Aftermath& after) {
  const bool again = after.rerun && after.rerun->line == command.line;
  if (is_success(e)) after.rerun = command;
  if (again && is_failure(e.kind)) after.rerun.reset();
}

Aftermath aftermath_of(const Incident& incident, const std::vector<Event>& events, const Attempts& attempts,
                       const std::vector<Event>& commands) {
  Aftermath after;
  const auto last = last_failures(incident, events);
  const std::size_t attempt = attempts.of(incident.first);
  for (const Event& e : events) {
    if (!follows(e, incident.first)) continue;
    if (const Event* command = command_between(incident.first, e, commands)) {
      see_rerun(e, *command, after);
      continue;
    }
    const auto again = last.find(e.input);
    const bool fails_again = again != last.end() && again->second->line > e.line;
    if (fails_again && shows_work(e)) continue;
    const bool later = e.input == incident.first.input && attempts.of(e) > attempt;
    // What ends a later attempt, once that one has worked, is another failure's matter.
    if (later && after.proof && ends_job(e, incident.first)) break;
    count_work(e, incident, later, after);
  }
  // One counter may be somebody's remark ("step: 64"); two, a result or a finished initialisation are not.
  if (after.own + after.others == 1 && after.proof && after.proof->kind == Kind::kProgress &&
      after.proof->detail.empty()) {
    after.proof.reset();
  }
  return after;
}

}  // namespace

void decide_continued(LogFindings& log, const std::vector<Event>& events, const Attempts& attempts) {
  for (Incident& incident : log.incidents) {
    const Aftermath after = aftermath_of(incident, events, attempts, log.context.commands);
    incident.rerun = after.rerun;
    const bool long_before_the_end = after.own >= kMuchWork || after.others >= kMuchWork;
    incident.continued = after.proof.has_value() && (!after.ended || long_before_the_end);
    if (!incident.continued) continue;
    incident.continued_by = after.proof;
    const bool later =
        after.proof->input == incident.first.input && attempts.of(*after.proof) > attempts.of(incident.first);
    if (const Event* restart = later ? attempts.end_of(incident.first) : nullptr) incident.restarted_by = *restart;
  }
}

}  // namespace pindown::logs
