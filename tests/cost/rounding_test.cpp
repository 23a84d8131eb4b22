// SPDX-License-Identifier: Apache-2.0
#include "cost/rounding.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd {
namespace {

using testing::ElementsAre;

constexpr RatedEnergy kOne = 3'600'000'000'000;

TEST(Rounding, PartsAddUpToTheRoundedSum) {
  EXPECT_THAT(costs_of({kOne / 3, kOne / 3, kOne / 3 + 1}), ElementsAre(0, 0, 1));
  EXPECT_THAT(costs_of({kOne / 2, kOne / 2}), ElementsAre(1, 0)) << "of equal remainders the first";
  EXPECT_THAT(costs_of({kOne * 3 / 2, -kOne / 4}), ElementsAre(1, 0)) << "1.25 is 1";
  EXPECT_THAT(costs_of({}), ElementsAre());
  EXPECT_THAT(milligrams_of({kOne * 600, kOne * 600}), ElementsAre(1, 0));
}

TEST(Rounding, OfRandomPartsIsExact) {
  std::mt19937_64 random(7);
  for (int turn = 0; turn < 1000; ++turn) {
    std::vector<RatedEnergy> parts(random() % 20 + 1);
    RatedEnergy sum = 0;
    for (RatedEnergy& part : parts) sum += part = static_cast<RatedEnergy>(random() % (1ULL << 62)) * 1000;
    const auto costs = costs_of(parts);
    std::int64_t total = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      total += costs[i];
      EXPECT_LE(costs[i] - static_cast<std::int64_t>(parts[i] / kOne), 1);
      EXPECT_GE(costs[i] - static_cast<std::int64_t>(parts[i] / kOne), 0);
    }
    EXPECT_EQ(total, cost_of(sum));
  }
}

}  // namespace
}  // namespace keplerd
