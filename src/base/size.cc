// SPDX-License-Identifier: Apache-2.0
// See size.h.
#include "base/size.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"

namespace pindown {
namespace {

/// Power of 1024 of a unit spelling ("K", "kB", "MiB"); -1 if it is none. "" and "b" are bytes.
int unit_power(std::string_view unit) {
  const std::string u = lower(unit);
  if (u.empty() || u == "b" || u == "byte" || u == "bytes") return 0;
  static constexpr std::string_view kLetters = "kmgtpe";
  const auto at = kLetters.find(u[0]);
  if (at == std::string_view::npos) return -1;
  const std::string_view rest = std::string_view(u).substr(1);
  const bool known = rest.empty() || rest == "b" || rest == "ib" || rest == "bytes";
  return known ? static_cast<int>(at) + 1 : -1;
}

std::expected<Limit, std::string> bad_size(std::string_view text) {
  return std::unexpected(
      fmt::format("'{}' is not a size; write 4G, 64MiB, a number of bytes, or unlimited", escape(text, 60)));
}

}  // namespace

std::expected<Limit, std::string> parse_size(std::string_view text) {
  std::string_view rest = trim(text);
  if (iequals(rest, "unlimited") || iequals(rest, "infinity") || rest == "-1") return Limit::unlimited();
  const std::string_view digits = take_digits(rest);
  const auto number = parse_u64(digits);
  if (!number) return bad_size(text);
  std::uint64_t hundredths = 0;
  if (consume(rest, ".")) {
    const std::string_view fraction = take_digits(rest);
    if (fraction.empty() || fraction.size() > 2) return bad_size(text);
    hundredths = *parse_u64(fraction) * (fraction.size() == 1 ? 10 : 1);
  }
  const int power = unit_power(trim(rest));
  if (power < 0) return bad_size(text);
  const std::uint64_t unit = std::uint64_t{1} << (10 * power);
  if (*number > (Limit::kInfinity - unit) / unit)
    return std::unexpected(fmt::format("'{}' is too large", escape(text, 60)));
  return Limit{*number * unit + unit / 100 * hundredths + unit % 100 * hundredths / 100};
}

std::string format_size(std::uint64_t bytes) {
  static constexpr std::array<std::string_view, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  std::size_t unit = 0;
  double value = static_cast<double>(bytes) / 1024;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  // One decimal where it says something; never round 7.96 MiB up to a round 8 that it is not.
  const double tenths = static_cast<double>(static_cast<std::uint64_t>(value * 10)) / 10;
  if (tenths >= 100 || tenths == static_cast<double>(static_cast<std::uint64_t>(tenths))) {
    return fmt::format("{:.0f} {}", static_cast<double>(static_cast<std::uint64_t>(tenths)), kUnits[unit]);
  }
  return fmt::format("{:.1f} {}", tenths, kUnits[unit]);
}

std::string format_limit(Limit limit) {
  return limit.is_unlimited() ? "unlimited" : format_size(limit.bytes);
}

}  // namespace pindown
