// SPDX-License-Identifier: Apache-2.0
// Whose facts a file without any host in it shows: those of the node it is named for ("limits-node7.txt" beside a log
// in which node7 or node8 speaks). Entry points: attribute_by_name, node_in_name. Pure. Must not: override a name in a
// line.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/read_log.h"

namespace pindown {

/// Gives nameless facts of each input the node its file is named for.
void attribute_by_name(std::vector<LogInput>& logs);

/// The hosts that speak in the logs, ready to be looked for in many names.
struct KnownNodes {
  explicit KnownNodes(const std::set<std::string>& hosts);
  std::set<std::string> names;  // short, lower case
  std::set<std::string> kinds;  // "gpu-0" of "gpu-12"
};

/// The one name in `path`'s last component that is a known node's, or written like one (other digits); empty if there
/// is none, or more than one.
std::string node_in_name(std::string_view path, const KnownNodes& nodes);

}  // namespace pindown
