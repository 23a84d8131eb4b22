// SPDX-License-Identifier: Apache-2.0
#include "attribution/platform/rest_power.h"

#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;

void add_watts(RestPower& rest, int seconds, double parts, double platform) {
  for (int i = 0; i < seconds; ++i)
    rest.add(1s, {static_cast<std::int64_t>(parts * 1e6)}, {static_cast<std::int64_t>(platform * 1e6)});
}

TEST(RestPower, KnowsNoErrorInTheFirstMinute) {
  RestPower rest;
  add_watts(rest, 59, 100, 150);
  EXPECT_EQ(rest.error(), std::nullopt);
  add_watts(rest, 30, 100, 150);
  ASSERT_TRUE(rest.error());
  EXPECT_NEAR(static_cast<double>(rest.error()->value) / 1e6, 1.96 * 0.03 * 180.3, 0.2);
}

TEST(RestPower, IncludesTheScatterInItsError) {
  RestPower rest;
  for (int i = 0; i < 600; ++i) add_watts(rest, 1, 100, i % 2 == 0 ? 110 : 190);
  EXPECT_GT(*rest.error(), Microwatts{50'000'000});
}

TEST(RestPower, TakesNoisyNegativeWindowsForNoise) {
  RestPower rest;
  for (int i = 0; i < 3600; ++i) {
    add_watts(rest, 1, 100, i % 3 == 0 ? 60 : 130);  // every third is far below
    EXPECT_EQ(rest.contradiction(), std::nullopt) << i;
  }
}

TEST(RestPower, ObjectsToAPlatformBelowItsPartsForMinutes) {
  RestPower rest;
  add_watts(rest, 240, 100, 80);
  EXPECT_EQ(rest.contradiction(), std::nullopt) << "not yet";
  add_watts(rest, 360, 100, 80);
  EXPECT_EQ(rest.contradiction(), (RestPower::Contradiction{{100'000'000}, {80'000'000}}));
  add_watts(rest, 1800, 100, 140);
  EXPECT_EQ(rest.contradiction(), std::nullopt) << "it is over";
}

TEST(RestPower, AllowsForTheErrorsOfMeters) {
  RestPower rest;
  add_watts(rest, 3600, 100, 93);
  EXPECT_EQ(rest.contradiction(), std::nullopt);
}

}  // namespace
}  // namespace keplerd
