// SPDX-License-Identifier: Apache-2.0
// Which files make up a unit: the main file behind aliases, templates and masks, and the drop-ins in the order systemd
// reads them. Entry points: find_unit_files, find_drop_ins. Must not: read a file's text, but to see whether it is
// empty.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facts/config_path.h"
#include "host/host.h"

namespace pindown {

/// A file where systemd names it, and where its bytes are.
struct UnitPath {
  std::string path;
  std::string resolved;  // empty: a loop of links
};

struct UnitFiles {
  std::string name;  // the unit's own name, aliases resolved
  std::optional<UnitPath> fragment;
  std::vector<UnitPath> drop_ins;
  std::size_t left_out = 0;           // the first of so many drop-ins are not listed
  bool unsure = false;                // a directory could not be listed
  std::vector<std::string> problems;  // one line each
};

UnitFiles find_unit_files(const Host& host, std::string_view name, bool user_manager);

/// Names that end in ".conf" of all directories, sorted together; of equal names, the one of the first directory
/// (src/basic/conf-files.c). At most 10,000: the last ones, because they win.
void find_drop_ins(const Host& host, std::span<const std::string> directories, LinkResolver& links, UnitFiles& out);

}  // namespace pindown
