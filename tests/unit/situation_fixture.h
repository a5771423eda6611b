// SPDX-License-Identifier: Apache-2.0
// A Situation built by hand for the tests of checks: one failing line, its run, the facts beside it. Asks one row by
// its code. Must not: read the machine the test runs on.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

#include "checks/check.h"

namespace pindown::testing {

struct Scene {
  logs::Incident incident;
  logs::RunContext run;
  Facts facts;
  Process process;
  Limit limit;

  explicit Scene(logs::Kind kind, std::optional<int> error = std::nullopt) {
    incident.first.kind = kind;
    incident.first.error = error;
    incident.first.input = "job.log";
    incident.first.line = 7;
    incident.first.raw = "the failing line";
    incident.first.library = "ucx";
    incident.first.verb = "ibv_reg_mr";
  }

  Scene& soft(Limit bytes, bool of_job = true) {
    has_soft_ = true;
    of_job_ = of_job;
    limit = bytes;
    return *this;
  }
  Scene& unlimited() { return soft(Limit::unlimited()); }
  Scene& capability(bool usable) {
    capability_ = usable;
    return *this;
  }
  Scene& memory(logs::MemoryType type) {
    incident.first.memory = type;
    return *this;
  }
  Scene& kernel(std::string raw, logs::Kind kind = logs::Kind::kMlx5Command) {
    logs::Event event;
    event.kind = kind;
    event.library = "kernel";
    event.raw = std::move(raw);
    event.input = "job.log";
    event.line = 90;
    run.kernel.push_back(std::move(event));
    return *this;
  }
  Scene& echo(logs::Kind kind, std::string raw = "a later line") {
    logs::Event event;
    event.kind = kind;
    event.raw = std::move(raw);
    event.input = "job.log";
    event.line = 20;
    incident.echoes.push_back(std::move(event));
    ++incident.echo_count;
    return *this;
  }
  Scene& went_on() {
    incident.continued = true;
    logs::Event event;
    event.kind = logs::Kind::kProgress;
    event.raw = "step 10 loss 3.1";
    event.input = "job.log";
    event.line = 30;
    incident.continued_by = event;
    return *this;
  }
  Scene& meminfo(const std::string& name, std::uint64_t bytes) {
    facts.meminfo.bytes[name] = bytes;
    facts.meminfo.source[name] = {"/proc/meminfo", name};
    return *this;
  }
  Scene& env(const std::string& name, const std::string& value) {
    facts.env[name] = Fact<std::string>::of(value, {"job.log:3", name + "=" + value});
    return *this;
  }
  Scene& kernel_release(const std::string& release) {
    facts.kernel = Fact<std::string>::of(release, {"uname -r", release});
    return *this;
  }
  Scene& cmdline(const std::string& words) {
    facts.cmdline = Fact<std::string>::of(words, {"/proc/cmdline", words});
    return *this;
  }
  RdmaDevice& device(const std::string& name) {
    RdmaDevice& out = facts.devices[name];
    out.name = name;
    return out;
  }

  Outcome ask(std::span<const Check> table, std::string_view code, SubjectKind kind = SubjectKind::kIncident) const {
    Situation s;
    s.kind = kind;
    s.facts = &facts;
    if (kind == SubjectKind::kIncident) {
      s.incident = &incident;
      s.run = &run;
    }
    if (kind == SubjectKind::kProcess) s.process = &process;
    if (has_soft_) s.limit.soft = limit;
    s.limit.of_job = has_soft_ && of_job_;
    s.limit.source = {"job.log:2", "Max locked memory"};
    s.ipc_lock.usable = capability_;
    return ask(table, code, s);
  }

  static Outcome ask(std::span<const Check> table, std::string_view code, const Situation& s) {
    for (const Check& row : table) {
      if (row.code == code && row.eval) return row.eval(s);
    }
    ADD_FAILURE() << "no row that recognises " << code;
    return {};
  }

 private:
  bool has_soft_ = false;
  bool of_job_ = false;
  std::optional<bool> capability_;
};

template <class T>
Fact<T> known(T value) {
  return Fact<T>::of(std::move(value), {"job.log:4", "pasted"});
}

inline void expect_found(const Outcome& out, Certainty certainty, int at_least, int at_most = 100) {
  ASSERT_EQ(out.kind, Outcome::Kind::kFound) << out.why << out.summary;
  EXPECT_EQ(out.certainty, certainty) << out.summary;
  EXPECT_GE(out.weight, at_least) << out.summary;
  EXPECT_LE(out.weight, at_most) << out.summary;
  EXPECT_FALSE(out.summary.empty());
  EXPECT_FALSE(out.evidence.empty()) << out.summary;
}
inline void expect_candidate(const Outcome& out) {
  ASSERT_EQ(out.kind, Outcome::Kind::kCandidate) << out.summary << out.why;
  EXPECT_FALSE(out.why.empty());
  EXPECT_FALSE(out.decide.empty());
}
inline void expect_ruled_out(const Outcome& out, std::string_view reason) {
  ASSERT_EQ(out.kind, Outcome::Kind::kRuledOut) << out.summary << out.why;
  EXPECT_NE(out.why.find(reason), std::string::npos) << out.why;
}
inline void expect_silent(const Outcome& out) {
  EXPECT_EQ(out.kind, Outcome::Kind::kNotApplicable) << out.summary << out.why;
}
inline void expect_unknown(const Outcome& out) {
  ASSERT_EQ(out.kind, Outcome::Kind::kUnknown) << out.summary << out.why;
  EXPECT_FALSE(out.missing.empty());
  EXPECT_FALSE(out.how.empty());
}

}  // namespace pindown::testing
