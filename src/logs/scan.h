// SPDX-License-Identifier: Apache-2.0
// From a stream of any size to the few lines worth reading: lines with a literal, the lines right after a trigger, the
// head and the tail. Small inputs are searched by LiteralSet, large ones by Vectorscan, compiled only then. One pass;
// the part before the first trigger is read again for context. Entry point: scan_lines. Memory is bounded whatever the
// input.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host/input.h"

namespace pindown::logs {

struct ScanLiterals {
  std::vector<std::string_view> triggers;  // can name a failure
  std::vector<std::string_view> context;   // wanted only where a trigger occurs
};

struct ScanResult {
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;
  std::uint64_t cut = 0;        // pieces of lines longer than the block; each was searched on its own
  std::uint64_t nul_bytes = 0;  // in the head
  bool utf16 = false;
  std::string problem;  // one line; what was read until then was delivered
};

/// Lines come in order, each at most once, without '\n'; `line` counts from 1.
using LineSink = std::function<void(std::uint64_t line, std::string_view text)>;
ScanResult scan_lines(InputStream& input, const ScanLiterals& literals, const LineSink& sink);

}  // namespace pindown::logs
