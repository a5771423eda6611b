// SPDX-License-Identifier: Apache-2.0
// Searching a text for more than a hundred literals at close to the speed of memory: of every literal the four bytes
// that are rarest in logs are looked for, 32 positions at a time, by table look-ups on the halves of each byte; a place
// that passes is compared in full. (The method is known as Teddy, from Hyperscan.) Entry point: Sieve::find. Must not:
// be used where usable() is false, or own the literals' text.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace pindown::logs {

class Sieve {
 public:
  /// Every literal has at least 4 bytes; its id is its index.
  explicit Sieve(const std::vector<std::string_view>& literals);

  /// Whether this processor has the instructions (AVX2).
  static bool usable();
  /// Appends (offset of the first byte, id) of every occurrence, in no order.
  void find(std::string_view text, std::vector<std::pair<std::size_t, std::uint32_t>>& hits) const;

 private:
  static constexpr std::size_t kProbe = 4;     // bytes looked for of each literal
  static constexpr std::size_t kBuckets = 16;  // literals that share tables
  struct Probe {
    std::uint32_t word = 0;  // the bytes looked for
    std::uint32_t id = 0;
    std::uint32_t at = 0;  // where in the literal they stand
  };
  /// Bit b of low[g][k][x]: a literal of bucket 8 * g + b has a byte with the lower half x at place k of its probe.
  using Tables = std::array<std::array<std::array<std::uint8_t, 16>, kProbe>, kBuckets / 8>;

  void fill_buckets(std::vector<Probe> probes);
  std::size_t best_bucket(const Probe& probe);
  std::array<double, kBuckets> passing_with(const Probe& probe) const;
  std::uint32_t open_with(const Probe& probe, std::size_t k, char c) const;
  std::uint32_t buckets_at(const char* text) const;
  void verify(std::string_view text, std::size_t at, std::uint32_t buckets,
              std::vector<std::pair<std::size_t, std::uint32_t>>& hits) const;
  std::size_t find_wide(std::string_view text, std::vector<std::pair<std::size_t, std::uint32_t>>& hits) const;

  std::vector<std::string_view> literals_;
  std::array<std::vector<Probe>, kBuckets> buckets_;
  std::array<double, kBuckets> passes_{};  // while the tables are made: what each bucket lets through
  Tables low_{};
  Tables high_{};
};

}  // namespace pindown::logs
