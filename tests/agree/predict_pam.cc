// SPDX-License-Identifier: Apache-2.0
// What pindown's model says of PAM sessions, for tests/agree/pam_limits.py to compare with the real ones. Each line of
// stdin is a case, its words separated by tabs:
//   ROOT SERVICE USER START-SOFT START-HARD PID1-SOFT PID1-HARD MAY-RAISE(0|1) ACCOUNT(0|1) PAM-VERSION DISTRO-IDS
//   [WRONG]
// Each line of stdout is the answer: "SOFT HARD" in bytes, "refused CODE", or "unknown REASON". WRONG is a word that
// spoils the model on purpose, to show that the comparison can fail: "dialect", "root", "reset",
// "account".
#include <cstdio>
#include <iostream>
#include <string>

#include "base/text.h"
#include "facts/accounts.h"
#include "facts/limits_conf.h"
#include "facts/pam_stack.h"
#include "host/host.h"
#include "model/pam_session.h"

namespace pindown {
namespace {

MemlockLimit limits_of(std::string_view soft, std::string_view hard) {
  MemlockLimit limit;
  if (const auto bytes = parse_u64(soft)) limit.soft = Limit{*bytes};
  if (const auto bytes = parse_u64(hard)) limit.hard = Limit{*bytes};
  return limit;
}

std::map<std::string, ConfigFile> named_files(const Host& host, const PamConf& conf) {
  std::map<std::string, ConfigFile> named;
  for (const auto& [_, lines] : conf.services) {
    if (!lines) continue;
    for (const PamLine& line : *lines) {
      for (const std::string& argument : line.arguments) {
        if (argument.starts_with("conf=/")) named[argument.substr(5)] = collect_limits_file(host, argument.substr(5));
      }
    }
  }
  return named;
}

void spoil(PamVersion& version, std::string_view how) {
  if (how == "dialect") {
    version.dialect = version.dialect == PamDialect::kUpTo153 ? PamDialect::kSince161 : PamDialect::kUpTo153;
  }
  if (how == "root") version.debian_root = !version.debian_root;
  if (how == "reset") version.resets = !version.resets;
}

std::string say(const PamOutcome& outcome) {
  std::vector<std::string> unknown = outcome.session.unknown;
  unknown.insert(unknown.end(), outcome.limits.unknown.begin(), outcome.limits.unknown.end());
  if (!unknown.empty()) return "unknown " + escape(unknown.front());
  if (outcome.limits.refused) return "refused " + std::to_string(outcome.limits.code);
  if (!outcome.limits.soft || !outcome.limits.hard) return "unknown " + escape(outcome.limits.why);
  return std::to_string(outcome.limits.soft->bytes) + " " + std::to_string(outcome.limits.hard->bytes);
}

std::string predict(const std::vector<std::string_view>& words) {
  if (words.size() < 11) return "unknown a case has eleven words";
  const auto host = make_directory_host(words[0]);
  if (!host) return "unknown " + host.error().message;
  const auto user = collect_account(**host, words[2]);
  if (!user) return "unknown there is no such user";
  auto version = pam_version(words[9], words[10]);
  if (!version) return "unknown version";
  const std::string_view wrong = words.size() > 11 ? words[11] : std::string_view();
  spoil(*version, wrong);
  const PamConf pam = collect_pam(**host);
  const LimitsConf limits = collect_limits(**host);
  const PamOpening opening{pam,
                           limits,
                           named_files(**host, pam),
                           *version,
                           limits_of(words[3], words[4]),
                           limits_of(words[5], words[6]),
                           words[7] == "1",
                           words[8] == "1" && wrong != "account"};
  return say(derive_pam_outcome(opening, words[1], *user));
}

}  // namespace
}  // namespace pindown

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << pindown::predict(pindown::split(line, '\t')) << '\n' << std::flush;
  }
}
