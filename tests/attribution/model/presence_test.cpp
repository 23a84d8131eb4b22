// SPDX-License-Identifier: Apache-2.0
#include "attribution/model/presence.h"

#include <cmath>
#include <cstddef>
#include <numeric>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

std::vector<double> shares(const std::vector<double>& use) {
  std::vector<double> result;
  share_presence(use, result);
  return result;
}

// All combinations of who is awake.
std::vector<double> by_hand(const std::vector<double>& use) {
  std::vector<double> result(use.size());
  double any = 0;
  for (std::size_t awake = 1; awake < std::size_t{1} << use.size(); ++awake) {
    double chance = 1, count = 0;
    for (std::size_t g = 0; g < use.size(); ++g) {
      const bool is_awake = (awake >> g & 1) != 0;
      chance *= is_awake ? presence(use[g]) : 1 - presence(use[g]);
      count += is_awake ? 1 : 0;
    }
    any += chance;
    for (std::size_t g = 0; g < use.size(); ++g)
      if ((awake >> g & 1) != 0) result[g] += chance / count;
  }
  for (double& share : result) share /= any;
  return result;
}

TEST(Presence, IsBetweenThatOfManyThreadsAndThatOfFew) {
  EXPECT_EQ(presence(0), 0);
  EXPECT_DOUBLE_EQ(presence(0.25), (1 - std::exp(-0.25) + 0.25) / 2);
  EXPECT_DOUBLE_EQ(presence(2), (1 - std::exp(-2) + 1) / 2);
}

TEST(Presence, WhoIsAloneHasAll) {
  EXPECT_EQ(shares({0, 0.1, 0}), (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(shares({}), std::vector<double>{});
  EXPECT_EQ(shares({0, 0}), (std::vector<double>{0, 0}));
}

TEST(Presence, TwoShareTheInstantsInWhichBothAreAwake) {
  const double p = presence(1), q = presence(0.25);
  const std::vector<double> found = shares({1, 0.25});
  EXPECT_NEAR(found[0], p * (1 - q / 2) / (p + q - p * q), 1e-12);
  EXPECT_NEAR(found[1], q * (1 - p / 2) / (p + q - p * q), 1e-12);
}

TEST(Presence, IsExactForEightWorkloads) {
  const std::vector<double> use{3, 1.6, 1.6, 0.9, 0.4, 0.02, 0.01, 0.3};
  const std::vector<double> found = shares(use), expected = by_hand(use);
  for (std::size_t g = 0; g < use.size(); ++g) EXPECT_NEAR(found[g], expected[g], 1e-12) << g;
}

TEST(Presence, IsNearlyExactForMoreWorkloads) {
  std::vector<double> use(16, 0.5);
  use[0] = 0.01;
  use[1] = 4;
  const std::vector<double> found = shares(use), expected = by_hand(use);
  for (std::size_t g = 0; g < use.size(); ++g) EXPECT_NEAR(found[g], expected[g], 0.01 * expected[g]) << g;
}

TEST(Presence, TheSharesOfThousandsSumToOne) {
  std::vector<double> use(5000, 0.2);
  use[0] = 1e-9;
  const std::vector<double> found = shares(use);
  EXPECT_NEAR(std::accumulate(found.begin(), found.end(), 0.0), 1, 1e-9);
  EXPECT_GT(found[0], 0);
  EXPECT_LT(found[0], 1e-8 * found[1]);
}

}  // namespace
}  // namespace keplerd
