// SPDX-License-Identifier: Apache-2.0
#include "energy/meters/delayed_counter.h"

#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;

std::int64_t energy(const DelayedCounter& counter, Nanoseconds now) {
  const auto energy = counter.at(now);
  return energy ? energy->value : -1;
}

TEST(DelayedCounter, AdvancesEvenlyOneReadingLater) {
  DelayedCounter counter(true);
  counter.take({100s, 1000});
  EXPECT_EQ(energy(counter, 103s), 1000);
  counter.take({105s, 2000});
  EXPECT_EQ(energy(counter, 105s), 1000);
  EXPECT_EQ(energy(counter, 106s), 1200);
  EXPECT_EQ(energy(counter, 110s), 2000);
  EXPECT_EQ(energy(counter, 112s), 2000) << "the next reading is late: nothing is invented";
  counter.take({112s, 2700});
  EXPECT_EQ(energy(counter, 112s), 2000);
  EXPECT_EQ(energy(counter, 119s), 2700);
}

// The counter refers to the time at which the meter had this value.
TEST(DelayedCounter, KnowsHowOldItsValueIs) {
  DelayedCounter counter(true);
  EXPECT_FALSE(counter.age(103s));
  counter.take({100s, 1000});
  EXPECT_EQ(counter.age(103s)->age, 3s);
  EXPECT_EQ(counter.age(103s)->behind, 3s);
  counter.take({105s, 2000});
  EXPECT_EQ(counter.age(107s)->age, 2s);
  EXPECT_EQ(counter.age(107s)->behind, 5s) << "1400 was its value at 102 s";
  EXPECT_EQ(counter.age(112s)->age, 7s);
  EXPECT_EQ(counter.age(112s)->behind, 7s) << "it has stood still since 110 s";
}

TEST(DelayedCounter, AReadingThatIsEarlyLosesNothing) {
  DelayedCounter counter(true);
  counter.take({0s, 0});
  counter.take({10s, 1000});
  EXPECT_EQ(energy(counter, 14s), 400);
  counter.take({14s, 1500});
  EXPECT_EQ(energy(counter, 14s), 1000);
  EXPECT_EQ(energy(counter, 18s), 1500);
}

TEST(DelayedCounter, PowerIsIntegratedOverTheTimesOfItsReadings) {
  DelayedCounter counter(false);
  counter.take({100s, 30'000'000});
  counter.take({102s, 50'000'000});
  EXPECT_EQ(energy(counter, 104s), 80'000'000);
}

TEST(DelayedCounter, TheSameReadingAgainIsNoReading) {
  DelayedCounter counter(true);
  counter.take({100s, 1000});
  counter.take({105s, 2000});
  counter.take({105s, 9000});
  counter.take({104s, 9000});
  EXPECT_EQ(energy(counter, 110s), 2000);
}

TEST(DelayedCounter, FollowsACounterThatGoesBackAndAGap) {
  DelayedCounter counter(true);
  counter.take({100s, 1000});
  counter.take({105s, 10});
  EXPECT_EQ(energy(counter, 105s), 10) << "a reset, which is judged later";
  counter.take({166s, 20});
  EXPECT_EQ(energy(counter, 166s), 20) << "after more than a minute it is not known when it was used";
}

TEST(DelayedCounter, SaysNothingWithoutARecentReading) {
  DelayedCounter counter(true);
  EXPECT_EQ(counter.at(0s).error().message, "it has not been read yet");
  counter.take({100s, 1000});
  EXPECT_EQ(energy(counter, 160s), 1000);
  EXPECT_EQ(counter.at(175s).error().message, "its last reading is 75 s old");
  EXPECT_EQ(counter.at(98s).error().message, "the time of its last reading is in the future");
}

}  // namespace
}  // namespace keplerd
