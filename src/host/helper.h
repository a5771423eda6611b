// SPDX-License-Identifier: Apache-2.0
// Runs pindown's own helper program, or one of the system's by its full path, and gives what it printed. Part of the
// live host: a directory has no programs to ask. Entry points: run_helper, run_system_program. Must not: use a shell,
// look along PATH, or wait without end.
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

/// `path` with nothing of the caller's environment. Whatever status it ends with, what it printed counts: `rpm -q`
/// ends with the number of packages that are not there. kNotFound: there is no such program.
std::expected<std::string, HostError> run_system_program(const std::string& path,
                                                         const std::vector<std::string>& arguments,
                                                         std::chrono::milliseconds limit, std::size_t max_bytes);

}  // namespace pindown
