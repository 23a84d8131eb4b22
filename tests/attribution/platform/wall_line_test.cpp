// SPDX-License-Identifier: Apache-2.0
#include "attribution/platform/wall_line.h"

#include <cmath>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;

Microjoules joules(double value) { return {std::llround(value * 1e6)}; }

// Ten seconds at these powers.
void observe(WallLine& line, double parts, double platform, int times = 1) {
  for (int i = 0; i < times * 10; ++i) line.add(1s, joules(parts), joules(platform));
}

void observe_line(WallLine& line, double slope, double offset) {
  for (int i = 0; i < 60; ++i) {
    const double parts = 40 + i % 7 * 20, noise = i % 2 == 0 ? 1 : -1;
    observe(line, parts, offset + slope * parts + noise);
  }
}

TEST(WallLine, FindsSlopeAndOffset) {
  WallLine line;
  observe_line(line, 1.25, 60);
  ASSERT_TRUE(line.fit());
  EXPECT_NEAR(line.fit()->slope, 1.25, 0.01);
  EXPECT_NEAR(static_cast<double>(line.fit()->offset.value) / 1e6, 60, 1);
  EXPECT_NEAR(line.fit()->error_percent, 100 * 1.0 / 185, 0.1);
  EXPECT_EQ(line.fit()->samples, 60U);
  EXPECT_NEAR(static_cast<double>(line.fit()->power({100'000'000}).value) / 1e6, 185, 1);
}

TEST(WallLine, HasNoFitForAConstantLoad) {
  WallLine line;
  observe(line, 100, 180, 1000);
  EXPECT_EQ(line.fit(), std::nullopt);
  for (int i = 0; i < 1000; ++i) observe(line, 100 + i % 2, 180 + i % 3);
  EXPECT_EQ(line.fit(), std::nullopt) << "nor for noise";
}

TEST(WallLine, HasNoFitForTheFirstMinutes) {
  WallLine line;
  for (int i = 0; i < 29; ++i) observe(line, 50 + 50 * (i % 2), 130 + 60 * (i % 2));
  EXPECT_EQ(line.fit(), std::nullopt);
  observe(line, 50, 130);
  EXPECT_TRUE(line.fit());
}

TEST(WallLine, IsKeptThroughHoursOfConstantLoad) {
  WallLine line;
  observe_line(line, 1.2, 50);
  observe(line, 80, 50 + 1.2 * 80, 5000);
  ASSERT_TRUE(line.fit());
  EXPECT_NEAR(line.fit()->slope, 1.2, 0.02);
}

TEST(WallLine, FollowsAHostThatChanges) {
  WallLine line;
  observe_line(line, 1.2, 50);
  for (int i = 0; i < 20; ++i) observe_line(line, 1.4, 90);
  ASSERT_TRUE(line.fit());
  EXPECT_NEAR(line.fit()->slope, 1.4, 0.02);
  EXPECT_NEAR(static_cast<double>(line.fit()->offset.value) / 1e6, 90, 2);
}

TEST(WallLine, HasNoFitWithAnImplausibleSlope) {
  WallLine line;
  for (int i = 0; i < 60; ++i) observe(line, 40 + i % 7 * 20, 400 - i % 7 * 20);
  EXPECT_EQ(line.fit(), std::nullopt) << "it falls";
  WallLine steep;
  observe_line(steep, 8, 0);
  EXPECT_EQ(steep.fit(), std::nullopt);
}

TEST(WallLine, HasNoFitWhereTheSlopeIsUncertain) {
  WallLine line;
  for (int i = 0; i < 60; ++i) observe(line, 100 + i % 5 * 5, 200 + i % 5 * 6 + i * 37 % 100);
  EXPECT_EQ(line.fit(), std::nullopt);
}

TEST(WallLine, AbandonsAnObservationThatIsInterrupted) {
  WallLine line;
  line.add(9s, joules(9'000), joules(1));
  line.interrupt();
  observe_line(line, 1.2, 50);
  ASSERT_TRUE(line.fit());
  EXPECT_NEAR(line.fit()->slope, 1.2, 0.01);
}

TEST(WallLine, ContinuesFromItsMemory) {
  WallLine line, other;
  observe_line(line, 1.25, 60);
  other.restore(line.memory());
  EXPECT_EQ(other.fit(), line.fit());
}

}  // namespace
}  // namespace keplerd
