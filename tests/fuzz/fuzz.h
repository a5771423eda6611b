// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets share. A target's own function is LLVMFuzzerTestOneInput, called by libFuzzer or drive.cc.
#pragma once

#include <cstdlib>
#include <string_view>

namespace pindown::fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

/// C0 controls but '\n', DEL, and C1 controls as UTF-8 has them.
inline bool has_control(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && c != '\n') || c == 0x7f) return true;
    const bool c1 = c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (c1) return true;
  }
  return false;
}

}  // namespace pindown::fuzz
