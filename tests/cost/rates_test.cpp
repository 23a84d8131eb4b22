// SPDX-License-Identifier: Apache-2.0
#include "cost/rates.h"

#include <limits>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr Microjoules kKilowattHour{3'600'000'000'000};

TEST(Cost, OfAKilowattHourIsItsPrice) {
  EXPECT_EQ(cost_of(kKilowattHour, {320'000}), MicroCurrency{320'000});
  EXPECT_EQ(cost_of({0}, {320'000}), MicroCurrency{0});
  EXPECT_EQ(cost_of(kKilowattHour, {0}), MicroCurrency{0});
}

TEST(Cost, IsRoundedHalfUp) {
  // At 1 a kWh, a millionth is the price of 3.6 J.
  EXPECT_EQ(cost_of({1'799'999}, {1'000'000}), MicroCurrency{0});
  EXPECT_EQ(cost_of({1'800'000}, {1'000'000}), MicroCurrency{1});
  EXPECT_EQ(cost_of({5'399'999}, {1'000'000}), MicroCurrency{1});
  EXPECT_EQ(cost_of({5'400'000}, {1'000'000}), MicroCurrency{2});
}

TEST(Cost, OfAllEnergyAtTheHighestPriceIsExact) {
  // 2^63 - 1 uJ at 1000000 a kWh: (2^63 - 1) / 3.6.
  EXPECT_EQ(cost_of({kLargest}, {1'000'000'000'000}), MicroCurrency{2'562'047'788'015'215'502});
}

TEST(Cost, ThatDoesNotFitIsTheLargest) {
  EXPECT_EQ(cost_of({kLargest}, {kLargest}), MicroCurrency{kLargest});
}

TEST(Carbon, OfAKilowattHourIsItsIntensity) {
  EXPECT_EQ(carbon_of(kKilowattHour, {380'500'000}), Milligrams{380'500});  // 380.5 g
}

TEST(Carbon, IsRoundedHalfUp) {
  // At 1 g a kWh, a milligram is that of 3.6 kJ.
  EXPECT_EQ(carbon_of({1'799'999'999}, {1'000'000}), Milligrams{0});
  EXPECT_EQ(carbon_of({1'800'000'000}, {1'000'000}), Milligrams{1});
}

TEST(Carbon, OfAllEnergyAtTheHighestIntensityIsExact) {
  EXPECT_EQ(carbon_of({kLargest}, {1'000'000'000'000}), Milligrams{2'562'047'788'015'216});
}

}  // namespace
}  // namespace keplerd
