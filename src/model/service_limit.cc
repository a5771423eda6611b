// SPDX-License-Identifier: Apache-2.0
// See service_limit.h.
#include "model/service_limit.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "base/text.h"

namespace pindown {
namespace {

constexpr std::uint64_t kKib = 1024;
constexpr std::uint64_t kEightMib = 8 * kKib * kKib;

/// "252.39-1~deb12u1" → 252, "systemd 252 (252-55.el9)" → 252.
std::optional<std::uint64_t> systemd_number(std::string_view version) {
  while (!version.empty() && !is_digit(version[0])) version.remove_prefix(1);
  return parse_u64(take_digits(version));
}

/// "6.1.0-32-amd64" → 6, 1.
std::optional<std::pair<std::uint64_t, std::uint64_t>> kernel_number(std::string_view version) {
  while (!version.empty() && !is_digit(version[0])) version.remove_prefix(1);
  const auto major = parse_u64(take_digits(version));
  if (!major || !consume(version, ".")) return std::nullopt;
  const auto minor = parse_u64(take_digits(version));
  if (!minor) return std::nullopt;
  return std::pair(*major, *minor);
}

void set_both(ServiceLimit& out, std::uint64_t bytes, std::string why) {
  out.soft = out.hard = Limit{bytes};
  out.why = std::move(why);
}

/// Before systemd 251 a service gets what PID 1 was started with: include/uapi/linux/resource.h MLOCK_LIMIT.
void derive_kernel_default(ServiceLimit& out, std::uint64_t systemd, std::string_view version,
                           std::string_view kernel) {
  // Ubuntu 18.04 and 20.04 carried a patch that raises it (LP#1830746).
  if (systemd <= 245 && contains(version, "ubuntu")) {
    out.why = fmt::format("Ubuntu changed the default of systemd {}, and to what is not known", systemd);
    return;
  }
  const auto number = kernel_number(kernel);
  if (!number) {
    out.why = fmt::format("systemd {} passes the kernel's default on, and the kernel's version is not known", systemd);
    return;
  }
  const bool old = *number < std::pair<std::uint64_t, std::uint64_t>(5, 16);
  const std::string shown = fmt::format("{}.{}", number->first, number->second);
  set_both(out, old ? 64 * kKib : kEightMib,
           fmt::format("systemd {} gives services the kernel's default, {} for Linux {}", systemd,
                       old ? "64 KiB" : "8 MiB", shown));
}

void derive_default(ServiceLimit& out, const UnitFile& unit, std::string_view version, std::string_view kernel) {
  out.decided_by = {*unit.fragment, {}, {}};
  out.by_default = true;
  if (unit.user_manager) {
    out.why = "a user's service inherits the limit of the user's manager";
    return;
  }
  const auto systemd = systemd_number(version);
  if (!systemd) {
    out.why = "no LimitMEMLOCK, no DefaultLimitMEMLOCK, and systemd's version is not known";
    return;
  }
  if (*systemd < 251) return derive_kernel_default(out, *systemd, version, kernel);
  set_both(out, kEightMib, fmt::format("systemd {} gives services max(8 MiB, the kernel's default)", *systemd));
}

/// Why nothing can be said of the unit at all; empty: it can.
std::string no_unit(const UnitFile& unit) {
  if (!unit.fragment.known())
    return fmt::format("{}: the unit's file is {}", escape(unit.name, 300), missing_name(unit.fragment.missing));
  if (unit.masked) return fmt::format("{} is masked and does not start", escape(unit.name, 300));
  if (unit.refuses) return fmt::format("systemd does not load {}: {}", escape(unit.name, 300), unit.why);
  return "";
}

/// True if the fact decides: it is known, or it is there and cannot be read.
bool derive_from(ServiceLimit& out, const Fact<MemlockLimit>& fact, std::string_view key) {
  if (fact.known()) {
    out.soft = fact->soft;
    out.hard = fact->hard;
    out.decided_by = fact.source;
    out.why = fmt::format("{} sets it", key);
    return true;
  }
  if (fact.missing == Missing::kAbsent) return false;
  out.decided_by = fact.source;
  out.why = fact.missing == Missing::kNotAsked ? fmt::format("{} was not looked for", key)
                                               : fmt::format("{} may be set in {}, which could not be read: {}", key,
                                                             escape(fact.source.path, 300), missing_name(fact.missing));
  return true;
}

}  // namespace

ServiceLimit derive_service_limit(const UnitFile& unit, const ManagerConf& manager, std::string_view systemd,
                                  std::string_view kernel) {
  ServiceLimit out;
  out.why = no_unit(unit);
  if (!out.why.empty()) {
    out.decided_by = unit.refuses.value_or(unit.fragment.source);
    return out;
  }
  if (derive_from(out, unit.memlock, "LimitMEMLOCK")) return out;
  if (derive_from(out, manager.default_memlock, "DefaultLimitMEMLOCK")) return out;
  derive_default(out, unit, systemd, kernel);
  return out;
}

}  // namespace pindown
