// SPDX-License-Identifier: Apache-2.0
#include "cli/suggest.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace pindown::cli {
namespace {

TEST(NearestWord, FindsWhatWasMeantAndNothingElse) {
  static constexpr std::array<std::string_view, 4> kWords = {"check", "explain", "list", "memlock-too-low"};
  struct {
    std::string_view typed, meant;
  } const table[] = {
      {"exlpain", "explain"},
      {"chek", "check"},
      {"CHECK", "check"},
      {"lst", "list"},
      {"list", "list"},
      {"memlock-to-low", "memlock-too-low"},
      {"train", ""},
      {"", ""},
      {"x", ""},
      {"listing-of-files", ""},
  };
  for (const auto& row : table) EXPECT_EQ(nearest_word(row.typed, kWords), row.meant) << row.typed;
}

TEST(NearestWord, IsBounded) {
  static constexpr std::array<std::string_view, 1> kWords = {"check"};
  EXPECT_EQ(nearest_word(std::string(1000000, 'c'), kWords), "");
  EXPECT_EQ(nearest_word(std::string(64, 'c'), kWords), "");
}

}  // namespace
}  // namespace pindown::cli
