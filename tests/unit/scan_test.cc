// SPDX-License-Identifier: Apache-2.0
// logs/scan: which lines are delivered, with which numbers, whatever the block size, the engine and the input's habits.
#include "logs/scan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace pindown::logs {
namespace {

/// Bytes in memory; hands out at most `chunk` a read, may lie about its size, may shrink or grow between reads.
class MemoryStream final : public InputStream {
 public:
  explicit MemoryStream(std::string bytes) : bytes_(std::move(bytes)), hint_(bytes_.size()) {}

  std::expected<std::size_t, HostError> read(char* buffer, std::size_t size) override {
    if (at_ >= fail_at) return std::unexpected(HostError{HostErrorKind::kError, "cannot read x: input/output error"});
    const std::size_t end = std::min(bytes_.size(), shrink_to);
    const std::size_t n = at_ >= end ? 0 : std::min({size, chunk, end - at_});
    bytes_.copy(buffer, n, at_);
    at_ += n;
    return n;
  }
  std::expected<std::size_t, HostError> read_at(std::uint64_t offset, char* buffer, std::size_t size) const override {
    if (offset >= fail_at)
      return std::unexpected(HostError{HostErrorKind::kError, "cannot read x: input/output error"});
    const std::size_t end = std::min(bytes_.size(), shrink_to);
    if (offset >= end) return 0;
    const std::size_t n = std::min({size, chunk, end - static_cast<std::size_t>(offset)});
    bytes_.copy(buffer, n, static_cast<std::size_t>(offset));
    return n;
  }
  bool can_read_at() const override { return seekable && by_offset; }
  bool seek(std::uint64_t offset) override {
    if (!seekable) return false;
    ++seeks;
    at_ = offset;
    if (seeks == 1 && !appended.empty()) bytes_ += appended;
    return true;
  }
  std::uint64_t size_hint() const override { return seekable ? hint_ : 0; }

  std::size_t chunk = ~std::size_t{0};
  std::size_t shrink_to = ~std::size_t{0};
  std::size_t fail_at = ~std::size_t{0};
  bool seekable = true;
  bool by_offset = true;
  int seeks = 0;
  std::string appended;

 private:
  std::string bytes_;
  std::uint64_t hint_;
  std::size_t at_ = 0;
};

using Lines = std::map<std::uint64_t, std::string>;
struct Scanned {
  ScanResult result;
  Lines lines;
  std::size_t longest = 0;
};

const ScanLiterals kLiterals{{"TRIGGER", "OTHER-TRIGGER-WORD"}, {"context", "NET/IB : Using"}};

/// Everything is large: windows and Sieve from the first byte on.
ScanLimits large(std::size_t block = std::size_t{80} << 10) {
  return {.sieve_from = 0, .large_from = 1, .window = 256 << 10, .context_lines = 50, .block = block};
}
ScanLimits small(std::uint64_t sieve_from, std::size_t block) {
  return {.sieve_from = sieve_from, .large_from = ~std::uint64_t{0}, .block = block};
}

/// `giant`: a line longer than a block comes in pieces, each with the line's number.
Scanned scan(InputStream& input, const ScanLimits& limits, bool giant = false) {
  Scanned out;
  std::uint64_t before = 0;
  out.result = scan_lines(
      input, kLiterals,
      [&](std::uint64_t line, std::string_view text) {
        EXPECT_GE(line, before) << "out of order";
        EXPECT_EQ(text.find('\n'), std::string_view::npos);
        before = line;
        out.longest = std::max(out.longest, text.size());
        EXPECT_TRUE(out.lines.try_emplace(line, text).second || giant) << "twice: " << line;
      },
      limits);
  return out;
}

/// Of a file, read by offset, and of a stream: the same.
Scanned scan(const std::string& text, const ScanLimits& limits) {
  MemoryStream file(text);
  MemoryStream stream(text);
  stream.by_offset = false;
  Scanned got = scan(file, limits);
  EXPECT_EQ(scan(stream, limits).lines, got.lines);
  return got;
}

/// Numbered lines, so that a delivered line shows whether its number is right.
std::string numbered(std::size_t lines, const std::map<std::size_t, std::string>& special = {}) {
  std::string text;
  for (std::size_t n = 1; n <= lines; ++n) {
    const auto at = special.find(n);
    text += fmt::format("{} {}\n", n, at == special.end() ? "ordinary line of a job that runs well" : at->second);
  }
  return text;
}

void expect_right_numbers(const Lines& lines) {
  for (const auto& [number, text] : lines) EXPECT_TRUE(text.starts_with(fmt::format("{} ", number))) << text;
}

TEST(Scan, EnginesAndBlocksDeliverTheSame) {
  std::mt19937 random(11);
  std::map<std::size_t, std::string> special;
  for (int i = 0; i < 60; ++i) {
    special[3000 + random() % 15000] = i % 3 == 0 ? "a TRIGGER here" : "NET/IB : Using some context, twice context";
  }
  const std::string text = numbered(20000, special);
  const Scanned expected = scan(text, small(~std::uint64_t{0}, 256 << 10));
  expect_right_numbers(expected.lines);
  for (const auto& [number, words] : special) EXPECT_TRUE(expected.lines.contains(number)) << number;
  for (const std::size_t block : {std::size_t{100'000}, std::size_t{256} << 10, std::size_t{1} << 20}) {
    for (const std::uint64_t sieve_from : {std::uint64_t{0}, std::uint64_t{300'000}, ~std::uint64_t{0}}) {
      const Scanned got = scan(text, small(sieve_from, block));
      EXPECT_EQ(got.lines, expected.lines) << block << ' ' << sieve_from;
      EXPECT_EQ(got.result.lines, 20000U);
      EXPECT_EQ(got.result.bytes, text.size());
    }
  }
}

TEST(Scan, HeadTailAndLinesAfterATriggerAreDelivered) {
  const std::string text = numbered(40000, {{20000, "TRIGGER"}});
  for (const ScanLimits& limits : {small(0, 100'000), small(0, 256 << 10), large()}) {
    const Scanned got = scan(text, limits);
    expect_right_numbers(got.lines);
    EXPECT_TRUE(got.lines.contains(1));
    EXPECT_TRUE(got.lines.contains(2900)) << "128 KiB from the start";
    EXPECT_FALSE(got.lines.contains(10000));
    EXPECT_FALSE(got.lines.contains(19999));
    for (std::uint64_t n = 20000; n <= 20012; ++n) EXPECT_TRUE(got.lines.contains(n)) << n;
    EXPECT_FALSE(got.lines.contains(20013));
    EXPECT_TRUE(got.lines.contains(40000 - 1400)) << "64 KiB before the end, though the last block is short";
    EXPECT_TRUE(got.lines.contains(40000));
    EXPECT_EQ(got.result.lines, 40000U);
  }
}

TEST(Scan, LargeFilesGetContextAroundTheFirstTriggerOnly) {
  // Lines of about 40 bytes: a window of 256 KiB is about 6000 lines.
  std::map<std::size_t, std::string> special{{60000, "TRIGGER"}};
  for (const std::size_t n : {5000, 25000, 57000, 63000, 80000, 119000}) special[n] = "context";
  MemoryStream input(numbered(120000, special));
  const Scanned got = scan(input, large());
  expect_right_numbers(got.lines);
  EXPECT_TRUE(got.lines.contains(5000)) << "at the start";
  EXPECT_FALSE(got.lines.contains(25000));
  EXPECT_TRUE(got.lines.contains(57000)) << "before the trigger";
  EXPECT_TRUE(got.lines.contains(63000)) << "after the trigger";
  EXPECT_FALSE(got.lines.contains(80000));
  EXPECT_TRUE(got.lines.contains(119000)) << "near the end";
  EXPECT_EQ(input.seeks, 2);
  EXPECT_EQ(got.result.lines, 120000U);
  EXPECT_TRUE(got.result.problem.empty());
}

TEST(Scan, LargeFilesWithoutTriggerAreReadOnceAndGiveNoContext) {
  MemoryStream input(numbered(60000, {{30000, "context"}}));
  const Scanned got = scan(input, large());
  EXPECT_EQ(input.seeks, 0);
  EXPECT_FALSE(got.lines.contains(30000));
  EXPECT_EQ(got.result.lines, 60000U);
}

TEST(Scan, ANewKindOfTriggerOpensAWindowAgain) {
  const Scanned got = scan(numbered(120000, {{20000, "TRIGGER"},
                                             {70000, "TRIGGER"},
                                             {72000, "context"},
                                             {90000, "OTHER-TRIGGER-WORD"},
                                             {92000, "context"}}),
                           large());
  EXPECT_TRUE(got.lines.contains(70000));
  EXPECT_FALSE(got.lines.contains(72000));
  EXPECT_TRUE(got.lines.contains(92000));
}

TEST(Scan, APipeIsNotReadTwice) {
  MemoryStream input(numbered(60000, {{20000, "context"}, {30000, "TRIGGER"}}));
  input.seekable = false;
  input.chunk = 777;
  const Scanned got = scan(input, large());
  EXPECT_TRUE(got.lines.contains(20000)) << "there is no second look, so everything is looked for at once";
  EXPECT_TRUE(got.lines.contains(30000));
  EXPECT_EQ(got.result.lines, 60000U);
}

TEST(Scan, ContextInEveryLineIsBounded) {
  std::string text;
  for (int n = 1; n <= 60000; ++n) text += fmt::format("{} {}\n", n, n == 30000 ? "TRIGGER" : "context in every line");
  const Scanned got = scan(text, large());
  expect_right_numbers(got.lines);
  EXPECT_TRUE(got.lines.contains(30000));
  // Head and tail are about 6500 lines of 30 bytes; four windows of 50 lines; a trigger and what follows it.
  EXPECT_LT(got.lines.size(), 7500U);
}

TEST(Scan, TriggersInEveryLineAreAllDelivered) {
  std::string text;
  for (int n = 1; n <= 30000; ++n) text += fmt::format("{} TRIGGER\n", n);
  for (const ScanLimits& limits : {small(0, 4096), large()}) EXPECT_EQ(scan(text, limits).lines.size(), 30000U);
}

TEST(Scan, LastLineWithoutNewline) {
  for (const char* last : {"2 TRIGGER", "2 plain"}) {
    for (const ScanLimits& limits : {small(0, 4096), small(~std::uint64_t{0}, 4096), large()}) {
      const Scanned got = scan(fmt::format("1 one\n{}", last), limits);
      EXPECT_EQ(got.lines, (Lines{{1, "1 one"}, {2, last}}));
      EXPECT_EQ(got.result.lines, 2U);
    }
  }
  const std::string text = numbered(30000);
  const Scanned got = scan(text + "30001 TRIGGER", large());
  EXPECT_EQ(got.lines.at(30001), "30001 TRIGGER");
  EXPECT_EQ(got.result.lines, 30001U);
}

TEST(Scan, SmallInputs) {
  EXPECT_TRUE(scan("", small(0, 4096)).lines.empty());
  EXPECT_EQ(scan("", small(0, 4096)).result.lines, 0U);
  EXPECT_EQ(scan("\n", small(0, 4096)).lines, (Lines{{1, ""}}));
  EXPECT_EQ(scan("\n\nx\n", small(0, 4096)).lines, (Lines{{1, ""}, {2, ""}, {3, "x"}}));
}

/// Sizes around the block's: a newline as last byte, first byte, one off.
TEST(Scan, LinesAtBlockBorders) {
  for (std::size_t length = 4090; length <= 4100; ++length) {
    const std::string text = std::string(length, 'a') + "\n" + "2 TRIGGER\n3 end\n";
    const Scanned got = scan(text, small(0, 4096));
    EXPECT_EQ(got.result.lines, 3U) << length;
    EXPECT_EQ(got.lines.at(2), "2 TRIGGER") << length;
    EXPECT_EQ(got.lines.at(3), "3 end") << length;
  }
}

TEST(Scan, AGiantLineIsPassedInPieces) {
  const std::size_t giant = std::size_t{20} << 20;
  MemoryStream input("1 begin\n" + std::string(giant, 'x') + " TRIGGER " + std::string(5000, 'y') + "\n3 TRIGGER\n");
  const ScanLimits limits = large(256 << 10);
  const Scanned got = scan(input, limits, true);
  EXPECT_EQ(got.result.lines, 3U);
  EXPECT_EQ(got.lines.at(3), "3 TRIGGER");
  EXPECT_LE(got.longest, limits.block) << "memory is bounded by the block";
  EXPECT_GE(got.result.cut, giant / limits.block);
  EXPECT_LE(got.result.cut, giant / limits.block + 2) << "a second pass must not count them again";
  EXPECT_EQ(got.result.bytes, giant + 9 + 5000 + 8 + 11);
}

TEST(Scan, AFileThatShrinksSaysSo) {
  MemoryStream input(numbered(20000, {{9000, "TRIGGER"}}));
  input.shrink_to = 400'000;
  const Scanned got = scan(input, large());
  EXPECT_TRUE(got.lines.contains(9000));
  EXPECT_EQ(got.result.bytes, 400'000U);
  EXPECT_NE(got.result.problem.find("shrank while it was read: 400000 of"), std::string::npos) << got.result.problem;
}

TEST(Scan, AFileThatGrowsIsReadToItsNewEnd) {
  const std::string text = numbered(20000, {{9000, "TRIGGER"}});
  MemoryStream input(text);
  input.appended = "20001 appended\n20002 context\n";
  const Scanned got = scan(input, large());
  expect_right_numbers(got.lines);
  EXPECT_EQ(got.result.lines, 20002U);
  EXPECT_TRUE(got.result.problem.empty());
  EXPECT_EQ(got.lines.at(20002), "20002 context");
}

TEST(Scan, AReadErrorKeepsWhatWasRead) {
  MemoryStream input(numbered(20000, {{3500, "TRIGGER"}}));
  input.fail_at = 300'000;
  input.chunk = 10'000;
  const Scanned got = scan(input, large());
  EXPECT_EQ(got.result.problem, "cannot read x: input/output error");
  EXPECT_TRUE(got.lines.contains(3500));
}

TEST(Scan, TellsBinaryAndUtf16ByTheHead) {
  using namespace std::string_literals;
  EXPECT_TRUE(scan("\xff\xfe"s + "a\0b\0"s, small(0, 4096)).result.utf16);
  EXPECT_FALSE(scan("plain\n", small(0, 4096)).result.utf16);
  EXPECT_EQ(scan("a\0\0\0b\n"s, small(0, 4096)).result.nul_bytes, 3U);
}

}  // namespace
}  // namespace pindown::logs
