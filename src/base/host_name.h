// SPDX-License-Identifier: Apache-2.0
// Names of machines, as logs and tools write them. Entry point: same_host. Must not: ask the resolver.
#pragma once

#include <string_view>

namespace pindown {

/// Some machine, it is not known which: no two of these are known to be one.
constexpr std::string_view kUnknownHost = "?";

/// "node2", "NODE2" and "node2.cluster.example" are one; addresses are compared whole. Each may be a folded set,
/// "node[01-04,07]" or "node1,node2", as clush -b, dshbak -c and Slurm write them: then any member may be it.
bool same_host(std::string_view a, std::string_view b);

/// Whether this is a folded set, however few it has.
bool names_several(std::string_view host);

/// Whether `text` may be a host's name, or a folded set of them; the brackets are closed, nothing else is in it.
bool is_node_set(std::string_view text);

}  // namespace pindown
