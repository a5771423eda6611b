// SPDX-License-Identifier: Apache-2.0
// See scan.h.
#include "logs/scan.h"

#include <fmt/format.h>
#include <hs/hs.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "logs/literals.h"

namespace pindown::logs {
namespace {

constexpr std::size_t kBlock = std::size_t{256} << 10;
constexpr std::size_t kHead = std::size_t{128} << 10;     // delivered whole: banners and pasted commands stand there
constexpr std::size_t kTail = std::size_t{64} << 10;      // delivered whole: tells whether the job went on
constexpr std::uint64_t kLarge = std::uint64_t{8} << 20;  // from here on Vectorscan's compile time (12-55 ms) pays
constexpr std::uint64_t kFollow = 12;                     // lines after a trigger: trace lines, exception texts
constexpr std::uint64_t kFollowedTriggers = 2000;         // beyond, repeated triggers are delivered alone

/// One set of literals, searched by whichever engine fits the size.
class Finder {
 public:
  explicit Finder(std::vector<std::string_view> literals) : small_(std::move(literals)) {}
  ~Finder() {
    hs_free_scratch(scratch_);
    hs_free_database(database_);
  }
  Finder(const Finder&) = delete;
  Finder& operator=(const Finder&) = delete;

  /// Offsets of the first bytes of matches, ascending per engine order; ids tell triggers from context.
  void find(std::string_view block, bool large, std::vector<std::pair<std::size_t, std::uint32_t>>& hits) {
    if (large && compile()) {
      hits_ = &hits;
      (void)hs_scan(database_, block.data(), static_cast<unsigned>(block.size()), 0, scratch_, &Finder::on_match, this);
      std::ranges::sort(hits);
      return;
    }
    small_.find(block, [&hits](std::uint32_t id, std::size_t at) {
      hits.emplace_back(at, id);
      return true;
    });
  }

 private:
  bool compile() {
    if (database_ != nullptr || failed_) return database_ != nullptr;
    const auto& literals = small_.literals();
    std::vector<const char*> text;
    std::vector<std::size_t> lengths;
    std::vector<unsigned> ids;
    const std::vector<unsigned> flags(literals.size(), 0);
    for (unsigned id = 0; id < literals.size(); ++id) {
      text.push_back(literals[id].data());
      lengths.push_back(literals[id].size());
      ids.push_back(id);
    }
    hs_compile_error_t* error = nullptr;
    const hs_error_t code =
        hs_compile_lit_multi(text.data(), flags.data(), ids.data(), lengths.data(), static_cast<unsigned>(text.size()),
                             HS_MODE_BLOCK, nullptr, &database_, &error);
    hs_free_compile_error(error);
    failed_ = code != HS_SUCCESS || hs_alloc_scratch(database_, &scratch_) != HS_SUCCESS;
    return !failed_;
  }
  static int on_match(unsigned id, unsigned long long, unsigned long long to, unsigned, void* self) {
    auto& finder = *static_cast<Finder*>(self);
    finder.hits_->emplace_back(static_cast<std::size_t>(to) - finder.small_.literals()[id].size(), id);
    return 0;
  }

  LiteralSet small_;
  hs_database_t* database_ = nullptr;
  hs_scratch_t* scratch_ = nullptr;
  bool failed_ = false;
  std::vector<std::pair<std::size_t, std::uint32_t>>* hits_ = nullptr;
};

std::uint64_t count_newlines(std::string_view text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Walks blocks of whole lines and delivers what is wanted of them.
class Walker {
 public:
  Walker(const LineSink& sink, std::size_t triggers) : sink_(sink), triggers_(triggers) {}

  void walk(std::string_view block, const std::vector<std::pair<std::size_t, std::uint32_t>>& hits) {
    block_ = block;
    at_ = 0;
    if (offset_ < kHead) deliver_until(std::min<std::uint64_t>(block.size(), kHead - offset_), ~std::uint64_t{0});
    for (const auto& [start, id] : hits) {
      if (start >= at_) {
        const std::size_t line = line_start(start);
        move_to(line);
        deliver_line();
      }
      const bool trigger = id < triggers_;
      if (trigger && followed_ < kFollowedTriggers && start + kBlock > at_) {
        follow_ = kFollow;
        ++followed_;
      }
    }
    move_to(block.size());
    offset_ += block.size();
  }
  /// The end of the input: lines of the last block that were not delivered. Called after walk().
  void tail(std::string_view last_block) {
    const std::size_t skip =
        last_block.size() > kTail ? last_block.find('\n', last_block.size() - kTail) : std::string_view::npos;
    std::size_t at = skip == std::string_view::npos ? 0 : skip + 1;
    std::uint64_t number = line_ - count_newlines(last_block.substr(at)) - (ends_open(last_block) ? 1 : 0);
    const std::uint64_t base = offset_ - last_block.size();
    while (at < last_block.size()) {
      const auto end = std::min(last_block.find('\n', at), last_block.size());
      ++number;
      if (base + at >= delivered_to_) sink_(number, last_block.substr(at, end - at));
      at = end + 1;
    }
  }
  std::uint64_t lines() const { return line_; }
  /// Pieces of one giant line share its number.
  void continue_line() { --line_; }
  /// The same input from its first byte; what was delivered is not delivered again.
  void restart() {
    line_ = offset_ = follow_ = followed_ = 0;
    at_ = 0;
  }

 private:
  static bool ends_open(std::string_view block) { return !block.empty() && block.back() != '\n'; }
  std::size_t line_start(std::size_t position) const {
    const void* newline = memrchr(block_.data(), '\n', position);
    return newline == nullptr ? 0 : static_cast<std::size_t>(static_cast<const char*>(newline) - block_.data()) + 1;
  }
  void deliver_line() {
    const auto end = block_.find('\n', at_);
    const std::size_t stop = end == std::string_view::npos ? block_.size() : end;
    ++line_;
    if (offset_ + at_ >= delivered_to_) sink_(line_, block_.substr(at_, stop - at_));
    delivered_to_ = std::max(delivered_to_, offset_ + stop + 1);
    at_ = end == std::string_view::npos ? block_.size() : end + 1;
  }
  void deliver_until(std::size_t position, std::uint64_t most) {
    for (; at_ < position && most > 0; --most) deliver_line();
  }
  /// To the line that starts at `position`, delivering the lines still wanted after a trigger.
  void move_to(std::size_t position) {
    for (; follow_ > 0 && at_ < position; --follow_) deliver_line();
    if (at_ >= position) return;
    const std::string_view skipped = block_.substr(at_, position - at_);
    line_ += count_newlines(skipped) + (position == block_.size() && ends_open(block_) ? 1 : 0);
    at_ = position;
  }

  const LineSink& sink_;
  std::size_t triggers_;
  std::string_view block_;
  std::size_t at_ = 0;
  std::uint64_t line_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t delivered_to_ = 0;  // bytes from the start
  std::uint64_t follow_ = 0;
  std::uint64_t followed_ = 0;
};

/// Cuts a stream into blocks of whole lines.
class Blocks {
 public:
  explicit Blocks(InputStream& input) : input_(input), buffer_(2 * kBlock) {}

  struct Block {
    std::string_view text;
    bool cut = false;  // ends inside a line that is longer than a block
  };
  std::optional<Block> next(ScanResult& result) {
    std::memmove(buffer_.data(), buffer_.data() + used_, have_ - used_);
    have_ -= used_;
    used_ = 0;
    while (!ended_ && have_ < kBlock) {
      const auto n = input_.read(buffer_.data() + have_, buffer_.size() - have_);
      if (!n) result.problem = n.error().message;
      ended_ = !n || *n == 0;
      if (!ended_) {
        have_ += *n;
        result.bytes += *n;
      }
    }
    if (have_ == 0) return std::nullopt;
    return cut_block();
  }
  void restart() { used_ = have_ = 0, ended_ = false; }
  bool ended() const { return ended_ && used_ == have_; }

 private:
  Block cut_block() {
    const std::string_view all(buffer_.data(), have_);
    const auto last = all.rfind('\n');
    Block block;
    if (ended_ && (last == std::string_view::npos || last + 1 == have_ || have_ <= kBlock)) {
      block.text = all;
    } else if (last == std::string_view::npos) {
      block = {all, true};
    } else {
      block.text = all.substr(0, last + 1);
    }
    used_ = block.text.size();
    return block;
  }

  InputStream& input_;
  std::vector<char> buffer_;
  std::size_t have_ = 0;
  std::size_t used_ = 0;
  bool ended_ = false;
};

void look_at_head(std::string_view head, ScanResult& result) {
  result.utf16 = head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff");
  result.nul_bytes = static_cast<std::uint64_t>(std::ranges::count(head, '\0'));
}

std::vector<std::string_view> joined(const ScanLiterals& literals) {
  std::vector<std::string_view> all = literals.triggers;
  all.insert(all.end(), literals.context.begin(), literals.context.end());
  return all;
}

class Scan {
 public:
  Scan(InputStream& input, const ScanLiterals& literals, const LineSink& sink)
      : input_(input),
        triggers_(literals.triggers),
        all_(joined(literals)),
        blocks_(input),
        walker_(sink, literals.triggers.size()) {}

  ScanResult run() {
    // Only a large file that can be read again starts without context; everything else searches for all at once.
    trigger_only_ = input_.size_hint() >= kLarge;
    while (auto block = blocks_.next(result_)) {
      if (result_.bytes <= 2 * kBlock && offset_ == 0) look_at_head(block->text, result_);
      if (!step(*block)) {
        trigger_only_ = false;
        if (offset_ > 0 && restart()) continue;
        (void)step(*block);
      }
    }
    result_.lines = walker_.lines();
    check_size();
    return result_;
  }

 private:
  /// False if a trigger occurs while only triggers are looked for: the caller widens the search.
  bool step(const Blocks::Block& block) {
    hits_.clear();
    const bool large = input_.size_hint() >= kLarge || offset_ >= kLarge;
    (trigger_only_ ? triggers_ : all_).find(block.text, large, hits_);
    if (trigger_only_ && !hits_.empty()) return false;
    walker_.walk(block.text, hits_);
    if (block.cut) {
      walker_.continue_line();
      ++result_.cut;
    }
    offset_ += block.text.size();
    if (blocks_.ended()) walker_.tail(block.text);
    return true;
  }
  bool restart() {
    if (!input_.rewind()) return false;
    blocks_.restart();
    walker_.restart();
    result_ = {};
    offset_ = 0;
    return true;
  }
  void check_size() {
    const std::uint64_t expected = input_.size_hint();
    if (expected > 0 && result_.bytes < expected && result_.problem.empty()) {
      result_.problem = fmt::format("shrank while it was read: {} of {} bytes were judged", result_.bytes, expected);
    }
  }

  InputStream& input_;
  Finder triggers_;
  Finder all_;
  Blocks blocks_;
  Walker walker_;
  std::vector<std::pair<std::size_t, std::uint32_t>> hits_;
  ScanResult result_;
  std::uint64_t offset_ = 0;
  bool trigger_only_ = false;
};

}  // namespace

ScanResult scan_lines(InputStream& input, const ScanLiterals& literals, const LineSink& sink) {
  return Scan(input, literals, sink).run();
}

}  // namespace pindown::logs
