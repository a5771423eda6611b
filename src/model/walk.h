// SPDX-License-Identifier: Apache-2.0
// A session as a value that walks down the chain: what starts it, what PAM makes of it, what comes last. Each family of
// ways (service_start, login_session) takes it a few links further; predict composes them. Entry point: Walk.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/login.h"
#include "finding/prediction.h"

namespace pindown {

/// The session as far as it has come.
struct Walk {
  explicit Walk(const LoginFacts& f) : facts(f) {}
  const LoginFacts& facts;
  MemlockLimit now;
  std::optional<bool> cap;
  Source decided;
  std::vector<TrailLink> links;
  std::vector<std::string> unknown;
  std::vector<std::string> assumed;
  bool start_is_assumed = false;  // systemd's default, by a version that nobody read
  bool refused = false;
  std::string refused_why;

  void refuse(Source by, std::string why);
  void miss(std::string what);
  /// The answer depends on a version that nobody read.
  void assume(std::string_view what, std::string_view version);
  bool derived() const { return !facts.packages.derived_from.empty(); }
};

bool same(const MemlockLimit& a, const MemlockLimit& b);

/// The next link; it is what decided if it changes the limit.
void add_link(Walk& walk, std::string name, std::int64_t pid, const MemlockLimit& limit, const Source& source,
              std::string note);

/// Installed, or that of the release; empty if neither is known.
std::string version_text(const LoginFacts& facts, const char* package);

}  // namespace pindown
