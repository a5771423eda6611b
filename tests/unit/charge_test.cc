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
