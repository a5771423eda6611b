// SPDX-License-Identifier: Apache-2.0
// Names of systemd units: what is in them, and which directories of drop-ins they have. Entry points: parse_unit_name,
// drop_in_names. Must not: read a file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pindown {

/// "t@x.service": src/basic/unit-name.c unit_name_is_valid.
struct UnitName {
  std::string prefix;                   // "t"
  std::optional<std::string> instance;  // "x"; empty in a template's own name
  std::string type;                     // "service"

  bool is_template() const { return instance && instance->empty(); }
  bool is_instance() const { return instance && !instance->empty(); }
  std::string text() const;
  UnitName with_instance(std::string_view text) const;
};
std::optional<UnitName> parse_unit_name(std::string_view name);

/// The names whose ".d" apply to a unit, the closest first: its own, its template's, and of each the prefixes that end
/// in a dash ("a-b-.service", "a-.service"): src/shared/dropin.c unit_file_find_dirs.
std::vector<std::string> drop_in_names(const UnitName& name);

/// Whether a link of that name may lead to a unit of this one: src/basic/unit-file.c
/// unit_validate_alias_symlink_or_warn.
bool may_alias(const UnitName& link, const UnitName& target);

/// "%i", "%p", "%n", "%N", "%%"; text with any other specifier stays as it is.
std::string expand_specifiers(std::string_view text, const UnitName& unit);

}  // namespace pindown
