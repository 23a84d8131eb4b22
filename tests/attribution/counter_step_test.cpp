// SPDX-License-Identifier: Apache-2.0
#include "attribution/counter_step.h"

#include <gtest/gtest.h>

#include "attribution/number_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kWrapsAfter = 262'143'328'850;

Zone zone_with(std::string name, std::int64_t limit_watts, std::int64_t range = kWrapsAfter) {
  return {.id = "test:" + name + ":0",
          .name = name,
          .range = {range},
          .largest_limit = {limit_watts * 1'000'000}};
}

CounterStep step(std::int64_t previous, std::int64_t current, Nanoseconds elapsed = 1s) {
  return {.previous = {previous}, .current = {current}, .elapsed = elapsed};
}

void expect_judged(const JudgedStep& judged, StepVerdict verdict, std::int64_t energy) {
  EXPECT_EQ(judged.verdict, verdict) << verdict_text(judged.verdict);
  EXPECT_EQ(judged.energy.value, energy);
}

TEST(HighestPower, IsTwiceTheLargestLimit) {
  EXPECT_EQ(highest_power(zone_with("package", 700)), Microwatts{1'400'000'000});
}

TEST(HighestPower, IsAtLeastAKilowattForAPackageAnd200WattsForDram) {
  EXPECT_EQ(highest_power(zone_with("package", 15)), Microwatts{1'000'000'000});
  EXPECT_EQ(highest_power(zone_with("package", 0)), Microwatts{1'000'000'000});
  EXPECT_EQ(highest_power(zone_with("psys", 0)), Microwatts{1'000'000'000});
  EXPECT_EQ(highest_power(zone_with("dram", 0)), Microwatts{200'000'000});
  EXPECT_EQ(highest_power(zone_with("dram", 150)), Microwatts{300'000'000});
}

TEST(HighestPower, GarbageLimitIsNotBelieved) {
  EXPECT_EQ(highest_power(zone_with("package", 2500)), Microwatts{5'000'000'000});
  EXPECT_EQ(highest_power(zone_with("package", 4095)), Microwatts{1'000'000'000});
}

TEST(Step, ForwardIsCounted) {
  expect_judged(judge_step(package_zone(), step(1000, 51'000'000)), StepVerdict::kCounted, 50'999'000);
  expect_judged(judge_step(package_zone(), step(1000, 1000)), StepVerdict::kCounted, 0);
}

TEST(Step, BackIsAWrapWhereTheHardwareCouldHaveMadeIt) {
  expect_judged(judge_step(package_zone(), step(kWrapsAfter - 30'000'000, 20'000'000)), StepVerdict::kCounted,
                50'000'000);
  // 1 kW for a second exactly is possible, a microjoule more is not.
  expect_judged(judge_step(package_zone(), step(kWrapsAfter - 900'000'000, 100'000'000)),
                StepVerdict::kCounted, 1'000'000'000);
  expect_judged(judge_step(package_zone(), step(kWrapsAfter - 900'000'000, 100'000'001)), StepVerdict::kReset,
                0);
}

TEST(Step, BackIsAResetOtherwise) {
  expect_judged(judge_step(package_zone(), step(200'000'000'000, 5)), StepVerdict::kReset, 0);
  expect_judged(judge_step(package_zone(), step(500, 499)), StepVerdict::kReset, 0);
}

TEST(Step, LaptopsWrapIsCountedFarAboveItsPowerLimit) {
  expect_judged(judge_step(zone_with("package", 15), step(kWrapsAfter - 40'000'000, 24'000'000)),
                StepVerdict::kCounted, 64'000'000);
}

TEST(Step, BackWithoutARangeIsAReset) {
  expect_judged(judge_step(zone_with("package", 100, 0), step(20, 10)), StepVerdict::kReset, 0);
}

TEST(Step, BackFromBeyondTheRangeIsAReset) {
  expect_judged(judge_step(package_zone(), step(kWrapsAfter + 1, 10)), StepVerdict::kReset, 0);
}

TEST(Step, ForwardByMoreThanAnyMachineDrawsIsImpossible) {
  expect_judged(judge_step(package_zone(), step(0, 5'000'000'000)), StepVerdict::kCounted, 5'000'000'000);
  expect_judged(judge_step(package_zone(), step(0, 5'000'000'001)), StepVerdict::kImpossible, 0);
  expect_judged(judge_step(package_zone(), step(0, 5'000'000'001, 2s)), StepVerdict::kCounted, 5'000'000'001);
}

TEST(Step, AWholePlatformMayDrawMore) {
  Zone platform = package_zone();
  platform.resource = Resource::kNone;
  expect_judged(judge_step(platform, step(0, 100'000'000'000)), StepVerdict::kCounted, 100'000'000'000);
  expect_judged(judge_step(platform, step(0, 100'000'000'001)), StepVerdict::kImpossible, 0);
}

TEST(Step, ShortWindowIsJudgedAsASecond) {
  expect_judged(judge_step(package_zone(), step(0, 900'000'000, 1ms)), StepVerdict::kCounted, 900'000'000);
  expect_judged(judge_step(package_zone(), step(0, 1'000'000, 0s)), StepVerdict::kCounted, 1'000'000);
}

TEST(Step, AcrossASuspendIsNeverCounted) {
  auto suspended = step(1000, 51'000'000);
  suspended.suspended = true;
  expect_judged(judge_step(package_zone(), suspended), StepVerdict::kSuspended, 0);
  suspended = step(kWrapsAfter - 10, 10);
  suspended.suspended = true;
  expect_judged(judge_step(package_zone(), suspended), StepVerdict::kSuspended, 0);
}

// At 1 kW the range is gone through in 262.14 s.
TEST(Step, IsAmbiguousWhereItMayHaveWrappedMoreThanOnce) {
  expect_judged(judge_step(package_zone(), step(1000, 2000, 262s)), StepVerdict::kCounted, 1000);
  expect_judged(judge_step(package_zone(), step(1000, 2000, 263s)), StepVerdict::kAmbiguous, 0);
  expect_judged(judge_step(package_zone(), step(2000, 1000, 263s)), StepVerdict::kAmbiguous, 0);
  expect_judged(judge_step(zone_with("package", 0, 0), step(1000, 2000, 24h)), StepVerdict::kCounted, 1000);
}

TEST(Step, EveryVerdictHasItsText) {
  for (const auto verdict : {StepVerdict::kCounted, StepVerdict::kReset, StepVerdict::kImpossible,
                             StepVerdict::kSuspended, StepVerdict::kAmbiguous}) {
    EXPECT_FALSE(verdict_text(verdict).empty());
  }
}

}  // namespace
}  // namespace keplerd
