// SPDX-License-Identifier: Apache-2.0
// A stream cut into blocks of whole lines, their newlines counted. Large inputs are read ahead by a second thread, so
// that reading and searching overlap. Entry point: Blocks::next. Memory is kSlots buffers. Must not: look at a byte
// other than '\n'.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "host/input.h"

namespace pindown::logs {

/// How many '\n' the text has.
std::uint64_t count_newlines(std::string_view text);

struct Block {
  std::string_view text;
  std::uint64_t newlines = 0;
  bool cut = false;   // ends inside a line that is longer than a block
  bool last = false;  // nothing follows; the text may be empty
};

class Blocks {
 public:
  /// `size` is the most bytes of a block; `ahead` asks for the second thread.
  Blocks(InputStream& input, std::size_t size, bool ahead);
  ~Blocks();
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  /// The next block; it and the one before it stay valid until the next call. Not to be called after the last.
  Block next();
  /// Goes on at `offset`, which must be the start of a block seen before. False if the input can't.
  bool seek(std::uint64_t offset);
  /// Why reading ended early; empty if it did not. To be asked after the last block.
  const std::string& problem() const { return problem_; }

 private:
  static constexpr std::size_t kSlots = 4;  // two with the caller, one being filled, one ready
  struct Slot {
    std::unique_ptr<char[]> data;
    std::size_t have = 0;
    Block block;
  };
  void fill(std::size_t index);
  std::size_t read_up(Slot& slot);
  void start();
  void stop();
  void work();

  InputStream& input_;
  std::size_t size_;
  bool ahead_;
  std::string problem_;
  std::array<Slot, kSlots> slots_;
  std::uint64_t taken_ = 0;   // blocks given to the caller
  std::uint64_t filled_ = 0;  // blocks read; block n stands in slot n % kSlots
  bool ended_ = false;
  bool stop_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread reader_;
};

}  // namespace pindown::logs
