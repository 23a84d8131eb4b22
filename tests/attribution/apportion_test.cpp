// SPDX-License-Identifier: Apache-2.0
#include "attribution/apportion.h"

#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

std::vector<std::int64_t> shares_of(std::int64_t amount, const std::vector<std::int64_t>& weights) {
  std::vector<Microjoules> shares(weights.size(), Microjoules{-1});
  Apportioner().apportion({amount}, weights, shares);
  std::vector<std::int64_t> values;
  for (const Microjoules share : shares) values.push_back(share.value);
  return values;
}

using Values = std::vector<std::int64_t>;

TEST(Apportion, WholeSharesAreExact) { EXPECT_EQ(shares_of(100, {1, 2, 3, 4}), (Values{10, 20, 30, 40})); }

TEST(Apportion, RemainderGoesToTheLargestFraction) {
  // 10 x 1/7 = 1.43, 10 x 2/7 = 2.86, 10 x 4/7 = 5.71
  EXPECT_EQ(shares_of(10, {1, 2, 4}), (Values{1, 3, 6}));
}

TEST(Apportion, FirstAmongEqualsGetsTheRemainder) {
  EXPECT_EQ(shares_of(10, {1, 1, 1}), (Values{4, 3, 3}));
  EXPECT_EQ(shares_of(2, {5, 5, 5}), (Values{1, 1, 0}));
  EXPECT_EQ(shares_of(11, {0, 7, 0, 7, 7}), (Values{0, 4, 0, 4, 3}));
}

TEST(Apportion, NoWeightNoShare) { EXPECT_EQ(shares_of(7, {0, 3, 0, 0}), (Values{0, 7, 0, 0})); }

TEST(Apportion, NothingIsSharedAsNothing) { EXPECT_EQ(shares_of(0, {5, 0, 1}), (Values{0, 0, 0})); }

TEST(Apportion, LessThanAMicrojouleEachStillAddsUp) {
  EXPECT_EQ(shares_of(3, {10, 30, 20, 40}), (Values{0, 1, 1, 1}));
}

TEST(Apportion, LargestNumbersDoNotOverflow) {
  const std::int64_t most = INT64_MAX;
  EXPECT_EQ(shares_of(most, {most, most}), (Values{most / 2 + 1, most / 2}));
  EXPECT_EQ(shares_of(most, {most, 1}), (Values{most - 1, 1}));
}

// The sum is exact, each share within 1 uJ of its exact value, and a larger weight never gets less.
TEST(Apportion, HoldsForAnyWeights) {
  std::mt19937_64 random(20260801);
  Apportioner apportioner;
  for (int round = 0; round < 3000; ++round) {
    const std::size_t count = 1 + random() % 40;
    const std::int64_t largest = std::int64_t{1} << (random() % 50);
    const Microjoules amount{static_cast<std::int64_t>(random() % (std::uint64_t{1} << (1 + random() % 45)))};
    std::vector<std::int64_t> weights;
    __int128 total = 0;
    for (std::size_t i = 0; i < count; ++i) {
      weights.push_back(random() % 3 == 0 ? 0 : static_cast<std::int64_t>(random()) % (largest + 1));
      if (weights.back() < 0) weights.back() = -weights.back();
      total += weights.back();
    }
    if (total == 0) continue;
    std::vector<Microjoules> shares(count);
    apportioner.apportion(amount, weights, shares);

    Microjoules sum;
    for (std::size_t i = 0; i < count; ++i) {
      sum += shares[i];
      const __int128 off =
          static_cast<__int128>(shares[i].value) * total - static_cast<__int128>(amount.value) * weights[i];
      ASSERT_LT(off < 0 ? -off : off, total) << "round " << round << ", share " << i;
      for (std::size_t j = 0; j < i; ++j) {
        if (weights[i] > weights[j]) {
          ASSERT_GE(shares[i], shares[j]);
        }
        if (weights[j] > weights[i]) {
          ASSERT_GE(shares[j], shares[i]);
        }
      }
    }
    ASSERT_EQ(sum, amount) << "round " << round;
  }
}

}  // namespace
}  // namespace keplerd
