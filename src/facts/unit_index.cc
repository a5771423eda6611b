// SPDX-License-Identifier: Apache-2.0
// See unit_index.h. Follows src/basic/unit-file.c (unit_file_build_name_map, unit_ids_map_get, unit_file_find_fragment)
// and src/shared/dropin.c (unit_file_find_dropin_paths) of systemd 252 to 257.
#include "facts/unit_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "facts/unit_names.h"

namespace pindown {
namespace {

constexpr int kMaxHops = 8;  // FOLLOW_MAX
constexpr std::size_t kMaxDropIns = 10'000;
constexpr std::size_t kMaxBytes = 4U << 20;

// src/basic/path-lookup.c lookup_paths_init, highest priority first. Where /lib is a link to /usr/lib it brings nothing
// new; where it is not, its units come last here and before /usr/lib in a systemd built for it, which has no other.
constexpr auto kSystem = std::to_array<std::string_view>(
    {"/etc/systemd/system.control", "/run/systemd/system.control", "/run/systemd/transient",
     "/run/systemd/generator.early", "/etc/systemd/system", "/etc/systemd/system.attached", "/run/systemd/system",
     "/run/systemd/system.attached", "/run/systemd/generator", "/usr/local/lib/systemd/system",
     "/usr/lib/systemd/system", "/lib/systemd/system", "/run/systemd/generator.late"});
// Without those below a user's own home and runtime directory.
constexpr auto kUser = std::to_array<std::string_view>(
    {"/etc/xdg/systemd/user", "/etc/systemd/user", "/run/systemd/user", "/usr/local/share/systemd/user",
     "/usr/share/systemd/user", "/usr/local/lib/systemd/user", "/usr/lib/systemd/user"});

bool is_unsure(const HostError& error) {
  return error.kind == HostErrorKind::kDenied || error.kind == HostErrorKind::kTooLarge;
}

class Index {
 public:
  Index(const Host& host, std::string_view type, std::span<const std::string_view> directories, UnitFiles& out);

  UnitFiles& find(const UnitName& name);

 private:
  struct Directory {
    std::string path;
    std::string resolved;
    std::set<std::string, std::less<>> entries;
  };

  void read_directory(std::string_view path);
  void add(const Directory& directory, const std::string& name);
  bool in_directories(std::string_view path) const;
  const std::string* target_of(const std::string& name);
  std::optional<std::string> path_of(const std::string& name);
  bool is_masked(const std::string& path);
  std::vector<std::string> aliases_of(const UnitName& name, const std::optional<std::string>& fragment);
  void add_aliases(const std::string& of, const UnitName& unit, const std::string& fragment,
                   std::vector<std::string>& out);
  std::string main_name(const std::string& alias, const std::string& path) const;
  std::vector<std::string> drop_in_directories(const std::vector<std::string>& names) const;

  const Host& host_;
  LinkResolver links_;
  std::string suffix_;
  UnitFiles& out_;
  std::vector<Directory> directories_;  // those that exist
  std::vector<std::string> roots_;      // all of them, also as their links lead
  // Name → "/the/file" or the name it is an alias of; of several directories in order, because a directory that is
  // called like a unit counts for nothing, which is only looked at when it matters.
  std::map<std::string, std::vector<std::string>, std::less<>> targets_;
  std::vector<std::string> alias_names_;
};

Index::Index(const Host& host, std::string_view type, std::span<const std::string_view> directories, UnitFiles& out)
    : host_(host), links_(host), suffix_("." + std::string(type)), out_(out) {
  for (const std::string_view path : directories) read_directory(path);
  for (const Directory& directory : directories_) {
    for (const std::string& name : directory.entries) {
      if (name.ends_with(suffix_)) add(directory, name);
    }
  }
}

void Index::read_directory(std::string_view path) {
  roots_.push_back(std::string(path) + "/");
  const auto resolved = links_.resolve(path);
  if (!resolved) return;
  roots_.push_back(*resolved + "/");
  auto names = host_.list(*resolved);
  if (!names) {
    if (!is_unsure(names.error())) return;
    out_.problems.push_back(names.error().message);
    out_.unsure = true;
    return;
  }
  Directory directory{std::string(path), *resolved, {}};
  for (std::string& name : *names) {
    if (!name.starts_with('.')) directory.entries.insert(std::move(name));
  }
  directories_.push_back(std::move(directory));
}

bool Index::in_directories(std::string_view path) const {
  return std::ranges::any_of(roots_, [&](const std::string& root) { return path.starts_with(root); });
}

/// A link into the unit directories makes an alias, if names and types fit, and is left out if they do not; a link to
/// elsewhere is the unit's file.
void Index::add(const Directory& directory, const std::string& name) {
  const auto unit = parse_unit_name(name);
  if (!unit) return;
  const std::string path = directory.path + "/" + name;
  const auto link = host_.link(directory.resolved + "/" + name);
  if (!link) {
    targets_[name].push_back(path);
    return;
  }
  const std::string absolute = link->starts_with('/') ? *link : directory.resolved + "/" + *link;
  const auto target = links_.resolve(absolute, /*follow_last=*/false);
  if (!target) return;
  if (!in_directories(*target)) {
    targets_[name].push_back(path);
    return;
  }
  const auto to = parse_unit_name(base_name(*target));
  if (!to || !may_alias(*unit, *to)) return;
  targets_[name].push_back(to->text());
  alias_names_.push_back(name);
}

/// One step from a name: a path, or another name.
const std::string* Index::target_of(const std::string& name) {
  const auto at = targets_.find(name);
  if (at == targets_.end()) return nullptr;
  for (const std::string& target : at->second) {
    const bool directory = target.starts_with('/') && !host_.link(target) && host_.list(target).has_value();
    if (!directory) return &target;
  }
  return nullptr;
}

std::optional<std::string> Index::path_of(const std::string& name) {
  std::string id = name;
  for (int hop = 0; hop < kMaxHops; ++hop) {
    const std::string* target = target_of(id);
    const auto unit = parse_unit_name(id);
    if (target == nullptr && hop > 0 && unit && unit->is_instance()) target = target_of(unit->with_instance("").text());
    if (target == nullptr) return std::nullopt;
    if (target->starts_with('/')) return *target;
    id = *target;
  }
  return std::nullopt;
}

/// A link to /dev/null or an empty file (src/basic/stat-util.c null_or_empty), or nothing at all.
bool Index::is_masked(const std::string& path) {
  const auto resolved = links_.resolve(path);
  if (!resolved) return true;
  const ConfigText file = read_config(host_, *resolved, kMaxBytes);
  return file.missing == Missing::kAbsent || (!file.missing && file.text.empty());
}

/// The name of the unit behind an alias, with the alias's instance if it leads to a template.
std::string Index::main_name(const std::string& alias, const std::string& path) const {
  const auto link = parse_unit_name(alias);
  const auto unit = parse_unit_name(base_name(path));
  if (link && unit && link->is_instance() && unit->is_template()) return unit->with_instance(*link->instance).text();
  return std::string(base_name(path));
}

void Index::add_aliases(const std::string& of, const UnitName& unit, const std::string& fragment,
                        std::vector<std::string>& out) {
  for (const std::string& alias : alias_names_) {
    const auto path = path_of(alias);
    if (!path || main_name(alias, *path) != of || is_masked(*path)) continue;
    const auto name = parse_unit_name(alias);
    if (!name) continue;
    if (!unit.is_instance() || !name->is_template()) {
      out.push_back(alias);
      continue;
    }
    const std::string instance = name->with_instance(*unit.instance).text();
    const auto other = path_of(instance);
    if (!other || base_name(*other) == base_name(fragment)) out.push_back(instance);
  }
}

/// All names of a unit, the main one first.
std::vector<std::string> Index::aliases_of(const UnitName& name, const std::optional<std::string>& fragment) {
  std::vector<std::string> others;
  const std::string asked = name.text();
  const std::string path = fragment.value_or("");
  const std::string main = fragment ? main_name(asked, *fragment) : asked;
  add_aliases(asked, name, path, others);
  if (fragment && base_name(*fragment) != asked) add_aliases(std::string(base_name(*fragment)), name, path, others);
  if (main != asked) others.push_back(asked);
  std::ranges::sort(others);
  std::vector<std::string> names = {main};
  for (std::string& other : others) {
    if (std::ranges::find(names, other) == names.end()) names.push_back(std::move(other));
  }
  return names;
}

/// Each name in all directories, then the next name; "service.d" at the end.
std::vector<std::string> Index::drop_in_directories(const std::vector<std::string>& names) const {
  std::vector<std::string> out;
  const auto add_in = [&](const Directory& directory, const std::string& name) {
    if (directory.entries.contains(name + ".d")) out.push_back(directory.path + "/" + name + ".d");
  };
  for (const std::string& name : names) {
    const auto unit = parse_unit_name(name);
    if (!unit) continue;
    const std::vector<std::string> closest_first = drop_in_names(*unit);
    for (const Directory& directory : directories_) {
      for (const std::string& prefix : closest_first) add_in(directory, prefix);
    }
  }
  for (const Directory& directory : directories_) add_in(directory, suffix_.substr(1));
  return out;
}

UnitFiles& Index::find(const UnitName& name) {
  auto fragment = path_of(name.text());
  if (!fragment && name.is_instance()) fragment = path_of(name.with_instance("").text());
  const std::vector<std::string> names = aliases_of(name, fragment);
  out_.name = names[0];
  if (fragment) out_.fragment = UnitPath{*fragment, links_.resolve(*fragment).value_or("")};
  find_drop_ins(host_, drop_in_directories(names), links_, out_);
  return out_;
}

}  // namespace

void find_drop_ins(const Host& host, std::span<const std::string> directories, LinkResolver& links, UnitFiles& out) {
  std::map<std::string, std::string> found;  // name → directory
  for (const std::string& directory : directories) {
    const auto resolved = links.resolve(directory);
    if (!resolved) continue;
    auto names = host.list(*resolved);
    if (!names && is_unsure(names.error())) {
      out.problems.push_back(names.error().message);
      out.unsure = true;
    }
    if (!names) continue;
    for (std::string& name : *names) {
      if (name.ends_with(".conf") && !name.starts_with('.')) found.emplace(std::move(name), directory);
    }
  }
  out.left_out = found.size() > kMaxDropIns ? found.size() - kMaxDropIns : 0;
  std::size_t skip = out.left_out;
  for (const auto& [name, directory] : found) {
    if (skip > 0) {
      --skip;
      continue;
    }
    const std::string path = fmt::format("{}/{}", directory, name);
    out.drop_ins.push_back({path, links.resolve(path).value_or("")});
  }
}

UnitFiles find_unit_files(const Host& host, std::string_view name, bool user_manager) {
  UnitFiles out;
  out.name = std::string(name);
  const auto unit = parse_unit_name(name);
  if (!unit) {
    out.problems.push_back(fmt::format("'{}' is not a unit's name", shorten(escape(name, 400), 80)));
    return out;
  }
  const std::span<const std::string_view> directories =
      user_manager ? std::span<const std::string_view>(kUser) : std::span<const std::string_view>(kSystem);
  return std::move(Index(host, unit->type, directories, out).find(*unit));
}

}  // namespace pindown
