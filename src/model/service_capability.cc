// SPDX-License-Identifier: Apache-2.0
// See service_capability.h. Of systemd 252 to 257: src/core/load-fragment.c config_parse_capability_set,
// systemd.exec(5).
#include "model/service_capability.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace pindown {
namespace {

bool is_ipc_lock(std::string_view word) {
  return iequals(word, "CAP_IPC_LOCK") || word == "14";  // include/uapi/linux/capability.h
}

/// One bit of a set of capabilities over all its assignments. The first one replaces what the set is by default, an
/// empty one replaces it by nothing ("~": by everything), and the others are merged into it.
class CapabilityBit {
 public:
  explicit CapabilityBit(bool by_default) : set_(by_default), default_(by_default) {}

  void assign(std::string_view value) {
    const bool inverted = consume(value, "~");
    const auto words = split_blanks(value);
    const bool named = std::ranges::any_of(words, is_ipc_lock);
    if (fresh_ || words.empty()) {
      set_ = named != inverted;
      fresh_ = words.empty() && set_ == default_;  // the whole set is what it is by default again
    } else if (named) {
      set_ = !inverted;
    }
  }
  bool set() const { return set_; }

 private:
  bool set_;
  bool default_;
  bool fresh_ = true;
};

}  // namespace

bool runs_as_root(const UnitFile& unit) {
  if (unit.user.known()) return *unit.user == "root" || *unit.user == "0";
  return !unit.dynamic_user;
}

bool has_ipc_lock(const UnitFile& unit, bool root) {
  CapabilityBit bounding(true);
  CapabilityBit ambient(false);
  bool own_users = false;  // a user namespace, whose capabilities do not count for registration
  for (const UnitAssignment& line : unit.capabilities) {
    if (line.key == "CapabilityBoundingSet") bounding.assign(line.value);
    if (line.key == "AmbientCapabilities") ambient.assign(line.value);
    // "self", "identity", "full" and "managed" are namespaces as "yes" is (since 257).
    if (line.key == "PrivateUsers" && !line.value.empty()) own_users = parse_unit_boolean(line.value) != false;
  }
  return !own_users && bounding.set() && (root || ambient.set());
}

}  // namespace pindown
