// SPDX-License-Identifier: Apache-2.0
#include "energy/meters/delayed_counter.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;

std::int64_t energy(DelayedCounter& counter, Nanoseconds now) {
  const auto energy = counter.read(now);
  return energy ? energy->value : -1;
}

// A meter of 1,000,000 uJ per second, read every `period`, at which samples look.
class Samples {
 public:
  explicit Samples(Nanoseconds period, Nanoseconds phase = 210ms) : period_(period), phase_(phase) {
    read_meter();
    last_ = energy(counter_, now_);
  }

  // The power in the window to the next sample.
  double window(Nanoseconds time) {
    now_ += time;
    read_meter();
    const std::int64_t next = energy(counter_, now_);
    const double power = static_cast<double>(next - last_) / (1e-3 * static_cast<double>(time.count()));
    last_ = next;
    return power;
  }
  void go_away(Nanoseconds time) { away_until_ = now_ + time; }

  std::int64_t last() const { return last_; }
  Nanoseconds now() const { return now_; }
  DelayedCounter& counter() { return counter_; }

 private:
  void read_meter() {
    if (now_ < away_until_) return;
    const Nanoseconds reading = (now_ - phase_) / period_ * period_ + phase_;
    counter_.take({reading, reading / 1us}, static_cast<int>((reading - reading_) / period_));
    reading_ = reading;
  }

  Nanoseconds period_, phase_;
  Nanoseconds now_ = 1000s, away_until_{0}, reading_{0};
  DelayedCounter counter_{true};
  std::int64_t last_ = 0;
};

// As keplerd-nvml's, of which keplerd looks at one in five while nobody follows it.
TEST(DelayedCounter, HasTheMetersPowerAtAnyPaceOfSamples) {
  Samples samples(1s);
  for (int i = 0; i < 60; ++i) EXPECT_NEAR(samples.window(1s), 1, 1.0 / 64);
  for (const Nanoseconds pace : {5s, 1s, 5s, 1s, 10s, 1s}) {
    for (int i = 0; i < 6; ++i) EXPECT_DOUBLE_EQ(samples.window(pace), 1) << pace.count() << " " << i;
  }
  for (int i = 0; i < 50; ++i) EXPECT_NEAR(samples.window(20ms), 1, 1e-4);
}

TEST(DelayedCounter, OfAMeterThatIsReadSeldomAdvancesEvenly) {
  for (const Nanoseconds period : {3s, 5s, 10s, 30s}) {
    Samples samples(period, 300ms);
    for (Nanoseconds passed{0}; passed < 40 * 60s; passed += 1s) samples.window(1s);
    for (const Nanoseconds pace : {1s, 5s, 1s, 10s, 1s, 6s, 1s}) {
      for (int i = 0; i < 40; ++i)
        ASSERT_DOUBLE_EQ(samples.window(pace), 1) << period.count() << " " << pace.count();
    }
  }
}

TEST(DelayedCounter, HasTheEnergyBetweenItsReadings) {
  DelayedCounter counter(true);
  counter.take({100s, 1000});
  EXPECT_EQ(energy(counter, 105s), 1000);
  counter.take({105s, 2000});
  EXPECT_EQ(energy(counter, 106s), 1200) << "as of 101 s";
  counter.take({110s, 7000});
  EXPECT_EQ(energy(counter, 110s), 2000) << "as of 105 s";
  EXPECT_EQ(energy(counter, 112s), 4000);
}

TEST(DelayedCounter, WaitsForAReadingThatIsLateAndCatchesUp) {
  Samples samples(1s);
  for (int i = 0; i < 60; ++i) samples.window(1s);
  samples.go_away(4s);
  double sum = 0;
  for (int i = 0; i < 3; ++i) sum += samples.window(1s);
  EXPECT_NEAR(sum, 0.21, 0.01) << "nothing is invented";
  for (int i = 0; i < 30; ++i) EXPECT_LE(samples.window(1s), 1 + 1.0 / 16 + 1e-9);
  for (int i = 0; i < 30; ++i) samples.window(1s);
  EXPECT_EQ(samples.last(), (samples.now() - 1s) / 1us);
}

TEST(DelayedCounter, AfterTheMetersProgramWasAwayShowsItsEnergyLaterAndNotAtOnce) {
  Samples samples(1s);
  for (int i = 0; i < 60; ++i) samples.window(1s);
  samples.go_away(30s);
  for (int i = 0; i < 30; ++i) samples.window(1s);
  for (int i = 0; i < 24 * 2 + 1; ++i) ASSERT_LE(samples.window(1s), 1.5);
  for (int i = 0; i < 5 * 16; ++i) ASSERT_LE(samples.window(1s), 1 + 1.0 / 16 + 1e-9);
  EXPECT_EQ(samples.last(), (samples.now() - 1s) / 1us);
}

// The counter refers to the time at which the meter had this value.
TEST(DelayedCounter, KnowsHowOldItsValueIs) {
  DelayedCounter counter(true);
  EXPECT_FALSE(counter.age(105s));
  counter.take({100s, 1000});
  energy(counter, 105s);
  EXPECT_EQ(counter.age(105s)->age, 5s);
  EXPECT_EQ(counter.age(105s)->behind, 5s);
  counter.take({105s, 2000});
  EXPECT_EQ(energy(counter, 107s), 1400);
  EXPECT_EQ(counter.age(107s)->age, 2s);
  EXPECT_EQ(counter.age(107s)->behind, 5s) << "1400 was its value at 102 s";
}

TEST(DelayedCounter, PowerIsIntegratedOverTheTimesOfItsReadings) {
  DelayedCounter counter(false);
  counter.take({100s, 30'000'000});
  energy(counter, 100s);
  counter.take({102s, 50'000'000});
  energy(counter, 102s);
  EXPECT_EQ(energy(counter, 103s), 80'000'000);
}

TEST(DelayedCounter, TheSameReadingAgainIsNoReading) {
  DelayedCounter counter(true);
  counter.take({100s, 1000});
  energy(counter, 100s);
  counter.take({105s, 2000});
  counter.take({105s, 9000});
  counter.take({104s, 9000});
  energy(counter, 105s);
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
  EXPECT_EQ(counter.read(0s).error().message, "it has not been read yet");
  counter.take({100s, 1000});
  EXPECT_EQ(counter.read(98s).error().message, "the time of its last reading is in the future");
  EXPECT_EQ(energy(counter, 160s), 1000);
  EXPECT_EQ(counter.read(175s).error().message, "its last reading is 75 s old");
}

// Whatever the times of readings and samples: never back, never more than the last reading, and all of it
// once it is no longer read.
TEST(DelayedCounter, NeitherLosesNorInventsEnergy) {
  std::mt19937 random(20261127);
  for (int run = 0; run < 200; ++run) {
    DelayedCounter counter(true);
    Nanoseconds now = 100s, last = now;
    std::int64_t read = 0, shown = 0;
    counter.take({now, read});
    ASSERT_EQ(energy(counter, now), 0);
    for (int i = 0; i < 300; ++i) {
      now += std::chrono::milliseconds(random() % (random() % 10 == 0 ? 20'000 : 900));
      const Nanoseconds reading = now - std::chrono::milliseconds(random() % 500);
      if (random() % 3 != 0 && reading > last)
        counter.take({last = reading, read += static_cast<std::int64_t>(random() % 1000)});
      const std::int64_t next = energy(counter, now);
      ASSERT_GE(next, shown);
      ASSERT_LE(next, read);
      shown = next;
    }
    while (now - last < 59s) shown = energy(counter, now += 1s);
    EXPECT_EQ(shown, read);
  }
}

}  // namespace
}  // namespace keplerd
