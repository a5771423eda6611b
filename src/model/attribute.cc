// SPDX-License-Identifier: Apache-2.0
// See attribute.h.
#include "model/attribute.h"

#include <algorithm>

#include "base/text.h"

namespace pindown {
namespace {

constexpr std::size_t kLongestName = 96;  // what stands further back in a file's name is not looked at
constexpr std::size_t kShortestHost = 3;
constexpr std::size_t kMostHosts = 65536;

std::string_view short_name(std::string_view host) {
  return host.substr(0, host.find('.'));
}

/// "gpu-0" of "gpu-12": nodes of one kind differ in their numbers. Empty for a name without digits.
std::string kind_of_name(std::string_view name) {
  std::string out;
  bool digits = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (!is_digit(name[i])) {
      out += to_lower(name[i]);
    } else if (i == 0 || !is_digit(name[i - 1])) {
      out += '0';
      digits = true;
    }
  }
  return digits ? out : std::string();
}

/// The parts of a file's name that begin and end where a word does.
template <class Take>
void each_part(std::string_view name, Take take) {
  for (std::size_t from = 0; from < name.size(); ++from) {
    if (!is_alnum(name[from]) || (from > 0 && is_alnum(name[from - 1]))) continue;
    for (std::size_t to = from + 1; to <= name.size(); ++to) {
      if (is_alnum(name[to - 1]) && (to == name.size() || !is_alnum(name[to]))) take(name.substr(from, to - from));
    }
  }
}

std::string lone(const std::set<std::string>& names) {
  return names.size() == 1 ? *names.begin() : std::string();
}

template <class T>
void give(Fact<T>& fact, const std::string& host) {
  if (fact.known() && fact.source.host.empty()) fact.source.host = host;
}
template <class Map>
void give_each(Map& facts, const std::string& host) {
  for (auto& [name, fact] : facts) give(fact, host);
}
template <class List>
void give_sources(List& list, const std::string& host) {
  for (auto& item : list) {
    if (item.source.host.empty()) item.source.host = host;
  }
}
template <class List>
void give_owners(List& list, const std::string& host) {
  for (auto& item : list) {
    if (item.where.host.empty()) item.where.host = host;
  }
}

void attribute(Facts& facts, const std::string& host) {
  give_owners(facts.processes, host);
  give_owners(facts.limit_settings, host);
  give(facts.kernel, host);
  give(facts.arch, host);
  give(facts.distro, host);
  give(facts.cmdline, host);
  give_each(facts.sysctl, host);
  give_each(facts.modules, host);
  give(facts.modules_complete, host);
  give_each(facts.hugetlb_limit, host);
  give_sources(facts.limits_conf, host);
  give_sources(facts.units, host);
  give_sources(facts.device_nodes, host);
  give_sources(facts.mappings, host);
  for (auto& [name, source] : facts.meminfo.source) {
    if (source.host.empty()) source.host = host;
  }
}

bool names_a_host(const LogInput& log) {
  return std::ranges::any_of(log.events, [](const logs::Event& e) { return !e.shape.host.empty(); });
}

}  // namespace

KnownNodes::KnownNodes(const std::set<std::string>& hosts) {
  for (const std::string& host : hosts) {
    const std::string_view name = short_name(host);
    if (name.size() < kShortestHost) continue;
    names.insert(lower(name));
    if (std::string kind = kind_of_name(name); kind.size() >= kShortestHost) kinds.insert(std::move(kind));
  }
}

std::string node_in_name(std::string_view path, const KnownNodes& nodes) {
  const std::string_view name = path.substr(path.rfind('/') + 1).substr(0, kLongestName);
  std::set<std::string> same, alike;
  each_part(name, [&](std::string_view part) {
    if (nodes.names.contains(lower(part))) same.insert(lower(part));
    if (nodes.kinds.contains(kind_of_name(part))) alike.insert(lower(part));
  });
  return same.empty() ? lone(alike) : lone(same);
}

void attribute_by_name(std::vector<LogInput>& logs) {
  std::set<std::string> hosts;
  for (const LogInput& log : logs) {
    for (const logs::Event& e : log.events) {
      if (!e.shape.host.empty() && hosts.size() < kMostHosts) hosts.insert(e.shape.host);
    }
  }
  if (hosts.empty()) return;
  const KnownNodes nodes(hosts);
  for (LogInput& log : logs) {
    if (names_a_host(log)) continue;
    const std::string host = node_in_name(log.summary.path, nodes);
    if (!host.empty()) attribute(log.facts, host);
  }
}

}  // namespace pindown
