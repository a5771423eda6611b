// SPDX-License-Identifier: Apache-2.0
// See literals.h.
#include "logs/literals.h"

#include <algorithm>

namespace pindown::logs {

LiteralSet::LiteralSet(std::vector<std::string_view> literals)
    : literals_(std::move(literals)), bitmap_((1U << kBits) / 64), next_(literals_.size(), kNone) {
  for (std::uint32_t id = 0; id < literals_.size(); ++id) {
    const std::uint32_t h =
        hash(literals_[id].data());  // NOLINT(bugprone-suspicious-stringview-data-usage): reads four bytes
    bitmap_[h >> 6] |= std::uint64_t{1} << (h & 63U);
    const auto at = std::ranges::lower_bound(heads_, std::pair{h, 0U});
    if (at != heads_.end() && at->first == h) {
      next_[id] = at->second;
      at->second = id;
    } else {
      heads_.insert(at, {h, id});
    }
  }
}

std::uint32_t LiteralSet::first(std::uint32_t h) const {
  const auto at = std::ranges::lower_bound(heads_, std::pair{h, 0U});
  return at != heads_.end() && at->first == h ? at->second : kNone;
}

}  // namespace pindown::logs
