// SPDX-License-Identifier: Apache-2.0
// What ibv_query_device(3) says of each device: only libibverbs has it, neither sysfs nor netlink. Entry points:
// parse_probe_devices, collect_device_limits.
#pragma once

#include <string_view>

#include "facts/facts.h"
#include "host/host.h"

namespace pindown {

/// Lines of `pindown-probe devices` into the devices of that name; a device sysfs did not show is added.
void parse_probe_devices(std::string_view text, Facts& facts);

/// Asks the helper, where there are RDMA devices and the machine is the one pindown runs on; else the values stay
/// unknown.
void collect_device_limits(const Host& host, Facts& facts);

}  // namespace pindown
