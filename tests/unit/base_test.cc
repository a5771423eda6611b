// SPDX-License-Identifier: Apache-2.0
// Sizes, text helpers and errno words.
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "base/errno_name.h"
#include "base/host_name.h"
#include "base/size.h"
#include "base/text.h"

namespace pindown {
namespace {

struct SizeRow {
  const char* text;
  std::uint64_t bytes;
};

TEST(Size, ReadsWhatPeopleWrite) {
  const SizeRow rows[] = {{"0", 0},
                          {"4096", 4096},
                          {"64K", 65536},
                          {"64 KiB", 65536},
                          {"8192kB", 8388608},
                          {"2g", std::uint64_t{2} << 30},
                          {"1.5G", 1610612736},
                          {" 8 MiB ", 8388608},
                          {"unlimited", Limit::kInfinity},
                          {"infinity", Limit::kInfinity},
                          {"-1", Limit::kInfinity},
                          {"10 bytes", 10}};
  for (const SizeRow& row : rows) {
    const auto got = parse_size(row.text);
    ASSERT_TRUE(got.has_value()) << row.text;
    EXPECT_EQ(got->bytes, row.bytes) << row.text;
  }
}

TEST(Size, RefusesTheRestWithAReason) {
  for (const char* text :
       {"", "G", "4X", "4 potatoes", "-2", "1.234G", "1.G", "99999999999999999999", "16E16", "0x10"}) {
    const auto got = parse_size(text);
    EXPECT_FALSE(got.has_value()) << text;
    EXPECT_TRUE(got || !got.error().empty()) << text;
  }
  EXPECT_FALSE(parse_size("17179869184G").has_value()) << "overflows 64 bits";
}

TEST(Size, SaysSizesShortAndNeverRoundsUp) {
  EXPECT_EQ(format_size(56), "56 bytes");
  EXPECT_EQ(format_size(65536), "64 KiB");
  EXPECT_EQ(format_size(8388608), "8 MiB");
  EXPECT_EQ(format_size(4823449), "4.5 MiB");
  EXPECT_EQ(format_size(8388607), "7.9 MiB") << "a rounded 8 MiB would hide why it was refused";
  EXPECT_EQ(format_limit(Limit::unlimited()), "unlimited");
}

TEST(Size, LimitRoundsDownRequestRoundsUp) {
  EXPECT_EQ(Limit{4095}.pages(), 0U);
  EXPECT_EQ(Limit{10000}.pages(), 2U);
  EXPECT_EQ(pages_at_least(1), 1U);
  EXPECT_EQ(pages_at_least(8192), 2U);
  EXPECT_TRUE(Limit::of_kib(std::uint64_t{1} << 54).is_unlimited()) << "what a shell makes of unlimited";
}

TEST(Text, EscapeKeepsTheTerminalSafe) {
  EXPECT_EQ(escape("plain"), "plain");
  EXPECT_EQ(escape("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(escape("a\tb\nc"), "a b\\x0ac");
  EXPECT_EQ(escape(std::string_view("nul\0x", 5)), "nul\\x00x");
  EXPECT_EQ(escape("caf\xc3\xa9"), "caf\xc3\xa9");
  EXPECT_EQ(escape("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(escape("\xc3"), "\\xc3") << "a cut sequence";
  EXPECT_EQ(escape("\xe2\x80\xae"
                   "txt"),
            "\\u{202e}txt")
      << "right-to-left override";
  EXPECT_EQ(escape("\xc2\x9b"
                   "31m"),
            "\\u{9b}31m")
      << "C1 control sequence introducer";
  EXPECT_EQ(escape("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate is not UTF-8";
  EXPECT_EQ(escape("abcdef", 3), "abc...");
}

TEST(Text, ShortenCountsColumnsNotBytes) {
  EXPECT_EQ(shorten("abcdef", 6), "abcdef");
  EXPECT_EQ(shorten("abcdefg", 6), "abcde…");
  EXPECT_EQ(shorten("ééééééé", 6), "ééééé…");
  EXPECT_EQ(shorten("abcdefg", 6, false), "abc...");
}

TEST(Text, NumbersAreWholeOrNothing) {
  EXPECT_EQ(parse_u64("12"), 12U);
  EXPECT_FALSE(parse_u64("12x"));
  EXPECT_FALSE(parse_u64("+1"));
  EXPECT_FALSE(parse_u64(""));
  EXPECT_FALSE(parse_u64("18446744073709551616"));
  EXPECT_EQ(parse_hex("0xff"), 255U);
  EXPECT_EQ(parse_hex("ff"), 255U);
  EXPECT_FALSE(parse_hex("0x"));
}

TEST(Errno, FromWords) {
  struct Row {
    const char* text;
    int number;
  };
  const Row rows[] = {{"Cannot allocate memory", ENOMEM},
                      {"cannot allocate memory.", ENOMEM},
                      {"Bad address", EFAULT},
                      {"Invalid argument errno 22", EINVAL},
                      {"No such device or address", ENXIO},
                      {"No such device", ENODEV},
                      {"Unknown error 524", 524},
                      {"Unknown error -12", ENOMEM},
                      {"ENOTSUP", EOPNOTSUPP},
                      {"ENOMEM (out of memory)", ENOMEM},
                      {"无法分配内存", ENOMEM},
                      {"Nicht genügend Hauptspeicher verfügbar", ENOMEM},
                      {"メモリを確保できません", ENOMEM},
                      {"Mauvaise adresse", EFAULT}};
  for (const Row& row : rows) EXPECT_EQ(errno_from_text(row.text), row.number) << row.text;
  for (const char* text : {"", "Success", "something else", "Unknown error x"})
    EXPECT_FALSE(errno_from_text(text)) << text;
}

TEST(Errno, Names) {
  EXPECT_EQ(errno_name(12), "ENOMEM");
  EXPECT_EQ(errno_name(524), "ENOTSUPP");
  EXPECT_EQ(errno_name(999), "");
}

TEST(HostName, SameHostHoweverItIsWritten) {
  struct Row {
    const char* a;
    const char* b;
    bool same;
  };
  const Row rows[] = {
      {"node2", "node2", true},
      {"node2", "NODE2.cluster.example", true},
      {"node2", "node20", false},
      {"node2", "node2x.cluster", false},
      {"10.0.0.1", "10.0.0.1", true},
      {"10.0.0", "10.0.0.1", false},
      {"10.0.0.1", "10.0.1.1", false},
      {"node[01-04]", "node03", true},
      {"node[01-04]", "node03.cluster", true},
      {"node[01-04]", "node3", false},
      {"node[01-04]", "node05", false},
      {"node[1-12]", "node12", true},
      {"node[1-12]", "node012", false},
      {"node[01-02,07],login1", "node07", true},
      {"node[01-02,07],login1", "login1", true},
      {"node[01-02,07],login1", "node03", false},
      {"rack[1-2]node[01-16]", "rack2node16", true},
      {"rack[1-2]node[01-16]", "rack3node16", false},
      {"node[01-04]-ib", "node02-ib", true},
      {"node[01-04", "node01", false},
      {"node[", "node1", false},
      {"node[1-99999999999999999999]", "node5", false},
      {"node[]", "node", false},
      {"?", "?", false},
      {"?", "node1", false},
      {"n[1-2][0-9]", "n17", true},
      {"n[1-2][0-9]", "n37", false},
      {"node[1-9999999999]", "node1234567890", false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(same_host(row.a, row.b), row.same) << row.a << ' ' << row.b;
    EXPECT_EQ(same_host(row.b, row.a), row.same) << row.b << ' ' << row.a;
  }
}

TEST(HostName, NodeSetsAreClosedAndPlain) {
  for (const char* set : {"node1", "node[01-04]", "a[1-2]b[3,5]", "node1,node2", "gpu-7.example.org"}) {
    EXPECT_TRUE(is_node_set(set)) << set;
  }
  for (const char* text : {"", "12", "node[1", "node]1[", "two words", "a[[1]]", "#", "-node1", "x=1"}) {
    EXPECT_FALSE(is_node_set(text)) << text;
  }
}

TEST(HostName, AHostileSetCostsLittle) {
  std::string set = "a";
  for (int bracket = 0; bracket < 4; ++bracket) {
    set += "[0-0";
    while (set.size() < 250U * static_cast<unsigned>(bracket + 1)) set += ",0-0";
    set += "]";
  }
  const std::string name = "a" + std::string(200, '1');
  for (int i = 0; i < 10'000; ++i) EXPECT_FALSE(same_host(set, name));
}

}  // namespace
}  // namespace pindown
