// SPDX-License-Identifier: Apache-2.0
// Sizes and resource limits: one type, parsed from and rendered to the spellings people and kernels use.
// Entry points: Limit, parse_size, format_size. Knows nothing of what a limit is for.
#pragma once

#include <compare>
#include <cstdint>
#include <expected>
#include <limits>
#include <string>
#include <string_view>

namespace pindown {

/// A limit in bytes; the largest value means unlimited (RLIM_INFINITY, setrlimit(2)).
struct Limit {
  static constexpr std::uint64_t kInfinity = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t bytes = 0;

  static constexpr Limit unlimited() { return {kInfinity}; }
  static constexpr Limit of_kib(std::uint64_t kib) {
    // ulimit -l prints KiB; 2^54-1 KiB and more is what shells and pam_limits make of "unlimited".
    return kib >= kInfinity / 1024 ? unlimited() : Limit{kib * 1024};
  }
  constexpr bool is_unlimited() const { return bytes == kInfinity; }
  /// Whole 4 KiB pages below the limit: ib_umem_get compares pages, rounding the limit down (umem.c, 5.10 to 7.2).
  constexpr std::uint64_t pages() const { return bytes >> 12; }

  friend constexpr auto operator<=>(const Limit&, const Limit&) = default;
};

/// Pages of 4 KiB that `length` bytes touch at least (the address is unknown, so alignment can only add one).
constexpr std::uint64_t pages_at_least(std::uint64_t length) {
  return (length >> 12) + ((length & 4095) ? 1 : 0);
}

/// Accepts "unlimited", "infinity", "-1", a plain number of bytes, or a number with K/M/G/T/P (KiB, "8 MiB", "64kB",
/// "2g"; all powers of 1024). Error: a one-line reason, lower case.
std::expected<Limit, std::string> parse_size(std::string_view text);

/// "8 MiB", "4.6 MiB", "56 bytes", "unlimited".
std::string format_size(std::uint64_t bytes);
std::string format_limit(Limit limit);

}  // namespace pindown
