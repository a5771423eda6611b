// SPDX-License-Identifier: Apache-2.0
// logs/literals and logs/sieve against the plainest search there is.
#include "logs/literals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "logs/blocks.h"
#include "logs/reader.h"
#include "logs/sieve.h"

namespace pindown::logs {
namespace {

using Hits = std::vector<std::pair<std::size_t, std::uint32_t>>;

Hits plain(const std::vector<std::string_view>& literals, std::string_view text) {
  Hits hits;
  for (std::uint32_t id = 0; id < literals.size(); ++id) {
    for (auto at = text.find(literals[id]); at != std::string_view::npos; at = text.find(literals[id], at + 1)) {
      hits.emplace_back(at, id);
    }
  }
  std::ranges::sort(hits);
  return hits;
}

Hits by_set(const std::vector<std::string_view>& literals, std::string_view text) {
  Hits hits;
  LiteralSet(literals).find(text, [&hits](std::uint32_t id, std::size_t at) {
    hits.emplace_back(at, id);
    return true;
  });
  EXPECT_TRUE(std::ranges::is_sorted(hits, {}, &Hits::value_type::first));
  std::ranges::sort(hits);
  return hits;
}

/// By each kind of instructions that this processor has: all of them find the same.
Hits by_sieve(const std::vector<std::string_view>& literals, std::string_view text) {
  const Sieve sieve(literals);
  Hits first;
  sieve.find(text, first, Sieve::Width::kOne);
  std::ranges::sort(first);
  for (const Sieve::Width width : {Sieve::Width::kAvx2, Sieve::Width::kAvx512}) {
    if (width > Sieve::widest()) continue;
    Hits hits;
    sieve.find(text, hits, width);
    std::ranges::sort(hits);
    EXPECT_EQ(hits, first) << "width " << static_cast<int>(width);
  }
  return first;
}

struct Row {
  const char* name;
  std::vector<std::string_view> literals;
  std::string text;
};

std::vector<Row> rows() {
  using namespace std::string_literals;
  using namespace std::string_view_literals;
  return {
      {"no literal", {}, "anything at all, longer than one step of thirty-two bytes"},
      {"empty text", {"abcd"}, ""},
      {"text shorter than a literal", {"abcdef"}, "abcde"},
      {"the whole text", {"abcd"}, "abcd"},
      {"at both ends", {"abcd"}, "abcd----------------------------------------------abcd"},
      {"overlapping itself", {"aaaa"}, std::string(100, 'a')},
      {"one inside the other", {"ibv_", "Call to ibv_", "ibv_reg_mr", "reg_"}, "WARN Call to ibv_reg_mr_iova2 failed"},
      {"same first bytes", {"failed", "failure", "fail: ", "fail"}, "fail failed failure fail: fai"},
      {"the same literal twice", {"abcd", "abcd"}, "xxabcdxx"},
      {"NUL and high bytes", {"a\0b\xff"sv, "\0\0\0\x80"sv}, "x\0\0\0\x80 a\0b\xff"s},
      {"cut off at the end", {"memory registration failed"}, std::string(64, '.') + "memory registration faile"},
  };
}

TEST(Literals, FindWhatPlainSearchFinds) {
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(by_set(row.literals, row.text), plain(row.literals, row.text));
    EXPECT_EQ(by_sieve(row.literals, row.text), plain(row.literals, row.text));
  }
}

/// Text made of pieces of the literals themselves, so that near misses abound, at every alignment.
TEST(Literals, FindWhatPlainSearchFindsInNoise) {
  std::size_t triggers = 0;
  const std::vector<std::string_view>& literals = event_literals(triggers);
  ASSERT_GT(literals.size(), 100U);
  std::mt19937 random(7);
  std::size_t found = 0;
  for (int round = 0; round < 100; ++round) {
    std::string text;
    while (text.size() < 700 + random() % 64) {
      const std::string_view literal = literals[random() % literals.size()];
      const std::size_t from = random() % 3 == 0 ? random() % literal.size() : 0;
      text += literal.substr(from, random() % 2 == 0 ? literal.size() : random() % literal.size() + 1);
      if (random() % 4 == 0) text += static_cast<char>(random());
    }
    const Hits expected = plain(literals, text);
    found += expected.size();
    ASSERT_EQ(by_set(literals, text), expected) << text;
    ASSERT_EQ(by_sieve(literals, text), expected) << text;
  }
  EXPECT_GT(found, 1000U);
}

TEST(Literals, SetStopsWhenToldTo) {
  int calls = 0;
  LiteralSet({"abcd"}).find("abcd abcd abcd", [&calls](std::uint32_t, std::size_t) { return ++calls < 2; });
  EXPECT_EQ(calls, 2);
}

TEST(Literals, SieveReadsNothingOutsideTheText) {
  // The exact size, on the heap, so that AddressSanitizer would see a byte too many.
  for (std::size_t size = 0; size < 130; ++size) {
    const auto text = std::make_unique<char[]>(size);
    std::fill_n(text.get(), size, 'a');
    EXPECT_EQ(by_sieve({"aaaaaaaa"}, {text.get(), size}).size(), size < 8 ? 0 : size - 7);
  }
}

TEST(Literals, NewlinesAreCountedInAnySize) {
  std::mt19937 random(3);
  for (const std::size_t size : {0, 1, 31, 32, 33, 255, 8159, 8160, 8161, 8192, 100'000}) {
    std::string text(size, 'x');
    for (char& c : text) c = random() % 3 == 0 ? '\n' : static_cast<char>(random());
    EXPECT_EQ(count_newlines(text), static_cast<std::uint64_t>(std::ranges::count(text, '\n'))) << size;
  }
  EXPECT_EQ(count_newlines(std::string(100'000, '\n')), 100'000U);
}

}  // namespace
}  // namespace pindown::logs
