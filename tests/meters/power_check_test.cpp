// SPDX-License-Identifier: Apache-2.0
#include "meters/power_check.h"

#include <gtest/gtest.h>

namespace keplerd::meters {
namespace {

constexpr std::int64_t kWatt = 1'000'000;

TEST(PowerCheck, AHostDrawsBetweenOneWattAndAHundredKilowatts) {
  EXPECT_TRUE(PowerCheck().check({kWatt}));
  EXPECT_TRUE(PowerCheck().check({100'000 * kWatt}));
  EXPECT_FALSE(PowerCheck().check({kWatt - 1}));
  EXPECT_FALSE(PowerCheck().check({0}));
  EXPECT_FALSE(PowerCheck().check({100'000 * kWatt + 1}));
}

TEST(PowerCheck, AnotherUnitIsRefusedUntilItIsTheOldOneAgain) {
  PowerCheck check;
  EXPECT_TRUE(check.check({50 * kWatt}));
  EXPECT_TRUE(check.check({900 * kWatt})) << "a load";
  EXPECT_TRUE(check.check({50 * kWatt}));
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(check.check({50'000 * kWatt}));
  EXPECT_TRUE(check.check({51 * kWatt}));
}

}  // namespace
}  // namespace keplerd::meters
