// SPDX-License-Identifier: Apache-2.0
// The kernel's limit check: rows follow what a real guest answered over soft-RoCE, and the proof rules.
#include <gtest/gtest.h>

#include <cerrno>

#include "model/charge.h"

namespace pindown {
namespace {

constexpr std::uint64_t kKib = 1024;
constexpr std::uint64_t kMib = 1024 * 1024;
using Answer = ChargeResult::Answer;

ChargeInput plain(std::uint64_t soft, std::uint64_t request) {
  ChargeInput in;
  in.soft = Limit{soft};
  in.request = request;
  in.cap_effective = false;
  return in;
}

TEST(Charge, ObservedOverRxe) {
  struct Row {
    std::uint64_t soft, request;
    Answer answer;
    int error;
  };
  // A request that fits may still be refused for what is pinned already: only VmPin at that moment tells.
  const Row rows[] = {{64 * kKib, 64 * kKib, Answer::kUnknown, 0},  {64 * kKib, 68 * kKib, Answer::kRefused, ENOMEM},
                      {8 * kMib, 8192 * kKib, Answer::kUnknown, 0}, {8 * kMib, 8196 * kKib, Answer::kRefused, ENOMEM},
                      {0, 4096, Answer::kRefused, EPERM},           {4095, 4096, Answer::kRefused, ENOMEM},
                      {10000, 8193, Answer::kRefused, ENOMEM}};
  for (const Row& row : rows) {
    const ChargeResult got = charge(plain(row.soft, row.request));
    EXPECT_EQ(got.answer, row.answer) << row.soft << ' ' << row.request;
    EXPECT_EQ(got.error, row.error) << row.soft << ' ' << row.request;
    EXPECT_EQ(got.proof, row.answer == Answer::kRefused) << row.soft << ' ' << row.request;
  }
}

TEST(Charge, PinnedCountsOnlyAsProofAtTheMoment) {
  ChargeInput in = plain(8 * kMib, 2 * kMib);
  in.pinned = 8 * kMib;
  EXPECT_EQ(charge(in).answer, Answer::kRefused);
  EXPECT_FALSE(charge(in).proof);
  in.pinned_at_failure = true;
  EXPECT_TRUE(charge(in).proof);
  in.pinned = 4 * kMib;
  EXPECT_EQ(charge(in).answer, Answer::kAllowed);
}

TEST(Charge, CapabilityCountsInTheFirstUserNamespaceOnly) {
  ChargeInput in = plain(64 * kKib, kMib);
  in.cap_effective = true;
  in.initial_userns = true;
  EXPECT_EQ(charge(in).answer, Answer::kAllowed);
  in.initial_userns = false;
  EXPECT_EQ(charge(in).answer, Answer::kRefused);
  in.initial_userns.reset();
  EXPECT_EQ(charge(in).answer, Answer::kUnknown) << "an unknown namespace is not a no";
  in.initial_userns = true;
  in.siw_before_6_8 = true;
  EXPECT_EQ(charge(in).answer, Answer::kRefused) << "siw up to 6.7 never asks for the capability";
}

TEST(Charge, UnchargedPaths) {
  ChargeInput in = plain(64 * kKib, kMib);
  in.path = Path::kDmabuf;
  EXPECT_EQ(charge(in).answer, Answer::kAllowed);
  in.path = Path::kOdp;
  EXPECT_EQ(charge(in).answer, Answer::kAllowed);
  in.path = Path::kPeerMemory;
  EXPECT_EQ(charge(in).answer, Answer::kRefused) << "peer memory is charged";
}

// As 2 guests answered (6.1 and 6.12, tests/agree/charge.py): whichever comes first of what is wrong.
TEST(Charge, OrderOfErrors) {
  ChargeInput in = plain(0, kMib);
  in.invalid = true;
  in.unreachable = true;
  EXPECT_EQ(charge(in).error, EINVAL) << "before the limit, even of 0";
  EXPECT_FALSE(charge(in).proof) << "nothing of the limit";
  in.invalid = false;
  EXPECT_EQ(charge(in).error, EPERM);
  in.soft = Limit{64 * kKib};
  EXPECT_EQ(charge(in).error, ENOMEM) << "before the memory is looked at";
  in.soft = Limit::unlimited();
  EXPECT_EQ(charge(in).error, EFAULT);
  EXPECT_EQ(charge(in).answer, Answer::kRefused);
}

TEST(Charge, NoPagesAndTooMany) {
  ChargeInput in = plain(64 * kKib, 0);
  EXPECT_EQ(charge(in).error, EINVAL);
  in.request = std::uint64_t{1} << 44;
  EXPECT_EQ(charge(in).error, EINVAL) << "2^32 pages: before the limit is compared";
  in.request = (std::uint64_t{1} << 44) - 4096;
  EXPECT_EQ(charge(in).error, ENOMEM);
  in.soft = Limit{0};
  in.request = 0;
  EXPECT_EQ(charge(in).error, EPERM) << "a limit of 0 is asked about before the pages are counted";
}

TEST(Charge, PagesOfAnAddress) {
  EXPECT_EQ(spanned(4096, 4096), 4096U);
  EXPECT_EQ(spanned(4095, 2), 8192U);
  EXPECT_EQ(spanned(4096, 0), 0U);
  EXPECT_EQ(spanned(1, 0), 4096U) << "no bytes within a page are a page";
  EXPECT_FALSE(wraps(0ULL - 8192, 4096));
  EXPECT_TRUE(wraps(0ULL - 8192, 8192)) << "the end is 0";
  EXPECT_TRUE(wraps(0ULL - 8192, 4097)) << "rounded up to a page";
  EXPECT_TRUE(wraps(1, ~0ULL));
}

TEST(Charge, SaysWhatItDoesNotKnow) {
  EXPECT_EQ(charge({}).answer, Answer::kUnknown);
  ChargeInput in = plain(8 * kMib, kMib);
  in.request.reset();
  EXPECT_EQ(charge(in).answer, Answer::kUnknown);
  in.soft = Limit::unlimited();
  EXPECT_EQ(charge(in).answer, Answer::kAllowed);
}

}  // namespace
}  // namespace pindown
