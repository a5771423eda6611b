// SPDX-License-Identifier: Apache-2.0
// What pindown reads of a unit in a directory laid out like a machine: "SOFT HARD" in bytes or "infinity", "default" if
// nothing sets the limit, "unknown", "masked", "refuses" or "absent"; then, after tabs, the unit's own name, its file,
// its drop-ins in order and the line that decides.
// usage: read_unit [--wrong] [--user] ROOT UNIT..., or read_unit [--user] ROOT --manager. tests/agree/units.py and
// running_units.py compare it with systemd. --wrong spoils it on purpose: the limits of drop-ins are forgotten.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "facts/unit_file.h"
#include "host/host.h"

namespace {

std::string number(const std::optional<pindown::Limit>& limit) {
  if (!limit) return "unknown";
  return limit->is_unlimited() ? "infinity" : fmt::format("{}", limit->bytes);
}

std::string answer(const pindown::Fact<pindown::MemlockLimit>& fact) {
  if (fact.known()) return number(fact->soft) + " " + number(fact->hard);
  return fact.missing == pindown::Missing::kAbsent ? "default" : "unknown";
}

/// Without the drop-ins a limit that one of them sets is nobody's.
void forget_drop_ins(pindown::UnitFile& unit) {
  const auto sets_it = [&unit](const std::string& path) { return unit.memlock.source.path.starts_with(path + ":"); };
  if (std::ranges::none_of(unit.drop_ins, sets_it)) return;
  unit.memlock = pindown::Fact<pindown::MemlockLimit>::none(pindown::Missing::kAbsent, {});
}

/// Takes the option away if it comes first.
bool option(std::vector<std::string>& words, std::string_view name) {
  if (words.empty() || words[0] != name) return false;
  words.erase(words.begin());
  return true;
}

std::string answer(const pindown::UnitFile& unit) {
  if (unit.refuses) return "refuses";
  if (unit.masked) return "masked";
  if (!unit.fragment.known()) return unit.fragment.missing == pindown::Missing::kAbsent ? "absent" : "unknown";
  return answer(unit.memlock);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool wrong = option(words, "--wrong");
  const bool user = option(words, "--user");
  if (words.size() < 2) {
    fmt::print(stderr, "usage: read_unit [--wrong] [--user] ROOT UNIT...|--manager\n");
    return 2;
  }
  const auto host = pindown::make_directory_host(words[0]);
  if (!host) {
    fmt::print(stderr, "read_unit: {}\n", host.error().message);
    return 2;
  }
  if (words[1] == "--manager") {
    const auto fact = pindown::collect_manager(**host, user).default_memlock;
    fmt::print("{}\t{}\n", answer(fact), fact.source.path);
    return 0;
  }
  for (std::size_t i = 1; i < words.size(); ++i) {
    pindown::UnitFile unit = pindown::collect_unit(**host, words[i], user);
    if (wrong) forget_drop_ins(unit);
    fmt::print("{}\t{}\t{}\t{}\t{}\n", answer(unit), unit.name, unit.fragment.value.value_or(""),
               fmt::join(unit.drop_ins, "|"), unit.memlock.source.path);
  }
  return 0;
}
