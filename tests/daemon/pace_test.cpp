// SPDX-License-Identifier: Apache-2.0
#include "daemon/pace.h"

#include <gtest/gtest.h>

#include "config/settings.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

constexpr bool kUnprivileged = false, kFull = true;

class PaceOfOneSecond : public testing::Test {
 protected:
  PaceOfOneSecond() { pace.set({.interval = 1s, .unwatched_interval = 5s}); }
  Nanoseconds at(Nanoseconds now) { return pace.period(now, true); }

  Pace pace;
};

TEST_F(PaceOfOneSecond, IsSlowWithoutCallers) { EXPECT_EQ(at(100s), 5s); }

TEST_F(PaceOfOneSecond, IsKeptWhereTheMeterMayNotRest) { EXPECT_EQ(pace.period(100s, false), 1s); }

TEST_F(PaceOfOneSecond, IsKeptForTenSecondsAfterAQuestion) {
  pace.ask(100s);
  EXPECT_EQ(at(100s), 1s);
  EXPECT_EQ(at(110s - 1ns), 1s);
  EXPECT_EQ(at(110s), 5s);
}

TEST_F(PaceOfOneSecond, ProcessesAreWantedForAMinuteAfterAQuestion) {
  EXPECT_FALSE(pace.wants_processes(100s));
  pace.ask(100s);
  EXPECT_FALSE(pace.wants_processes(100s));
  pace.ask_processes(100s);
  EXPECT_TRUE(pace.wants_processes(100s));
  EXPECT_TRUE(pace.wants_processes(160s - 1ns));
  EXPECT_FALSE(pace.wants_processes(160s));
}

TEST_F(PaceOfOneSecond, ProcessesAreWantedWhileSomebodyFollowsThem) {
  const auto host = pace.listen({.full = true});
  EXPECT_FALSE(pace.wants_processes(100s));
  for (const bool full : {kUnprivileged, kFull}) {
    auto listener = pace.listen({.full = full, .processes = true});
    EXPECT_TRUE(pace.wants_processes(100s));
    listener.reset();
    EXPECT_FALSE(pace.wants_processes(100s));
  }
}

TEST_F(PaceOfOneSecond, IsKeptForListenersAsLongAsTheyAreThere) {
  for (const bool full : {kUnprivileged, kFull}) {
    auto listener = pace.listen({.full = full});
    EXPECT_EQ(at(100s), 1s);
    listener.reset();
    EXPECT_EQ(at(100s), 5s);
  }
}

TEST_F(PaceOfOneSecond, IsSetByTheFastestFollowerWithFullAccess) {
  const auto slow = pace.listen({.full = kFull, .wanted = 3s});
  EXPECT_EQ(at(100s), 3s);
  auto fast = pace.listen({.full = kFull, .wanted = 100ms});
  EXPECT_EQ(at(100s), 100ms);
  const auto any = pace.listen({.full = kFull});
  EXPECT_EQ(at(100s), 100ms);
  fast.reset();
  EXPECT_EQ(at(100s), 1s);
}

TEST_F(PaceOfOneSecond, IsNotSetByUnprivilegedCallers) {
  const auto fast = pace.listen({.full = kUnprivileged, .wanted = 100ms});
  EXPECT_EQ(at(100s), 1s);
}

TEST_F(PaceOfOneSecond, IsNotSlowedByAFollowerThatWantsLess) {
  const auto listener = pace.listen({.full = kFull, .wanted = 1h});
  EXPECT_EQ(at(100s), 5s);
  pace.ask(100s);
  EXPECT_EQ(at(100s), 1s);
}

TEST_F(PaceOfOneSecond, IsNeverShorterThanTheShortestInterval) {
  const auto listener = pace.listen({.full = kFull, .wanted = 1ns});
  EXPECT_EQ(at(100s), 10ms);
}

TEST(Pace, IsNotFasterWhereUnwatchedIsShorterThanTheInterval) {
  Pace pace;
  pace.set({.interval = 2s, .unwatched_interval = 1s});
  EXPECT_EQ(pace.period(100s, true), 2s);
}

TEST(Pace, OnDemandSamplesOnlyGuardAgainstWrapsUnlessAPrivilegedFollowerSetsAPace) {
  Pace pace;
  pace.set({.interval = 0s, .unwatched_interval = 5s});
  pace.ask(100s);
  const auto any = pace.listen({.full = kFull});
  const auto unprivileged = pace.listen({.full = kUnprivileged, .wanted = 1s});
  EXPECT_EQ(pace.period(100s, true), 30s);
  EXPECT_EQ(pace.period(200s, true), 30s);
  const auto named = pace.listen({.full = kFull, .wanted = 2s});
  EXPECT_EQ(pace.period(200s, true), 2s);
}

}  // namespace
}  // namespace keplerd
