// SPDX-License-Identifier: Apache-2.0
#include "attribution/model/power_filter.h"

#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

// Eight CPUs without hyperthreads at a fixed frequency. Slot 1 and slot 2 use `first` and `second` CPUs.
PowerObservation observe(double first, double second) {
  PowerObservation o{.seconds = 1, .awake = 1, .least_awake = 1, .load = first + second, .cpus = 8};
  if (o.load > 0) {
    o.share[1] = first / o.load;
    o.share[2] = second / o.load;
  }
  return o;
}

// 20 W idle, 10 W awake, 4 W a CPU of slot 1 and 8 W of slot 2 at first, with a noise of 0.1 W.
class Law {
 public:
  double first_watts = 4, second_watts = 8;
  PowerObservation next() {
    std::uniform_real_distribution<double> use(0, 3);
    const double first = use(random_), second = use(random_);
    PowerObservation o = observe(first, second);
    const bool idle = windows_++ % 10 == 0;
    if (idle) o = {.seconds = 1, .cpus = 8};
    o.watts = 20 + (idle ? 0 : 10 + first_watts * first + second_watts * second);
    o.watts += std::normal_distribution<double>(0, 0.1)(random_);
    return o;
  }
  void teach(PowerFilter& filter, int windows) {
    for (int i = 0; i < windows; ++i) filter.learn(next());
  }

 private:
  std::mt19937 random_{1};
  int windows_ = 0;
};

PowerFilter started(std::size_t slots) {
  PowerFilter filter(slots);
  PowerObservation first = observe(2, 2);
  first.watts = 54;
  filter.start(first);
  return filter;
}

// How much more the second workload draws than the first, as the filter has it.
double ratio(const PowerFilter& filter) { return (1 + filter.deviation(2)) / (1 + filter.deviation(1)); }

TEST(PowerFilter, LearnsTheIdlePowerAndWhatEachWorkloadDraws) {
  PowerFilter filter = started(kSlots);
  Law().teach(filter, 3600);
  EXPECT_NEAR(filter.value(PowerFilter::kIdle), 20, 0.5);
  EXPECT_NEAR(filter.value(PowerFilter::kAwake), 10, 1);
  EXPECT_NEAR(ratio(filter), 2, 0.05);
}

TEST(PowerFilter, PooledTreatsAllWorkloadsAlike) {
  PowerFilter filter = started(1);
  Law().teach(filter, 3600);
  EXPECT_EQ(filter.deviation(1), 0);
  EXPECT_NEAR(filter.value(PowerFilter::kIdle), 20, 1);
  EXPECT_NEAR(filter.dynamic(observe(1, 1)), 12, 2);
}

TEST(PowerFilter, PredictsBetterTheLongerItLearns) {
  PowerFilter filter = started(kSlots);
  Law law;
  const double first = std::abs(filter.learn(law.next()));
  law.teach(filter, 3600);
  double later = 0;
  for (int i = 0; i < 100; ++i) later = std::max(later, std::abs(filter.learn(law.next())));
  EXPECT_LT(later, first);
  EXPECT_LT(later, 1);
}

TEST(PowerFilter, IsSurprisedByAChangeAndLearnsItWithinMinutes) {
  PowerFilter filter = started(kSlots);
  Law law;
  law.teach(filter, 3600);
  law.second_watts = 4;
  law.teach(filter, 5);
  EXPECT_GT(filter.surprise(), 2.5);
  law.teach(filter, 300);
  EXPECT_NEAR(ratio(filter), 1, 0.1);
}

TEST(PowerFilter, ForgetsWhatHasBecomeWorseThanNothing) {
  PowerFilter filter = started(kSlots);
  Law law;
  law.teach(filter, 3600);
  EXPECT_NEAR(ratio(filter), 2, 0.05);
  std::swap(law.first_watts, law.second_watts);
  law.teach(filter, 6);
  EXPECT_NEAR(ratio(filter), 1, 0.05) << "both are alike again";
  EXPECT_NEAR(filter.deviation(1), 0, 0.05);
  law.teach(filter, 60);
  EXPECT_NEAR(ratio(filter), 0.5, 0.05);
}

TEST(PowerFilter, ForgetsNothingOfWorkloadsIfTheHostSurprisesIt) {
  PowerFilter filter = started(kSlots);
  Law law;
  law.teach(filter, 3600);
  for (int i = 0; i < 10; ++i) {
    PowerObservation o = law.next();
    o.watts += 50;
    filter.learn(o);
  }
  EXPECT_GT(filter.surprise(), 2.5);
  EXPECT_GT(ratio(filter), 1.5);
}

// A third workload, which always uses one CPU, suddenly draws half as much: by how many watts that changes
// the idle power.
double change_of_idle(bool is_new) {
  PowerFilter filter = started(kSlots);
  Law law;
  double third_watts = 6;
  const auto teach = [&](int windows) {
    for (int i = 0; i < windows; ++i) {
      PowerObservation o = law.next();
      const double load = o.load + 1;
      for (double& share : o.share) share *= o.load / load;
      o.share[3] = 1 / load;
      o.watts += third_watts + 10 * (1 - o.awake);
      o.awake = o.least_awake = 1;
      o.load = load;
      o.is_new = is_new;
      filter.learn(o);
    }
  };
  teach(1800);
  const double before = filter.value(PowerFilter::kIdle);
  third_watts = 3;
  teach(240);
  return std::abs(filter.value(PowerFilter::kIdle) - before);
}

TEST(PowerFilter, UnderUsualLoadsAWorkloadThatChangesDoesNotMoveTheIdlePower) {
  EXPECT_LT(change_of_idle(false), 2);
  EXPECT_GT(change_of_idle(true), 10) << "else this shows nothing";
}

// What a filter learns in an hour of a host with 16 CPUs that draws 20 W idle, 10 W awake and 4 W a busy CPU.
// A hundredth of a CPU is always busy, and 4 to 15.8 CPUs in one minute of three. In each window in which
// that minute begins or ends, all CPUs are busy for a twentieth of it: at the same time.
PowerFilter learn_bursts(bool all_at_once) {
  PowerFilter filter(1);
  const auto window = [](double awake, double least_awake, double load) {
    return PowerObservation{.watts = 20 + 10 * awake + 4 * load,
                            .seconds = 1,
                            .awake = awake,
                            .least_awake = least_awake,
                            .load = load,
                            .cpus = 16,
                            .share = {1}};
  };
  filter.start(window(1, 1, 16), 20);
  for (int i = 1; i <= 3600; ++i) {
    const int second = i % 180;
    PowerObservation o = second < 60 ? window(1, 1, 4 + 0.2 * second) : window(0.01, 0.01, 0.01);
    if (all_at_once && (second == 60 || second == 179)) {
      o = window(0.05, 0.05, 0.8);
      o.awake = 1 - std::pow(0.95, 16);  // as independent CPUs would be
    }
    filter.learn(o);
    filter.hold(PowerFilter::kIdle, 20, 0.4);
  }
  return filter;
}

TEST(PowerFilter, WhereLoadBeginsOrEndsAllRunAtTheSameTime) {
  EXPECT_NEAR(learn_bursts(true).value(PowerFilter::kAwake), learn_bursts(false).value(PowerFilter::kAwake),
              2);
}

TEST(PowerFilter, ThatAllRanAtTheSameTimeIsNotTakenForNoise) {
  const double noise = learn_bursts(false).noise();
  EXPECT_NEAR(learn_bursts(true).noise(), noise, 0.1 * noise);
}

// What a filter learns in an hour of a host with 8 CPUs that draws 20 W idle, 10 W awake and 4 W per busy
// CPU at its highest frequency, which falls with the number of busy CPUs. That number changes every three
// seconds; if `within`, in the middle of a window.
PowerFilter learn_steps(bool within) {
  PowerFilter filter(1);
  const auto window = [](double before, double after) {
    const auto log = [](double busy) { return std::log(1 - 0.06 * busy); };
    const auto watts = [&](double busy) { return 30 + 4 * busy * std::exp(1.5 * log(busy)); };
    return PowerObservation{.watts = (watts(before) + watts(after)) / 2,
                            .seconds = 1,
                            .awake = 1,
                            .least_awake = 1,
                            .load = (before + after) / 2,
                            .frequency = (log(before) + log(after)) / 2,
                            .cpus = 8,
                            .share = {1}};
  };
  std::mt19937 random(1);
  std::uniform_real_distribution<double> any(1, 8);
  filter.start(window(4, 4), 20);
  double busy = 4;
  for (int step = 0; step < 1200; ++step) {
    const double before = std::exchange(busy, any(random));
    for (int second = 0; second < 3; ++second) {
      filter.learn(window(within && second == 0 ? before : busy, busy));
      filter.hold(PowerFilter::kIdle, 20, 0.4);
    }
  }
  return filter;
}

TEST(PowerFilter, WhereTheLoadChangesWithinAWindowItsMeanSaysLessOfThePower) {
  const double awake = learn_steps(false).value(PowerFilter::kAwake);
  EXPECT_NEAR(awake, 10, 1);
  EXPECT_NEAR(learn_steps(true).value(PowerFilter::kAwake), awake, 0.6);
}

TEST(PowerFilter, HoldLimitsDistanceAndUncertainty) {
  PowerFilter filter = started(kSlots);
  filter.hold(PowerFilter::kIdle, 30, 0.5);
  EXPECT_NEAR(filter.value(PowerFilter::kIdle), 30, 1 + 1e-9);
  EXPECT_NEAR(filter.variance(PowerFilter::kIdle), 0.25, 1e-9);
}

// Only the sum of idle and awake power is known: if one falls, the other rises.
TEST(PowerFilter, WhatIsKnownOfOthersFollowsAParameterThatReachesItsBound) {
  PowerFilter filter = started(1);
  for (int i = 0; i < 600; ++i) {
    PowerObservation o = observe(0.5 * (i / 10 % 7), 1);
    o.watts = 30 + 4 * o.load;
    filter.learn(o);
  }
  ASSERT_NEAR(filter.value(PowerFilter::kIdle) + filter.value(PowerFilter::kAwake), 30, 0.5);
  filter.hold(PowerFilter::kAwake, -5, 0.1);
  EXPECT_EQ(filter.value(PowerFilter::kAwake), 0);
  EXPECT_NEAR(filter.value(PowerFilter::kIdle), 30, 0.5);
}

TEST(PowerFilter, KeptWithinBoundsAParameterIsAsUncertainAsBefore) {
  PowerFilter filter = started(kSlots);
  const double variance = filter.variance(PowerFilter::kIdle);
  filter.keep_within(PowerFilter::kIdle, 30, 0.5);
  EXPECT_NEAR(filter.value(PowerFilter::kIdle), 29.5, 1e-9);
  EXPECT_EQ(filter.variance(PowerFilter::kIdle), variance);
}

TEST(PowerFilter, HoldChangesNothingThatAgreesAlready) {
  PowerFilter filter = started(kSlots);
  Law().teach(filter, 3600);
  const double idle = filter.value(PowerFilter::kIdle), variance = filter.variance(PowerFilter::kIdle);
  filter.hold(PowerFilter::kIdle, idle + 1, 5);
  EXPECT_EQ(filter.value(PowerFilter::kIdle), idle);
  EXPECT_EQ(filter.variance(PowerFilter::kIdle), variance);
}

TEST(PowerFilter, AnHourOfSteadyLoadDoesNotEraseWhatItCannotTeach) {
  PowerFilter filter = started(kSlots);
  Law law;
  law.teach(filter, 3600);
  PowerObservation steady = observe(2, 1);
  steady.watts = 20 + 10 + 8 + 8;
  for (int i = 0; i < 360; ++i) {
    steady.seconds = 10;
    filter.learn(steady);
  }
  EXPECT_GT((1 + filter.deviation(2)) / (1 + filter.deviation(1)), 1.5);
}

TEST(PowerFilter, StartsOverAfterThreeWindowsThatAreNoNumbers) {
  PowerFilter filter = started(kSlots);
  PowerObservation broken = observe(1, 1);
  broken.watts = std::numeric_limits<double>::quiet_NaN();
  filter.learn(broken);
  filter.learn(broken);
  EXPECT_TRUE(filter.started());
  filter.learn(broken);
  EXPECT_FALSE(filter.started());
  EXPECT_EQ(filter.restarts(), 1U);
}

TEST(PowerFilter, VariancesStayPositiveWhateverHappens) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> any(0, 1);
  PowerFilter filter = started(kSlots);
  for (int i = 0; i < 2000; ++i) {
    PowerObservation o{
        .seconds = 0.5 + 9 * any(random), .awake = any(random), .load = 8 * any(random), .cpus = 8};
    o.watts = any(random) < 0.05 ? 5000 * any(random) : 100 * any(random);
    o.siblings = any(random) * o.load / 2;
    o.frequency = 2 * any(random) - 1;
    double sum = 0;
    for (double& share : o.share) sum += share = any(random) < 0.2 ? any(random) : 0;
    for (double& share : o.share) share = sum > 0 ? share / sum : 0;
    if (any(random) < 0.1) filter.assign(1 + random() % (kSlots - 1), 0, 0.09);
    if (!filter.started()) filter.start(o);
    filter.learn(o);
    if (any(random) < 0.3) filter.hold(PowerFilter::kIdle, 20, 0.4);
    for (std::size_t s = 0; s < kSlots; ++s) ASSERT_GE(filter.deviation_covariance(s, s), 0) << i;
    ASSERT_GE(filter.variance(PowerFilter::kIdle), 0) << i;
    ASSERT_TRUE(std::isfinite(filter.value(PowerFilter::kPerCpu))) << i;
  }
  EXPECT_EQ(filter.restarts(), 0U);
}

}  // namespace
}  // namespace keplerd
