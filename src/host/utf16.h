// SPDX-License-Identifier: Apache-2.0
// UTF-16 with a byte order mark, as PowerShell's `>` writes it, read as UTF-8. Entry point: as_utf8. Must not: guess
// without a mark, or keep more than one chunk.
#pragma once

#include <memory>
#include <string_view>

#include "host/input.h"

namespace pindown {

/// A mark, and behind it bytes as UTF-16 has them; `head` is the first six bytes, or all there are.
bool has_utf16_mark(std::string_view head);
/// `inner` itself, byte for byte, unless it begins so. Cannot seek.
std::unique_ptr<InputStream> as_utf8(std::unique_ptr<InputStream> inner);

}  // namespace pindown
