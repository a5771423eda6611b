// SPDX-License-Identifier: Apache-2.0
// A stream cut into blocks of whole lines, their newlines counted. For large inputs a second thread takes every
// other block: whoever reads a block also searches it, while it is in that processor's cache. A file's blocks are read
// at the same time, a stream's in turn. Entry point: Blocks::next. Memory is kSlots buffers. Must not: decide what is
// searched for.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "host/input.h"

namespace pindown::logs {

/// Where a literal occurs: offset of its first byte in the block, and its index.
using Hits = std::vector<std::pair<std::size_t, std::uint32_t>>;

/// How many '\n' the text has.
std::uint64_t count_newlines(std::string_view text);

struct Block {
  std::string_view text;
  std::uint64_t newlines = 0;
  bool cut = false;                                          // ends inside a line that is longer than a block
  bool last = false;                                         // nothing follows; the text may be empty
  const Hits* found = nullptr;                               // what the search found, if there is one
  const std::vector<std::uint32_t>* lines_before = nullptr;  // for each of these: newlines before it in the block
};

class Blocks {
 public:
  /// Called for each block, by two threads at once.
  using Search = std::function<void(std::string_view text, Hits& hits)>;

  /// `size` is the most bytes of a block. With a search there may be a second thread, without there is none.
  Blocks(InputStream& input, std::size_t size, Search search);
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
  static constexpr std::size_t kSlots = 10;  // two are with the caller, two in work, the rest ready
  static constexpr std::size_t kFew = 2;     // begun and not taken: the second thread is woken to go on
  struct Slot {
    std::unique_ptr<char[]> data;
    std::size_t have = 0;
    std::uint64_t offset = 0;
    std::string problem;  // why it is the last
    Hits hits;
    std::vector<std::uint32_t> lines_before;
    Block block;
    bool ready = false;
  };
  Slot& slot(std::uint64_t number) { return slots_[number % kSlots]; }
  bool can_begin() const { return !reading_ && !ended_ && begun_ < taken_ + kSlots - 2; }
  void make_block(std::unique_lock<std::mutex>& lock);
  bool place_block(Slot& to);
  void read_block(std::uint64_t number);
  std::expected<std::size_t, HostError> read_some(Slot& to, std::size_t size);
  void read_up(Slot& to, std::size_t size);
  void search_block(Slot& in) const;
  void start();
  void stop();
  void help();

  InputStream& input_;
  std::size_t size_;
  Search search_;
  bool by_offset_;  // blocks start where the one before ends, and are read from there
  std::string problem_;
  std::uint64_t offset_ = 0;  // of the next block; with whoever has reading_
  std::array<Slot, kSlots> slots_;
  // From here on guarded by mutex_. Block n stands in slot n % kSlots.
  std::uint64_t taken_ = 0;  // blocks given to the caller
  std::uint64_t begun_ = 0;  // blocks somebody reads, searches or has made ready
  bool reading_ = false;     // the input is with somebody
  bool ended_ = false;
  bool stop_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread helper_;
};

}  // namespace pindown::logs
