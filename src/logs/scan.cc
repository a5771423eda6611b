// SPDX-License-Identifier: Apache-2.0
// See scan.h.
#include "logs/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

#include "logs/blocks.h"
#include "logs/literals.h"
#include "logs/sieve.h"

namespace pindown::logs {
namespace {

constexpr std::size_t kHead = std::size_t{128} << 10;  // delivered whole: banners and pasted commands stand there
constexpr std::size_t kTail = std::size_t{64} << 10;   // delivered whole: tells whether the job went on
constexpr std::uint64_t kFollow = 12;                  // lines after a trigger: trace lines, exception texts
constexpr std::uint64_t kFollowedTriggers = 2000;      // beyond, triggers are delivered alone
constexpr std::uint64_t kFollowedAlike = 64;           // of one literal

/// One set of literals, searched by whichever engine fits the size.
class Finder {
 public:
  explicit Finder(std::vector<std::string_view> literals) : small_(std::move(literals)) {}

  std::size_t size() const { return small_.literals().size(); }
  /// Every occurrence, in order of offset.
  void find(std::string_view block, bool large, Hits& hits) {
    if (large) prepare();
    find_prepared(block, large, hits);
  }
  void prepare() {
    if (!sieve_ && Sieve::widest() != Sieve::Width::kOne) sieve_.emplace(small_.literals());
  }
  /// For more than one thread, after prepare().
  void find_prepared(std::string_view block, bool large, Hits& hits) const {
    hits.clear();
    if (large && sieve_) {
      sieve_->find(block, hits);
    } else {
      small_.find(block, [&hits](std::uint32_t id, std::size_t at) {
        hits.emplace_back(at, id);
        return true;
      });
    }
    std::ranges::sort(hits);
  }

 private:
  LiteralSet small_;
  std::optional<Sieve> sieve_;
};

/// Walks blocks of whole lines and delivers what is wanted of them.
class Walker {
 public:
  explicit Walker(const LineSink& sink) : sink_(sink) {}

  /// `is_wanted(id)` says whether the line of a hit is to be delivered, `is_trigger(id)` whether lines after it are
  /// too.
  template <class Wanted, class Trigger>
  void walk(const Block& block, const Hits& hits, Wanted is_wanted, Trigger is_trigger) {
    block_ = block.text;
    at_ = 0;
    const std::uint64_t before = line_;
    if (offset_ < kHead) deliver_until(std::min<std::uint64_t>(block_.size(), kHead - offset_));
    const bool counted = &hits == block.found;
    for (std::size_t i = 0; i < hits.size(); ++i) {
      const auto& [start, id] = hits[i];
      const bool trigger = is_trigger(id);
      if (start >= at_ && (trigger || is_wanted(id))) {
        move_to(line_start(start), counted ? before + (*block.lines_before)[i] : kUncounted);
        deliver_line();
      }
      if (trigger && is_followed(id)) follow_ = kFollow;
    }
    for (; follow_ > 0 && at_ < block_.size(); --follow_) deliver_line();
    line_ = before + block.newlines + (ends_open(block) ? 1 : 0);
    offset_ += block_.size();
  }
  /// The last kTail bytes of a block already walked, or fewer if `most` is less; what was delivered is left out.
  void tail(std::string_view block, std::size_t most) {
    const std::size_t skip = block.size() > most ? block.find('\n', block.size() - most) : std::string_view::npos;
    std::size_t at = block.size() > most ? std::min(skip, block.size() - 1) + 1 : 0;
    std::uint64_t number = line_ - count_newlines(block.substr(at)) - (is_open(block) ? 1 : 0);
    const std::uint64_t base = offset_ - block.size();
    while (at < block.size()) {
      const auto end = std::min(block.find('\n', at), block.size());
      ++number;
      deliver(number, base + at, block.substr(at, end - at));
      at = end + 1;
    }
  }
  std::uint64_t lines() const { return line_; }
  std::uint64_t offset() const { return offset_; }
  /// The same input from an earlier block on, or from a later one; what was delivered is not delivered again.
  void jump(std::uint64_t offset, std::uint64_t lines) {
    offset_ = offset;
    line_ = lines;
    follow_ = followed_ = 0;
    alike_.clear();
  }

 private:
  static bool is_open(std::string_view text) { return !text.empty() && text.back() != '\n'; }
  /// Pieces of one giant line share its number, so only the end of the input closes a line without '\n'.
  static bool ends_open(const Block& block) { return !block.cut && is_open(block.text); }
  std::size_t line_start(std::size_t position) const {
    const void* newline = memrchr(block_.data(), '\n', position);
    return newline == nullptr ? 0 : static_cast<std::size_t>(static_cast<const char*>(newline) - block_.data()) + 1;
  }
  void deliver(std::uint64_t number, std::uint64_t offset, std::string_view text) {
    if (offset < delivered_to_) return;
    delivered_to_ = offset + text.size() + 1;
    sink_(number, text);
  }
  void deliver_line() {
    const auto end = std::min(block_.find('\n', at_), block_.size());
    deliver(++line_, offset_ + at_, block_.substr(at_, end - at_));
    at_ = std::min(end + 1, block_.size());
  }
  void deliver_until(std::size_t position) {
    while (at_ < position) deliver_line();
  }
  bool is_followed(std::uint32_t id) {
    if (alike_.size() <= id) alike_.resize(id + 1);
    return ++alike_[id] <= kFollowedAlike && ++followed_ <= kFollowedTriggers;
  }
  static constexpr std::uint64_t kUncounted = ~std::uint64_t{0};
  /// To the line that starts at `position`, with `lines` before it, delivering the lines still wanted after a trigger.
  void move_to(std::size_t position, std::uint64_t lines) {
    for (; follow_ > 0 && at_ < position; --follow_) deliver_line();
    if (at_ >= position) return;
    line_ = lines != kUncounted ? lines : line_ + count_newlines(block_.substr(at_, position - at_));
    at_ = position;
  }

  const LineSink& sink_;
  std::string_view block_;
  std::size_t at_ = 0;
  std::uint64_t line_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t delivered_to_ = 0;  // bytes from the start
  std::uint64_t follow_ = 0;
  std::uint64_t followed_ = 0;
  std::vector<std::uint64_t> alike_;  // triggers seen, by literal
};

void look_at_head(std::string_view head, ScanResult& result) {
  // open_input decodes it; other streams may still have it. A mark alone may be garbage.
  const bool mark = head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff");
  result.utf16 = mark && head.substr(0, 6).find('\0') != std::string_view::npos;
  result.nul_bytes = static_cast<std::uint64_t>(std::ranges::count(head, '\0'));
}

std::vector<std::string_view> joined(const ScanLiterals& literals) {
  std::vector<std::string_view> all = literals.triggers;
  all.insert(all.end(), literals.context.begin(), literals.context.end());
  return all;
}

/// Where a block started, to come back to it.
struct Place {
  std::uint64_t offset = 0;
  std::uint64_t lines = 0;
};

class Scan {
 public:
  Scan(InputStream& input, const ScanLiterals& literals, const LineSink& sink, const ScanLimits& limits)
      : limits_(limits),
        size_(input.size_hint()),
        windowed_(size_ >= limits.large_from && size_ > 0),
        triggers_(literals.triggers),
        all_(joined(literals)),
        seen_(literals.triggers.size(), false),
        delivered_(all_.size(), 0),
        blocks_(input, limits.block, search_ahead()),
        walker_(sink) {}

  ScanResult run() {
    for (bool last = false; !last;) {
      const Place here{walker_.offset(), walker_.lines()};
      if (jump_to_ > here.offset && here.offset >= window_end_) {
        last = !jump();
        continue;
      }
      const Block block = blocks_.next();
      if (here.offset == 0 && result_.bytes == 0) look_at_head(block.text, result_);
      last = block.last;
      if (last && block.text.size() < kTail) walker_.tail(before_, kTail - block.text.size());
      if (!search(block, here)) {
        last = false;
        continue;
      }
      take(block, here);
    }
    result_.lines = walker_.lines();
    result_.problem = blocks_.problem();
    check_size();
    return result_;
  }

 private:
  /// Most of a large file is searched for triggers; where everything is looked for, the block is searched once more.
  Blocks::Search search_ahead() {
    if (!windowed_) return {};
    triggers_.prepare();
    return [this](std::string_view text, Hits& hits) { triggers_.find_prepared(text, true, hits); };
  }
  /// Sets hits_. False if the search goes on elsewhere: context before the first trigger is to be looked for.
  bool search(const Block& block, const Place& here) {
    places_.push_back(here);
    while (places_.front().offset + limits_.window < here.offset) places_.pop_front();
    if (at_end(here) && !end_seen_ && window_end_ > 0) {
      end_seen_ = true;
      open_window(size_ + limits_.window);
    }
    const bool large = size_ >= limits_.sieve_from || here.offset >= limits_.sieve_from;
    const bool narrow = windowed_ && here.offset >= window_end_;
    if (narrow) {
      hits_ = block.found;
    } else {
      find_all(block, large);
    }
    if (!note_triggers(here.offset + block.text.size()) || !narrow) return true;
    if (!came_back_ && come_back(here)) return false;
    find_all(block, large);
    return true;
  }
  void find_all(const Block& block, bool large) {
    all_.find(block.text, large, all_hits_);
    hits_ = &all_hits_;
  }
  bool at_end(const Place& here) const { return windowed_ && here.offset + limits_.window >= size_; }

  /// True if a trigger occurs for the first time; a window is then open until well behind it.
  bool note_triggers(std::uint64_t block_end) {
    bool news = false;
    for (const auto& [start, id] : *hits_) {
      if (id >= seen_.size() || seen_[id]) continue;
      seen_[id] = news = true;
    }
    if (news) open_window(block_end + limits_.window);
    return news;
  }
  void open_window(std::uint64_t end) {
    window_end_ = std::max(window_end_, end);
    std::ranges::fill(delivered_, 0U);
  }

  /// The first trigger of a large file: its start is read again for context, then the part before the trigger.
  bool come_back(const Place& here) {
    came_back_ = true;
    const Place before = places_.front();
    if (here.offset == 0 || !blocks_.seek(0)) return false;
    walker_.jump(0, 0);
    if (before.offset > limits_.window) {
      jump_to_ = before.offset;
      jump_lines_ = before.lines;
      after_jump_ = window_end_;
      window_end_ = limits_.window;
    }
    before_ = {};
    places_.clear();
    return true;
  }
  /// From the window at the start to the one before the first trigger. False if the input can't any more.
  bool jump() {
    const std::uint64_t offset = std::exchange(jump_to_, 0);
    if (!blocks_.seek(offset)) return false;
    walker_.jump(offset, jump_lines_);
    open_window(after_jump_);
    before_ = {};
    places_.clear();
    return true;
  }

  void take(const Block& block, const Place& here) {
    const auto is_trigger = [this](std::uint32_t id) { return id < seen_.size(); };
    const auto is_wanted = [this](std::uint32_t id) { return ++delivered_[id] <= limits_.context_lines; };
    walker_.walk(block, *hits_, is_wanted, is_trigger);
    const std::uint64_t end = here.offset + block.text.size();
    if (block.cut && end > result_.bytes) ++result_.cut;
    result_.bytes = std::max(result_.bytes, end);
    if (block.last) walker_.tail(block.text, kTail);
    before_ = block.text;
  }
  void check_size() {
    if (size_ > 0 && result_.bytes < size_ && result_.problem.empty()) {
      result_.problem = fmt::format("shrank while it was read: {} of {} bytes were judged", result_.bytes, size_);
    }
  }

  ScanLimits limits_;
  std::uint64_t size_;
  bool windowed_;  // context only in windows; everything else searches for all at once
  Finder triggers_;
  Finder all_;
  std::vector<bool> seen_;                // triggers that occurred
  std::vector<std::uint32_t> delivered_;  // lines of each literal in the open window
  Blocks blocks_;
  Walker walker_;
  std::deque<Place> places_;  // block starts, back to one window before the block at hand
  std::string_view before_;   // the block before
  Hits all_hits_;
  const Hits* hits_ = nullptr;  // those of the block at hand: found ahead, or all_hits_
  ScanResult result_;
  std::uint64_t window_end_ = 0;  // context is looked for in blocks that start before it
  std::uint64_t jump_to_ = 0;     // 0: nowhere
  std::uint64_t jump_lines_ = 0;
  std::uint64_t after_jump_ = 0;
  bool came_back_ = false;
  bool end_seen_ = false;
};

}  // namespace

ScanResult scan_lines(InputStream& input, const ScanLiterals& literals, const LineSink& sink,
                      const ScanLimits& limits) {
  return Scan(input, literals, sink, limits).run();
}

}  // namespace pindown::logs
