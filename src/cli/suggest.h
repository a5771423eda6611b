// SPDX-License-Identifier: Apache-2.0
// What a mistyped word was meant to be. Entry point: nearest_word.
#pragma once

#include <span>
#include <string_view>

namespace pindown::cli {

/// The candidate fewest changes away from `word` (insert, delete, replace or swap one byte; letters in either case),
/// empty if even that one differs by more than a third. Words above 64 bytes have none.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace pindown::cli
