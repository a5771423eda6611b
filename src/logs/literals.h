// SPDX-License-Identifier: Apache-2.0
// Finding which of a set of literals occur in a text, quickly and without start-up cost: a 64 KiB bitmap over hashed
// 4-byte windows decides, a short chain verifies. For lines and small logs; large ones are
// searched by sieve.h. Must not: own the
// literals' text (they are string literals).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace pindown::logs {

class LiteralSet {
 public:
  /// Every literal has at least 4 bytes; its id is its index.
  explicit LiteralSet(std::vector<std::string_view> literals);

  /// Calls found(id, offset) for every occurrence, in order of offset; stops when it returns false.
  template <class Found>
  void find(std::string_view text, Found found) const {
    if (text.size() < 4) return;
    const char* const p = text.data();
    const std::size_t last = text.size() - 4;
    for (std::size_t i = 0; i <= last; ++i) {
      const std::uint32_t h = hash(p + i);
      if ((bitmap_[h >> 6] >> (h & 63U) & 1U) == 0) continue;
      for (std::uint32_t id = first(h); id != kNone; id = next_[id]) {
        if (text.substr(i).starts_with(literals_[id]) && !found(id, i)) return;
      }
    }
  }
  const std::vector<std::string_view>& literals() const { return literals_; }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;
  static constexpr std::uint32_t kBits = 16;
  static std::uint32_t hash(const char* p) {
    std::uint32_t word = 0;
    __builtin_memcpy(&word, p, 4);
    return (word * 0x9E3779B1U) >> (32 - kBits);
  }
  std::uint32_t first(std::uint32_t h) const;

  std::vector<std::string_view> literals_;
  std::vector<std::uint64_t> bitmap_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> heads_;  // sorted: hash, first id
  std::vector<std::uint32_t> next_;
};

}  // namespace pindown::logs
