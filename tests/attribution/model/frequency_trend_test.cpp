// SPDX-License-Identifier: Apache-2.0
#include "attribution/model/frequency_trend.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

ZoneActivity cores(double busy, double khz) {
  ZoneActivity activity;
  activity.cores = 10;
  activity.busy_cores = activity.load = 10 * busy;
  activity.khz = khz;
  return activity;
}

TEST(FrequencyTrend, TheFirstReadingIsTheReference) {
  EXPECT_EQ(FrequencyTrend().follow(cores(0.5, 3e6), 1), 0);
  EXPECT_EQ(FrequencyTrend().follow(cores(0.5, 0), 1), 0);
}

TEST(FrequencyTrend, WithoutReadingsBusyCoresStandIn) {
  FrequencyTrend trend;
  trend.follow(cores(0.2, 0), 1);
  EXPECT_NEAR(trend.follow(cores(0.8, 0), 1), -0.35 * 0.6, 1e-12);
}

TEST(FrequencyTrend, LearnsHowTheFrequencyFollowsTheCores) {
  FrequencyTrend trend;
  double last = 0;
  for (int i = 0; i < 7200; ++i) {
    const double busy = i % 2 == 0 ? 0.2 : 0.8;
    last = trend.follow(cores(busy, 3e6 * std::exp(-0.6 * busy)), 1);
  }
  EXPECT_NEAR(last, -0.6 * 0.6, 0.002);  // the last is busy, the first was not
}

// Otherwise, the power of a busy CPU, which is learned at this frequency, would change with the load of the
// last minutes.
TEST(FrequencyTrend, TheReferenceStaysWhateverRunsForHours) {
  FrequencyTrend trend;
  const auto khz = [](double busy) { return 3e6 * std::exp(-0.6 * busy); };
  for (const double busy : {0.2, 0.5, 0.8})
    for (int i = 0; i < 3600; ++i) trend.follow(cores(busy, khz(busy)), 1);
  EXPECT_NEAR(trend.follow(cores(0.2, 0), 1), 0, 0.002);
  EXPECT_NEAR(trend.follow(cores(0.8, 0), 1), -0.6 * 0.6, 0.002);
}

TEST(FrequencyTrend, WhatElseMovesTheFrequencyIsFollowedWithinMinutes) {
  FrequencyTrend trend;
  for (int i = 0; i < 3600; ++i) trend.follow(cores(i % 2 == 0 ? 0.2 : 0.8, 3e6), 1);
  double last = 0;
  for (int i = 0; i < 900; ++i) last = trend.follow(cores(i % 2 == 0 ? 0.2 : 0.8, 2.4e6), 1);
  EXPECT_NEAR(last, std::log(0.8), 0.01);
}

TEST(FrequencyTrend, KeepsItsReferenceAcrossARestart) {
  FrequencyTrend trend, after;
  const auto khz = [](double busy) { return 3e6 * std::exp(-0.6 * busy); };
  for (int i = 0; i < 3600; ++i) trend.follow(cores(i % 2 == 0 ? 0.2 : 0.8, khz(i % 2 == 0 ? 0.2 : 0.8)), 1);
  after.restore(trend.memory());
  EXPECT_EQ(after.follow(cores(0.8, 0), 1), trend.follow(cores(0.8, 0), 1));
  EXPECT_NEAR(after.follow(cores(0.2, khz(0.2)), 1), 0, 0.002);
}

// Of 10 cores with two siblings each: how many are busy if each CPU is at random, and if idle cores are
// filled.
double spread(double load) { return 1 - (1 - load / 20) * (1 - load / 20); }
double filled(double load) { return std::min(1.0, load / 10); }

ZoneActivity hyperthreads(double load, double khz) {
  ZoneActivity activity = cores(spread(load), khz);
  activity.load = load;
  return activity;
}

// What is expected of ln(f / the first reading) at 3, 10 and 17 busy CPUs, once loads between 2 and 18 were
// seen.
template <class Cores>
void expect_to_follow(Cores busy_cores) {
  FrequencyTrend trend;
  const auto khz = [&](double load) { return 3e6 * std::exp(-0.5 * busy_cores(load)); };
  for (int i = 0; i < 14400; ++i) {
    const double load = 2 + i * 7 % 17;
    trend.follow(hyperthreads(load, khz(load)), 1);
  }
  const double first = std::log(khz(2));
  for (const double load : {3.0, 10.0, 17.0})
    EXPECT_NEAR(trend.follow(hyperthreads(load, 0), 1), std::log(khz(load)) - first, 0.01) << load;
}

TEST(FrequencyTrend, FollowsCoresThatAreFilledFirst) { expect_to_follow(filled); }

TEST(FrequencyTrend, FollowsCoresThatAreBusyAtRandom) { expect_to_follow(spread); }

TEST(FrequencyTrend, WithoutReadingsIdleCoresAreTakenToBeFilledFirst) {
  FrequencyTrend trend;
  trend.follow(hyperthreads(10, 0), 1);
  // With ten more, no further core is busy.
  EXPECT_NEAR(trend.follow(hyperthreads(20, 0), 1), 0, 1e-12);
}

TEST(FrequencyTrend, WindowsBeforeTheFirstReadingDoNotBendTheSlope) {
  FrequencyTrend after_a_pause, at_once;
  for (int i = 0; i < 120; ++i)
    after_a_pause.follow(cores(0, 0), 1);  // nothing runs, so no core says its speed
  double after = 0, without = 1;
  for (int i = 0; i < 300; ++i) {
    const ZoneActivity load = cores(i % 2 == 0 ? 0.6 : 0.8, 3e6 * std::exp(-0.4 * (i % 2 == 0 ? 0.6 : 0.8)));
    after = after_a_pause.follow(load, 1);
    without = at_once.follow(load, 1);
  }
  EXPECT_NEAR(without, -0.4 * 0.2, 0.002);
  EXPECT_EQ(after, without);
}

TEST(FrequencyTrend, AFixedFrequencyStaysTheReference) {
  FrequencyTrend trend;
  double last = 1;
  for (int i = 0; i < 7200; ++i) last = trend.follow(cores(i % 2 == 0 ? 0.2 : 0.8, 3e6), 1);
  EXPECT_NEAR(last, trend.follow(cores(0.2, 0), 1), 0.001);
  EXPECT_NEAR(last, 0, 0.002);  // the reference is that of ten readings, when less was known
}

TEST(FrequencyTrend, WindowsWithoutAReadingUseWhatWasLearned) {
  FrequencyTrend trend;
  for (int i = 0; i < 7200; ++i) {
    const double busy = i % 2 == 0 ? 0.2 : 0.8;
    trend.follow(cores(busy, 3e6 * std::exp(-0.6 * busy)), 1);
  }
  EXPECT_NEAR(trend.follow(cores(0.2, 0), 1), 0, 0.002);
  EXPECT_NEAR(trend.follow(cores(0.5, 0), 1), -0.6 * 0.3, 0.002);
}

// As of a CPU that has just left its lowest frequency.
TEST(FrequencyTrend, AFirstReadingThatIsFarOffDoesNotStayTheReference) {
  FrequencyTrend trend;
  EXPECT_EQ(trend.follow(cores(0.5, 0.8e6), 1), 0);
  double last = 0;
  for (int i = 0; i < 60; ++i) last = trend.follow(cores(0.5, 3e6), 1);
  EXPECT_NEAR(last, 0, 0.2);
}

// The first reading is taken for what is usual of so many busy cores.
TEST(FrequencyTrend, TheFirstReadingDoesNotChangeWhatWasExpectedBefore) {
  FrequencyTrend trend;
  trend.follow(cores(0.2, 0), 1);
  EXPECT_NEAR(trend.follow(cores(0.8, 3e6), 1), -0.35 * 0.6, 1e-12);
}

TEST(FrequencyTrend, AnAbsurdReadingIsBounded) {
  FrequencyTrend trend;
  for (int i = 0; i < 100; ++i) trend.follow(cores(0.5, 3e6), 1);
  for (int i = 0; i < 2000; ++i) {
    const double log = trend.follow(cores(i % 2 == 0 ? 0.0 : 1.0, i % 2 == 0 ? 1 : 1e12), 1);
    EXPECT_GE(log, -1);
    EXPECT_LE(log, 1);
  }
}

}  // namespace
}  // namespace keplerd
