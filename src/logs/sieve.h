// SPDX-License-Identifier: Apache-2.0
// Searching a text for more than a hundred literals at close to the speed of memory: of every literal the four bytes
// that are rarest in logs are looked for, 64 positions at a time, by table look-ups: on the halves of each byte (the
// method is known as Teddy, from Hyperscan), or on all of it where the processor has tables of 128 entries. A place
// that passes is asked for its hash, then compared in full. Entry point: Sieve::find. Must not: own the literals' text.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace pindown::logs {

class Sieve {
 public:
  /// Every literal has at least 4 bytes, there are fewer than 65,535; its id is its index.
  explicit Sieve(const std::vector<std::string_view>& literals);

  using Hits = std::vector<std::pair<std::size_t, std::uint32_t>>;  // offset of the first byte, id
  /// The instructions to search with. AVX-512 needs VBMI: vpermi2b looks a byte of ASCII up as it is.
  enum class Width { kOne, kAvx2, kAvx512 };
  /// The best this processor has. With kOne, LiteralSet is as quick.
  static Width widest();
  /// Appends every occurrence, in no order. `width` must be one that the processor has.
  void find(std::string_view text, Hits& hits, Width width = widest()) const;

 private:
  static constexpr std::size_t kProbe = 4;    // bytes looked for of each literal
  static constexpr std::size_t kBuckets = 8;  // literals that share tables, a bit of each entry
  static constexpr std::uint32_t kHashBits = 12;
  static constexpr std::uint16_t kNone = 0xFFFF;
  struct Probe {
    std::uint32_t word = 0;  // the bytes looked for
    std::uint32_t id = 0;
    std::uint32_t at = 0;  // where in the literal they stand
  };
  /// Bit b of low[k][x]: a literal of bucket b has a byte with the lower half x at place k of its probe.
  using Tables = std::array<std::array<std::uint8_t, 16>, kProbe>;
  static std::uint32_t hash(std::uint32_t word) { return (word * 0x9E3779B1U) >> (32 - kHashBits); }

  void add(std::uint32_t id);
  void join(std::uint32_t word, std::size_t bucket);
  std::pair<double, std::size_t> best_bucket(std::uint32_t word) const;
  std::array<double, kBuckets> passing_with(std::uint32_t word) const;
  void verify(std::string_view text, std::size_t at, Hits& hits) const;
  std::size_t find_avx2(std::string_view text, Hits& hits) const;
  std::size_t find_avx512(std::string_view text, Hits& hits) const;

  std::vector<std::string_view> literals_;
  std::vector<Probe> probes_;              // sorted by the hash of the word
  std::vector<std::uint16_t> first_;       // by hash: the first of these, or kNone
  bool ascii_ = true;                      // of all probes: what the tables need
  std::array<double, kBuckets> passes_{};  // while the tables are made: what each bucket lets through
  Tables low_{};
  Tables high_{};
  std::array<std::array<std::uint8_t, 128>, kProbe> whole_{};  // the same by the whole byte
};

}  // namespace pindown::logs
