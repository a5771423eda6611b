// SPDX-License-Identifier: Apache-2.0
// How text output may look: colour, UTF-8, width. Decided by cli, used by every renderer. Passive data.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pindown {

struct Style {
  bool color = false;
  bool utf8 = true;
  std::size_t width = 100;
  bool verbose = false;
};

enum class Tone { kPlain, kBold, kDim, kRed, kYellow, kGreen, kCyan };
std::string paint(const Style& style, Tone tone, std::string_view text);
/// Replaces pindown's own signs ("✗ · ◀ └ … →") by ASCII when the output is not UTF-8; other non-ASCII becomes \u{…}.
std::string plain_ascii(std::string_view utf8_text);
/// What happens to a word that is wider than a line: kept whole (a path stays one) or broken (quoted log lines).
enum class LongWords { kKeep, kBreak };
/// Breaks at blanks so that no line is longer than the width. The text begins at column `used` (0: at `indent`); later
/// lines begin with `indent` blanks.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent, LongWords words = LongWords::kKeep,
                 std::size_t used = 0);

}  // namespace pindown
