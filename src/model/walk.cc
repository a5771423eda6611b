// SPDX-License-Identifier: Apache-2.0
// See walk.h.
#include "model/walk.h"

#include <fmt/format.h>

#include <algorithm>

namespace pindown {

void Walk::refuse(Source by, std::string why) {
  refused = true;
  decided = std::move(by);
  refused_why = std::move(why);
}

void Walk::miss(std::string what) {
  if (std::ranges::find(unknown, what) == unknown.end()) unknown.push_back(std::move(what));
}

void Walk::assume(std::string_view what, std::string_view version) {
  std::string line =
      fmt::format("{} {} is what {} have; the package was not read, and another version could change this", what,
                  version, facts.packages.derived_from);
  if (std::ranges::find(assumed, line) == assumed.end()) assumed.push_back(std::move(line));
}

bool same(const MemlockLimit& a, const MemlockLimit& b) {
  return a.soft == b.soft && a.hard == b.hard;
}

void add_link(Walk& walk, std::string name, std::int64_t pid, const MemlockLimit& limit, const Source& source,
              std::string note) {
  TrailLink link;
  link.name = std::move(name);
  link.pid = pid;
  link.soft = limit.soft;
  link.hard = limit.hard;
  link.set_here = walk.links.empty() || !same(limit, walk.now);
  link.source = source.path;
  link.text = source.text;
  link.note = std::move(note);
  if (link.set_here) walk.decided = source;
  walk.now = limit;
  walk.links.push_back(std::move(link));
}

std::string version_text(const LoginFacts& facts, const char* package) {
  const auto& versions = facts.packages.versions;
  const auto at = versions.find(package);
  return at != versions.end() && at->second.known() ? *at->second : std::string();
}

}  // namespace pindown
