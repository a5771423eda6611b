// SPDX-License-Identifier: Apache-2.0
// From a stream of any size to the few lines worth reading: lines with a literal, the lines right after a trigger, the
// head and the tail. Small inputs are searched by LiteralSet for everything, large ones by Sieve, made only then. A
// large file is searched for triggers alone; only when one occurs, context is looked for: at the start, around the
// first of each kind of trigger, and near the end. Entry point: scan_lines. Memory is bounded whatever the input.
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

/// The sizes that decide what is done; tests make them small.
struct ScanLimits {
  std::uint64_t sieve_from = std::uint64_t{8} << 20;  // what Sieve costs to set up (about 5 ms) pays from here on
  std::uint64_t large_from = std::uint64_t{8} << 20;  // from here on context is only looked for in windows
  std::uint64_t window = std::uint64_t{8} << 20;      // bytes before and after a trigger, at the start, at the end
  std::uint32_t context_lines = 1000;          // of one literal in one window: "NCCL INFO" may stand in every line
  std::size_t block = std::size_t{512} << 10;  // well above the 64 KiB of the tail
};

/// Lines come in order, each at most once, without '\n'; `line` counts from 1.
using LineSink = std::function<void(std::uint64_t line, std::string_view text)>;
ScanResult scan_lines(InputStream& input, const ScanLiterals& literals, const LineSink& sink,
                      const ScanLimits& limits = {});

}  // namespace pindown::logs
