// SPDX-License-Identifier: Apache-2.0
// See sessions.h. What all sessions go through is read once, the rest once a way and user, of few of them: a node has
// thousands of ranks.
#include "cli/sessions.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "facts/login.h"
#include "model/predict.h"
#include "model/session_start.h"

namespace pindown::cli {
namespace {

std::string words(const Process* caller) {
  if (caller == nullptr || !caller->memlock.known()) return "";
  const MemlockLimit& limit = *caller->memlock;
  return fmt::format("{}:{}", limit.soft ? limit.soft->bytes : 1, limit.hard ? limit.hard->bytes : 1);
}

/// `facts` are the machine's.
Prediction predict(const Host& host, LoginFacts facts, const SessionStart& start, const std::string& user) {
  add_question(host, question_of(start.entry, user), facts);
  facts.self = start.caller != nullptr ? *start.caller : Process{};
  facts.self_is = "what opened the session";
  return derive_prediction(start.entry, facts, std::nullopt, nullptr);
}

}  // namespace

bool is_limited(const Process& process) {
  return process.memlock.known() && process.memlock->soft && !process.memlock->soft->is_unlimited();
}

std::map<std::int64_t, Prediction> predict_sessions(const Host& host, const std::vector<std::vector<Process>>& chains) {
  constexpr std::size_t kMostKinds = 64;
  std::optional<LoginFacts> machine;
  std::map<std::string, Prediction> kinds;
  std::map<std::int64_t, Prediction> sessions;
  for (const auto& chain : chains) {
    const Process& process = chain.front();
    const auto start = derive_session_start(chain);
    if (!start || !is_limited(process) || process.user.empty() || !process.where.pid) continue;
    const std::string kind = fmt::format("{} {} {}", start->entry.name, process.user, words(start->caller));
    if (!kinds.contains(kind)) {
      if (kinds.size() == kMostKinds) continue;
      if (!machine) machine = collect_login_machine(host);
      kinds.emplace(kind, predict(host, *machine, *start, process.user));
    }
    sessions.emplace(*process.where.pid, kinds.at(kind));
  }
  return sessions;
}

}  // namespace pindown::cli
