// SPDX-License-Identifier: Apache-2.0
// See blocks.h. Ring of buffers: block n is filled into slot n % kSlots, and what follows its last newline is copied to
// the front of the next. Without the second thread a block is filled when it is asked for.
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
[[gnu::target("avx2"), gnu::optimize("O3")]] std::uint64_t count_avx2(const char* text, std::size_t size) {
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

Blocks::Blocks(InputStream& input, std::size_t size, bool ahead) : input_(input), size_(size), ahead_(ahead) {
  start();
}

Blocks::~Blocks() {
  stop();
}

std::size_t Blocks::read_up(Slot& slot) {
  std::size_t taken = 0;
  while (slot.have < size_) {
    const auto n = input_.read(slot.data.get() + slot.have, size_ - slot.have);
    if (!n) problem_ = n.error().message;
    if (!n || *n == 0) {
      slot.block.last = true;
      break;
    }
    slot.have += *n;
    taken += *n;
  }
  return taken;
}

void Blocks::fill(std::size_t index) {
  Slot& slot = slots_[index % kSlots];
  if (!slot.data) slot.data = std::make_unique_for_overwrite<char[]>(size_);
  slot.block = {};
  slot.have = 0;
  if (index > 0) {
    const Slot& before = slots_[(index - 1) % kSlots];
    slot.have = before.have - before.block.text.size();
    std::memcpy(slot.data.get(), before.data.get() + before.block.text.size(), slot.have);
  }
  const std::size_t old = slot.have;  // the front has no newline: it is what stood behind the last one
  const std::size_t added = read_up(slot);
  slot.block.newlines = count_newlines({slot.data.get() + old, added});
  slot.block.text = {slot.data.get(), slot.have};
  if (slot.block.last) return;
  slot.block.cut = slot.block.newlines == 0;
  if (!slot.block.cut) slot.block.text = slot.block.text.substr(0, slot.block.text.rfind('\n') + 1);
}

Block Blocks::next() {
  if (!reader_.joinable()) {
    fill(taken_);
    return slots_[taken_++ % kSlots].block;
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return filled_ > taken_; });
  const Block block = slots_[taken_++ % kSlots].block;
  lock.unlock();
  changed_.notify_one();
  return block;
}

bool Blocks::seek(std::uint64_t offset) {
  stop();
  if (!input_.seek(offset)) {
    start();
    return false;
  }
  taken_ = filled_ = 0;
  problem_.clear();
  start();
  return true;
}

/// A machine that is out of threads reads without one.
void Blocks::start() {
  stop_ = ended_ = false;
  if (!ahead_) return;
  try {
    reader_ = std::thread([this] { work(); });
  } catch (const std::system_error&) {
    ahead_ = false;
  }
}

void Blocks::stop() {
  if (!reader_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  reader_.join();
}

void Blocks::work() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    // The caller may still look at the block it was given last and at the one before.
    changed_.wait(lock, [this] { return stop_ || filled_ < taken_ + kSlots - 2; });
    if (stop_) return;
    lock.unlock();
    fill(filled_);
    lock.lock();
    ended_ = slots_[filled_ % kSlots].block.last;
    ++filled_;
    changed_.notify_one();
  }
}

}  // namespace pindown::logs
