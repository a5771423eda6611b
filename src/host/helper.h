// SPDX-License-Identifier: Apache-2.0
// Runs pindown's own helper program and gives what it printed. Part of the live host: a directory has no programs to
// ask. Entry point: run_helper. Must not: run anything else, use a shell, or wait without end.
#pragma once

#include <chrono>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "host/host.h"

namespace pindown {

/// `name` beside the running binary, or in ../libexec/pindown. kNotFound: it is not there, or what it needs is not
/// (it ended with 2); kError: it failed, printed more than `max_bytes` or took longer than `limit` (then it is killed).
std::expected<std::string, HostError> run_helper(std::string_view name, const std::vector<std::string>& arguments,
                                                 std::chrono::milliseconds limit = std::chrono::seconds(10),
                                                 std::size_t max_bytes = 1U << 20);

}  // namespace pindown
