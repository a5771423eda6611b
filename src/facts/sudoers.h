// SPDX-License-Identifier: Apache-2.0
// The Defaults of sudoers(5) that decide a session's limits, with whom they are for. Entry points: collect_sudoers,
// parse_sudoers_rlimit. Whom a scoped line means is the model's work (model/sudo_session).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/size.h"
#include "facts/fact.h"
#include "host/host.h"

namespace pindown {

/// "Defaults", "Defaults:alice", "Defaults@host", "Defaults>root", "Defaults!/bin/true".
enum class SudoersScope { kEverybody, kUser, kHost, kTarget, kCommand };

/// rlimit_memlock=VALUE, pam_session, pam_service=NAME, pam_login_service=NAME; each may be negated, where sudo takes
/// that.
struct SudoersSetting {
  SudoersScope scope = SudoersScope::kEverybody;
  std::vector<std::string> members;  // of the scope, as written: "alice", "!%wheel", "ALL"
  std::string variable;
  std::optional<std::string> value;  // without its quotes
  bool negated = false;
  Source source;
};

/// Lines that sudo skips for a syntax error, and values it does not take, are left out.
struct Sudoers {
  std::vector<SudoersSetting> settings;  // in the order in which sudo reads them
  std::string host;                      // the machine's name; empty: not known
};

/// /etc/sudoers and what it includes, 64 MiB in all. Missing with its reason if one of them cannot be read.
Fact<Sudoers> collect_sudoers(const Host& host);

/// `rlimit_memlock=SOFT[,HARD]` (sudoers(5), since 1.8.7): bytes, "infinity", "user" (the invoking user's limits),
/// "default" (the host's: both sides empty). sudo 1.9.x applies it before the PAM session is opened and again after it,
/// so it wins; soft above hard has no effect. A pair must be quoted ("524288,1048576"): a bare comma ends the value.
struct SudoersLimit {
  std::optional<Limit> soft, hard;
  bool from_user = false;
};
/// store_rlimit and check_rlimit of plugins/sudoers/defaults.c; nothing: "value is invalid".
std::optional<SudoersLimit> parse_sudoers_rlimit(std::string_view value);

}  // namespace pindown
