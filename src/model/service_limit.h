// SPDX-License-Identifier: Apache-2.0
// The limit systemd gives a service: unit and drop-ins, the manager's default, systemd's and the kernel's own default.
// Entry point: derive_service_limit. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "facts/facts.h"
#include "facts/unit_file.h"

namespace pindown {

struct ServiceLimit {
  std::optional<Limit> soft, hard;
  Source decided_by;  // LimitMEMLOCK=, DefaultLimitMEMLOCK=, or the unit's file with an empty text for the default
  bool by_default = false;  // nothing configured it: systemd's version decided
  std::string why;          // "systemd 252 gives services max(8 MiB, the kernel's default)"; or what is not known
};

/// LimitMEMLOCK, else DefaultLimitMEMLOCK, else max(PID 1's inherited limit, 8 MiB) from systemd 251 on, PID 1's
/// inherited limit (the kernel's MLOCK_LIMIT: 64 KiB before 5.16, 8 MiB since) before (src/core/main.c
/// fallback_rlimit_memlock, include/uapi/linux/resource.h). `systemd`, `kernel` are versions ("252.39-1~deb12u1",
/// "6.1.0-32-amd64"), empty: unknown.
ServiceLimit derive_service_limit(const UnitFile& unit, const ManagerConf& manager, std::string_view systemd,
                                  std::string_view kernel);

}  // namespace pindown
