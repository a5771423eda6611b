// SPDX-License-Identifier: Apache-2.0
// Configuration files as lines with their places: what the parsers of limits.conf, PAM stacks, sshd_config and units
// have in common. Passive data.
#pragma once

#include <string>
#include <vector>

#include "facts/fact.h"

namespace pindown {

/// One line without its newline; `source` is "path:number" and the same text. A CR at the end is part of it.
struct ConfigLine {
  std::string text;
  Source source;
};

/// A file's lines, or why there are none. Source::path is the file.
using ConfigFile = Fact<std::vector<ConfigLine>>;

}  // namespace pindown
