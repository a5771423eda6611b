// SPDX-License-Identifier: Apache-2.0
// See sudo_session.h. Of sudo 1.9.13 and 1.9.16: plugins/sudoers/defaults.c, match.c, auth/pam.c, src/limits.c.
#include "model/sudo_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "model/login_session.h"

namespace pindown {
namespace {

/// Empty: not known here.
using Holds = std::optional<bool>;

/// An alias is looked up before the name itself (match.c userlist_matches); aliases are not kept.
bool may_be_alias(std::string_view word) {
  return !word.empty() && word[0] >= 'A' && word[0] <= 'Z' &&
         std::ranges::all_of(word, [](char c) { return (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_'; });
}

bool is_plain_name(std::string_view word) {
  return !word.empty() && !may_be_alias(word) &&
         std::ranges::all_of(word, [](char c) { return is_alnum(c) || c == '_' || c == '-' || c == '.' || c == '$'; });
}

Holds in_group(std::string_view group, const SudoCaller& who) {
  if (who.account == nullptr || !is_plain_name(group)) return std::nullopt;
  for (const auto& [name, gid] : who.account->groups) {
    if (name == group) return true;
  }
  return who.account->groups_elsewhere.empty() ? Holds(false) : std::nullopt;
}

/// match.c userpw_matches. Case is ignored by default (case_insensitive_user), which a Defaults line may change.
Holds is_user(std::string_view word, const SudoCaller& who) {
  if (word == "ALL") return true;
  if (consume(word, "%")) return in_group(word, who);
  const std::string name = who.account != nullptr ? who.account->name : who.name;
  if (name.empty()) return std::nullopt;
  if (consume(word, "#")) {
    const auto uid = parse_u64(word);
    const auto own = who.account != nullptr ? std::optional<std::uint64_t>(who.account->uid) : parse_u64(name);
    return uid && own ? Holds(*uid == *own) : std::nullopt;
  }
  if (!is_plain_name(word) || (who.account == nullptr && parse_u64(name))) return std::nullopt;
  if (word == name) return true;
  return iequals(word, name) ? std::nullopt : Holds(false);
}

/// match.c hostname_matches: the short name, in any case of letters. With a dot it is the long one, which the resolver
/// may know; an address or a network may be this machine's.
Holds is_host(std::string_view word, std::string_view host) {
  if (word == "ALL") return true;
  if (host.empty()) return std::nullopt;
  if (iequals(word, host) || iequals(word, host.substr(0, host.find('.')))) return true;
  const bool simple = is_plain_name(word) && !contains(word, ".");
  return simple ? Holds(false) : std::nullopt;
}

Holds member_holds(std::string_view word, SudoersScope scope, const Walk& walk, const SudoCaller& caller) {
  if (word == "ALL") return true;
  if (scope == SudoersScope::kUser) return is_user(word, caller);
  if (scope == SudoersScope::kHost) return is_host(word, walk.facts.sudoers->host);
  if (scope != SudoersScope::kTarget || !walk.facts.account.known()) return std::nullopt;
  return is_user(word, {&*walk.facts.account, {}});
}

/// The last member that matches decides, and says no if it is negated.
Holds applies(const SudoersSetting& setting, const Walk& walk, const SudoCaller& caller) {
  if (setting.scope == SudoersScope::kEverybody) return true;
  for (auto member = setting.members.rbegin(); member != setting.members.rend(); ++member) {
    std::string_view word = *member;
    bool negated = false;
    while (consume(word, "!")) negated = !negated;
    const Holds holds = member_holds(word, setting.scope, walk, caller);
    if (!holds) return std::nullopt;
    if (*holds) return !negated;
  }
  return false;
}

/// sudo applies generic, host and user lines in one pass in the order of the files, then those for a target user, then
/// those for a command (update_defaults, defaults.c and sudoers.c).
int pass_of(SudoersScope scope) {
  if (scope == SudoersScope::kCommand) return 2;
  return scope == SudoersScope::kTarget ? 1 : 0;
}

/// Which line has the last word; `doubt`, one that would say something else, if it applies.
struct Choice {
  const SudoersSetting* line = nullptr;
  const SudoersSetting* doubt = nullptr;
};

bool says_same(const SudoersSetting& a, const SudoersSetting* b) {
  return b != nullptr && a.value == b->value && a.negated == b->negated;
}

Choice choose(std::string_view variable, const Walk& walk, const SudoCaller& caller) {
  Choice choice;
  if (!walk.facts.sudoers.known()) return choice;
  for (int pass = 0; pass < 3; ++pass) {
    for (const SudoersSetting& setting : walk.facts.sudoers->settings) {
      if (setting.variable != variable || pass_of(setting.scope) != pass) continue;
      const Holds holds = applies(setting, walk, caller);
      if (holds == true) choice = {&setting, nullptr};
      if (!holds && choice.doubt == nullptr && !says_same(setting, choice.line)) choice.doubt = &setting;
    }
  }
  return choice;
}

/// True: it cannot be told what the variable is, and that is said.
bool in_doubt(Walk& walk, const Choice& choice) {
  if (choice.doubt == nullptr) return false;
  walk.miss(fmt::format("{}: {}, but whether the line is for this user, target, command or machine is not known",
                        choice.doubt->source.path, choice.doubt->variable));
  return true;
}

/// auth/pam.c sudo_pam_init2: sudo -i has a service of its own where it was built with one (--with-pam-login), which
/// its file in pam.d shows.
std::optional<std::string> service_of(Walk& walk, const Entry& entry, const SudoCaller& caller) {
  std::string usual = pam_service(entry, walk.facts);
  const bool own = entry.login_shell && usual == "sudo-i";
  if (entry.login_shell) {
    const Choice login = choose("pam_login_service", walk, caller);
    if (in_doubt(walk, login)) return std::nullopt;
    if (login.line != nullptr) return login.line->value;
    if (own) return usual;
  }
  const Choice plain = choose("pam_service", walk, caller);
  if (in_doubt(walk, plain)) return std::nullopt;
  return plain.line != nullptr ? *plain.line->value : usual;
}

/// Decisions on an rlimit that come after PAM (src/limits.c set_policy_rlimits).
void apply_rlimit(Walk& walk, const MemlockLimit& before, const SudoCaller& caller) {
  const Choice choice = choose("rlimit_memlock", walk, caller);
  if (in_doubt(walk, choice)) {
    walk.now = {};
    return;
  }
  if (choice.line == nullptr || !choice.line->value) return;
  const auto limit = parse_sudoers_rlimit(*choice.line->value);
  if (!limit) return;
  if (limit->from_user) {
    add_link(walk, "sudoers", 0, before, choice.line->source, "rlimit_memlock=user: the limits sudo was called with");
    return;
  }
  if (!limit->soft || !limit->hard) return;
  add_link(walk, "sudoers", 0, {limit->soft, limit->hard}, choice.line->source, "rlimit_memlock");
}

void open_session(Walk& walk, const Entry& entry, const SudoCaller& caller) {
  const auto service = service_of(walk, entry, caller);
  const Choice session = choose("pam_session", walk, caller);
  if (!service || in_doubt(walk, session)) {
    walk.now = {};
    return;
  }
  if (session.line == nullptr || !session.line->negated) return open_pam_session(walk, *service, OnSessionError::kGoOn);
  ask_pam_account(walk, *service);
  if (walk.refused) return;
  skip_pam_session(walk, *service, "sudo without a PAM session", session.line->source, OnSessionError::kGoOn);
}

}  // namespace

void open_sudo_session(Walk& walk, const Entry& entry, const SudoCaller& caller) {
  const Fact<Sudoers>& sudoers = walk.facts.sudoers;
  if (!sudoers.known() && sudoers.missing != Missing::kAbsent) {
    walk.miss(fmt::format("{} cannot be read ({}): it can set rlimit_memlock, pam_session and pam_service",
                          sudoers.source.path.empty() ? "/etc/sudoers" : sudoers.source.path,
                          missing_name(sudoers.missing)));
  }
  const MemlockLimit before = walk.now;
  open_session(walk, entry, caller);
  if (!walk.refused) apply_rlimit(walk, before, caller);
}

}  // namespace pindown
