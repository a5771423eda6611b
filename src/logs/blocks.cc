// SPDX-License-Identifier: Apache-2.0
// See blocks.h. Of a stream, what follows the last newline of a block is copied to the front of the next, so reads are
// in turn. Of a file, the last bytes of a block tell where the next one starts before either is read.
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
    : input_(input), size_(size), search_(std::move(search)), by_offset_(search_ && input.can_read_at()) {
  start();
}

Blocks::~Blocks() {
  stop();
}

std::expected<std::size_t, HostError> Blocks::read_some(Slot& to, std::size_t size) {
  char* const end = to.data.get() + to.have;
  return by_offset_ ? input_.read_at(to.offset + to.have, end, size) : input_.read(end, size);
}

/// Until the slot holds `size` bytes; fewer are the last of the input.
void Blocks::read_up(Slot& to, std::size_t size) {
  while (to.have < size) {
    const auto n = read_some(to, size - to.have);
    if (!n) to.problem = n.error().message;
    if (!n || *n == 0) {
      to.block.last = true;
      return;
    }
    to.have += *n;
  }
}

/// Finds where the block from offset_ on ends without reading it all: false near the end of the file, in a long line,
/// or where it can't be known.
bool Blocks::place_block(Slot& to) {
  constexpr std::size_t kLook = 4096;
  if (!by_offset_ || size_ < kLook) return false;
  const auto n = input_.read_at(offset_ + size_ - kLook, to.data.get(), kLook);
  if (!n || *n != kLook) return false;
  const auto newline = std::string_view(to.data.get(), kLook).rfind('\n');
  if (newline == std::string_view::npos) return false;
  to.block.text = {to.data.get(), size_ - kLook + newline + 1};
  offset_ += to.block.text.size();
  return true;
}

void Blocks::read_block(std::uint64_t number) {
  Slot& to = slot(number);
  if (!by_offset_ && number > 0) {
    const Slot& before = slot(number - 1);
    to.have = before.have - before.block.text.size();
    std::memcpy(to.data.get(), before.data.get() + before.block.text.size(), to.have);
  }
  read_up(to, size_);
  to.block.text = {to.data.get(), to.have};
  if (!to.block.last) {
    const auto end = to.block.text.rfind('\n');
    to.block.cut = end == std::string_view::npos;
    if (!to.block.cut) to.block.text = to.block.text.substr(0, end + 1);
  }
  offset_ += to.block.text.size();
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

/// Reads a block and makes it ready; what says where the next one starts is done by one thread at a time.
void Blocks::make_block(std::unique_lock<std::mutex>& lock) {
  const std::uint64_t number = begun_++;
  Slot& to = slot(number);
  to.ready = false;
  reading_ = true;
  lock.unlock();
  if (!to.data) to.data = std::make_unique_for_overwrite<char[]>(size_);
  to.block = {};
  to.have = 0;
  to.problem.clear();
  to.offset = offset_;
  const bool placed = place_block(to);
  if (!placed) read_block(number);
  lock.lock();
  reading_ = false;
  ended_ = ended_ || to.block.last;
  lock.unlock();
  changed_.notify_all();
  if (placed) {
    read_up(to, to.block.text.size());
    to.block.text = {to.data.get(), to.have};  // fewer if it has shrunk since
  }
  search_block(to);
  lock.lock();
  ended_ = ended_ || to.block.last;
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
  const Slot& taken = slot(taken_++);
  if (taken.block.last) problem_ = taken.problem;
  // Woken for each block, the second thread would sleep and wake as often.
  if (begun_ - taken_ <= kFew) changed_.notify_all();
  return taken.block;
}

bool Blocks::seek(std::uint64_t offset) {
  stop();
  if (!input_.seek(offset)) {
    start();
    return false;
  }
  taken_ = begun_ = 0;
  offset_ = offset;
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
