// SPDX-License-Identifier: Apache-2.0
#include "attribution/split.h"

#include <random>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

CpuTicks ticks(std::int64_t busy, std::int64_t idle) { return {.busy = busy, .idle = idle}; }

void expect_ratio(UsageRatio ratio, std::int64_t busy, std::int64_t total) {
  EXPECT_EQ(ratio.busy, busy);
  EXPECT_EQ(ratio.total, total);
}

TEST(UsageRatio, IsBusyOverTotal) { expect_ratio(usage_ratio(ticks(100, 900), ticks(140, 960)), 40, 100); }

TEST(UsageRatio, IsUnknownWhereNoTickHasPassed) {
  expect_ratio(usage_ratio(ticks(100, 900), ticks(100, 900)), 0, 0);
}

TEST(UsageRatio, StaysWithinOneWhereIowaitDecreases) {
  expect_ratio(usage_ratio(ticks(100, 900), ticks(140, 890)), 30, 30);  // 40 busy, -10 idle
  expect_ratio(usage_ratio(ticks(100, 900), ticks(110, 870)), 10, 10);  // total would be -20
  expect_ratio(usage_ratio(ticks(100, 900), ticks(100, 890)), 0, 0);    // nothing but a step back
}

TEST(UsageRatio, IsNeverNegative) { expect_ratio(usage_ratio(ticks(100, 900), ticks(90, 1000)), 0, 90); }

TEST(CpuUse, IsTheTimeOfTheTicks) {
  const auto use = cpu_use(ticks(100, 900), ticks(140, 960));
  ASSERT_TRUE(use);
  EXPECT_EQ(use->busy, std::chrono::milliseconds(400));
  EXPECT_EQ(use->all, std::chrono::seconds(1));
}

TEST(CpuUse, IsUnknownIfNoTickHasPassedOrTooMany) {
  EXPECT_FALSE(cpu_use(ticks(100, 900), ticks(100, 900)));
  EXPECT_FALSE(cpu_use(ticks(0, 0), ticks(1, std::int64_t{1} << 56)));
}

TEST(SplitByUsage, RoundsToTheNearestAndKeepsTheSum) {
  EXPECT_EQ(split_by_usage({50}, {2, 5}).active, Microjoules{20});
  EXPECT_EQ(split_by_usage({10}, {1, 3}).active, Microjoules{3});  // 3.33
  EXPECT_EQ(split_by_usage({10}, {2, 3}).active, Microjoules{7});  // 6.67
  EXPECT_EQ(split_by_usage({1}, {1, 2}).active, Microjoules{1});   // halves go up
  EXPECT_EQ(split_by_usage({10}, {2, 3}).idle, Microjoules{3});
}

TEST(SplitByUsage, AllOrNothingAtTheEnds) {
  EXPECT_EQ(split_by_usage({12345}, {0, 7}).active, Microjoules{0});
  EXPECT_EQ(split_by_usage({12345}, {7, 7}).idle, Microjoules{0});
}

TEST(SplitByUsage, SumIsExactForAnyNumbers) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 5000; ++round) {
    const Microjoules energy{static_cast<std::int64_t>(random() >> (1 + random() % 60))};
    const auto total = static_cast<std::int64_t>(1 + (random() >> (6 + random() % 50)));
    const UsageRatio ratio{static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(total + 1)),
                           total};
    const EnergySplit split = split_by_usage(energy, ratio);
    ASSERT_EQ(split.active + split.idle, energy);
    ASSERT_GE(split.active, Microjoules{});
    ASSERT_GE(split.idle, Microjoules{});
  }
}

}  // namespace
}  // namespace keplerd
