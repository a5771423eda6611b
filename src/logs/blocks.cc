// SPDX-License-Identifier: Apache-2.0
// See blocks.h. What follows the last newline of a block is copied to the front of the next, so reads are in turn; the
// rest of the work on a block is not.
#include "logs/blocks.h"

#include <algorithm>
#include <cstring>
#include <system_error>

namespace pindown::logs {
namespace {

/// 32 counters side by side, added up before one of them can overflow: the shape compilers turn into vector code.
[[gnu::always_inline]] inline std::uint64_t count_bytes(const char* text, std::size_t size) {
  constexpr std::size_t kLanes = 32;
  std::uint64_t total = 0;
  while (size >= kLanes) {
    std::uint8_t lanes[kLanes] = {};
    const std::size_t steps = std::min<std::size_t>(size / kLanes, 255);
    for (std::size_t step = 0; step < steps; ++step, text += kLanes) {
      for (std::size_t i = 0; i < kLanes; ++i) {
        lanes[i] = static_cast<std::uint8_t>(lanes[i] + (text[i] == '\n' ? 1 : 0));
      }
    }
    for (const std::uint8_t lane : lanes) total += lane;
    size -= steps * kLanes;
  }
  for (; size > 0; --size, ++text) total += *text == '\n' ? 1 : 0;
  return total;
}

#if defined(__x86_64__)
// GCC 12 vectorises such a loop at -O3 only; clang does at -O2 and has no such attribute.
#if defined(__clang__)
#define PINDOWN_AVX2 gnu::target("avx2")
#else
#define PINDOWN_AVX2 gnu::target("avx2"), gnu::optimize("O3")
#endif
[[PINDOWN_AVX2]] std::uint64_t count_avx2(const char* text, std::size_t size) {
  return count_bytes(text, size);
}
#endif

}  // namespace

std::uint64_t count_newlines(std::string_view text) {
#if defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx2");
  if (wide) return count_avx2(text.data(), text.size());
#endif
  return count_bytes(text.data(), text.size());
}

Blocks::Blocks(InputStream& input, std::size_t size, Search search)
    : input_(input), size_(size), search_(std::move(search)) {
  start();
}

Blocks::~Blocks() {
  stop();
}

void Blocks::read_up(Slot& to) {
  while (to.have < size_) {
    const auto n = input_.read(to.data.get() + to.have, size_ - to.have);
    if (!n) problem_ = n.error().message;
    if (!n || *n == 0) {
      to.block.last = true;
      return;
    }
    to.have += *n;
  }
}

void Blocks::read_block(std::uint64_t number) {
  Slot& to = slot(number);
  if (!to.data) to.data = std::make_unique_for_overwrite<char[]>(size_);
  to.block = {};
  to.have = 0;
  if (number > 0) {
    const Slot& before = slot(number - 1);
    to.have = before.have - before.block.text.size();
    std::memcpy(to.data.get(), before.data.get() + before.block.text.size(), to.have);
  }
  read_up(to);
  to.block.text = {to.data.get(), to.have};
  if (to.block.last) return;
  const auto end = to.block.text.rfind('\n');
  to.block.cut = end == std::string_view::npos;
  if (!to.block.cut) to.block.text = to.block.text.substr(0, end + 1);
}

void Blocks::search_block(Slot& in) const {
  const std::string_view text = in.block.text;
  in.hits.clear();
  in.lines_before.clear();
  if (search_) search_(text, in.hits);
  std::size_t at = 0;
  std::uint64_t lines = 0;
  for (const auto& [start, id] : in.hits) {
    lines += count_newlines(text.substr(at, start - at));
    in.lines_before.push_back(static_cast<std::uint32_t>(lines));
    at = start;
  }
  in.block.newlines = lines + count_newlines(text.substr(at));
  if (!search_) return;
  in.block.found = &in.hits;
  in.block.lines_before = &in.lines_before;
}

/// Reads a block and makes it ready; only the first part is done by one thread at a time.
void Blocks::make_block(std::unique_lock<std::mutex>& lock) {
  const std::uint64_t number = begun_++;
  Slot& to = slot(number);
  to.ready = false;
  reading_ = true;
  lock.unlock();
  read_block(number);
  lock.lock();
  reading_ = false;
  ended_ = to.block.last;
  lock.unlock();
  changed_.notify_all();
  search_block(to);
  lock.lock();
  to.ready = true;
  changed_.notify_all();
}

Block Blocks::next() {
  std::unique_lock lock(mutex_);
  while (begun_ == taken_ || !slot(taken_).ready) {
    if (can_begin()) {
      make_block(lock);
    } else {
      changed_.wait(lock);
    }
  }
  const Block block = slot(taken_++).block;
  changed_.notify_all();
  return block;
}

bool Blocks::seek(std::uint64_t offset) {
  stop();
  if (!input_.seek(offset)) {
    start();
    return false;
  }
  taken_ = begun_ = 0;
  ended_ = false;
  problem_.clear();
  start();
  return true;
}

/// A machine that is out of threads does without.
void Blocks::start() {
  stop_ = false;
  if (!search_) return;
  try {
    helper_ = std::thread([this] { help(); });
  } catch (const std::system_error&) {
    return;
  }
}

void Blocks::stop() {
  if (!helper_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  helper_.join();
}

void Blocks::help() {
  std::unique_lock lock(mutex_);
  while (!stop_ && !ended_) {
    if (can_begin()) {
      make_block(lock);
    } else {
      changed_.wait(lock);
    }
  }
}

}  // namespace pindown::logs
