// SPDX-License-Identifier: Apache-2.0
// errno numbers, names and the words that strerror(3) has for them, in the languages glibc ships.
// Entry points: errno_from_text, errno_name. Logs carry strerror text, seldom a number.
#pragma once

#include <optional>
#include <string_view>

namespace pindown {

/// Finds the errno a message speaks of: glibc's English or translated strerror text at the start of `text`, "E…" names,
/// "Unknown error 524" (the kernel's ENOTSUPP leaking out). Linux numbers.
std::optional<int> errno_from_text(std::string_view text);
/// "ENOMEM"; "errno 999" style names are not made up: empty for numbers without a name. 524 is "ENOTSUPP".
std::string_view errno_name(int number);

}  // namespace pindown
