// SPDX-License-Identifier: Apache-2.0
#include "attribution/model/zone_power.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <span>

#include <gtest/gtest.h>

#include "attribution/model/window_fixture.h"

namespace keplerd {
namespace {

// Uses of workloads 1, 2, ... in busy CPUs; without hyperthreads in use as long as there are at most four.
WindowFixture using_cpus(const std::vector<double>& uses) {
  WindowFixture f;
  double all = 0;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    f.contenders.push_back({.cpu_seconds = uses[i], .workload = i + 1});
    all += uses[i];
  }
  for (std::size_t cpu = 0; cpu < 8; ++cpu)
    f.busy[cpu] = std::clamp(all - static_cast<double>(cpu), 0.0, 1.0);
  return f;
}

const PowerDivision& divide(ZonePower& zone, const WindowFixture& f, double watts) {
  zone.learn(f.window(), f.activity(), watts);
  return zone.divide(f.window(), f.activity(), watts);
}

TEST(ZonePower, IfNobodyRanAllIsIdle) {
  ZonePower zone;
  const PowerDivision& division = divide(zone, using_cpus({0, 0}), 25);
  EXPECT_EQ(division.idle_watts, 25);
  EXPECT_EQ(division.share, (std::vector<double>{0, 0}));
}

TEST(ZonePower, SharesSumToOneAndWhoDidNotRunHasNone) {
  ZonePower zone;
  for (int i = 0; i < 200; ++i) {
    const PowerDivision& division = divide(zone, using_cpus({1.5, 0, 0.01, 0.5 * (i % 3)}), 40 + i % 3);
    EXPECT_NEAR(total(division.share), 1, 1e-9);
    EXPECT_EQ(division.share[1], 0);
    EXPECT_GT(division.share[2], 0);
  }
}

// 20 W idle, then 5 and 9 W a CPU. `use_of(window)`: what both use.
template <class UseOf>
std::vector<std::uint64_t> unclear_after(int windows, UseOf use_of) {
  ZonePower zone;
  for (int i = 0; i < windows; ++i) {
    const bool idle = i < 60;
    const auto [first, second] = idle ? std::pair(0.0, 0.0) : use_of(i);
    divide(zone, using_cpus({first, second}), 20 + 0.01 * (i % 7) + 5 * first + 9 * second);
  }
  std::vector<std::uint64_t> workloads;
  for (const auto& unclear : zone.unclear()) {
    workloads.push_back(unclear.workload);
    EXPECT_GT(unclear.relative_sd, 0.15);
  }
  return workloads;
}

TEST(ZonePower, WorkloadsThatNeverVaryAreUnclear) {
  const auto steady = [](int) { return std::pair(1.0, 1.5); };
  EXPECT_EQ(unclear_after(3600, steady), (std::vector<std::uint64_t>{2, 1})) << "the largest first";
  EXPECT_TRUE(unclear_after(500, steady).empty()) << "they may vary yet";
}

TEST(ZonePower, WorkloadsThatVaryTogetherAreUnclear) {
  EXPECT_EQ(unclear_after(3600,
                          [](int i) {
                            const double both = 0.5 + 0.1 * (i / 30 % 10);
                            return std::pair(both, 1.2 * both);
                          })
                .size(),
            2u);
}

TEST(ZonePower, WorkloadsThatVaryAreClear) {
  EXPECT_TRUE(unclear_after(3600, [](int i) {
                return std::pair(0.3 + 0.1 * (i / 30 % 10), 0.3 + 0.1 * (i / 70 % 10));
              }).empty());
}

// 20 W idle, then 5, 9 and 1 W per CPU. Here, the first two always use the same; on the other package, they
// do not.
TEST(ZonePower, WhatIsKnownOnAnotherPackageIsUsed) {
  ZonePower other, alone, together;
  const auto watts = [](double first, double second, double third) {
    return 20 + 5 * first + 9 * second + third;
  };
  for (int i = 0; i < 3600; ++i) {
    const bool idle = i < 60;
    const double first = idle ? 0 : 0.3 + 0.1 * (i / 30 % 10), second = idle ? 0 : 0.3 + 0.1 * (i / 70 % 10);
    const double third = idle ? 0 : 0.3 + 0.1 * (i / 20 % 10);
    divide(other, using_cpus({first, second, third}), watts(first, second, third));
    const WindowFixture same = using_cpus({first, first, third});
    alone.learn(same.window(), same.activity(), watts(first, first, third));
    const LearnedPowers powers = other.powers();
    together.learn(same.window(), same.activity(), watts(first, first, third), std::span(&powers, 1));
  }
  const WindowFixture last = using_cpus({1, 1, 0});
  const double unknown = alone.divide(last.window(), last.activity(), watts(1, 1, 0)).share[1];
  const double known = together.divide(last.window(), last.activity(), watts(1, 1, 0)).share[1];
  EXPECT_NEAR(unknown, 0.5, 0.02);
  EXPECT_NEAR(known, 9.0 / 14, 0.05);
}

TEST(ZonePower, WhoIsAwakePaysForTheHostBeingAwake) {
  ZonePower zone;
  std::mt19937 random(3);
  std::uniform_real_distribution<double> use(0.2, 2);
  const auto at_a_fixed_frequency = [](const std::vector<double>& uses) {
    WindowFixture f = using_cpus(uses);
    f.khz.assign(f.khz.size(), 3e6);
    return f;
  };
  // 20 W idle, 20 W awake, 5 W a CPU: most of it is drawn by being awake.
  for (int i = 0; i < 3600; ++i) {
    const double first = i % 5 == 0 ? 0 : use(random), second = i % 5 == 0 ? 0 : use(random);
    divide(zone, at_a_fixed_frequency({first, second}), i % 5 == 0 ? 20 : 40 + 5 * (first + second));
  }
  const PowerDivision& division = divide(zone, at_a_fixed_frequency({2, 0.5}), 40 + 12.5);
  EXPECT_NEAR(division.idle_watts, 20, 1);
  EXPECT_GT(division.share[1], 0.5 / 2.5);  // more than by CPU time
  EXPECT_NEAR(total(division.awake), 20 / 32.5, 0.03);
}

TEST(ZonePower, OnlyWhatIsSurelyDrawnByBeingAwakeIsDividedAsSuch) {
  ZonePower zone(ZoneKind::kProcessor, 1);
  for (int i = 0; i < 60; ++i) divide(zone, using_cpus({0}), 20);
  // 20 W idle, 20 W awake, 5 W a CPU.
  for (int i = 0; i < 600; ++i) {
    const double use = 1 + 0.25 * (i / 20 % 6);
    const double awake = total(divide(zone, using_cpus({use}), 40 + 5 * use).awake);
    const double constant = zone.learned().value(PowerFilter::kAwake);
    ASSERT_GT(constant, 0);
    const double sure = constant - std::sqrt(zone.learned().variance(PowerFilter::kAwake));
    ASSERT_LE(awake, std::max(0.0, sure) / constant) << i;
  }
}

TEST(ZonePower, TheIdlePowerIsNeverMoreThanThePower) {
  ZonePower zone;
  for (int i = 0; i < 100; ++i) divide(zone, using_cpus({1}), 60);
  EXPECT_LE(divide(zone, using_cpus({1}), 1).idle_watts, 1);
  EXPECT_EQ(divide(zone, using_cpus({1}), 0).idle_watts, 0);
}

TEST(ZonePower, ADivisionAloneTeachesNothing) {
  ZonePower zone;
  for (int i = 0; i < 100; ++i) divide(zone, using_cpus({1, 2}), 60);
  const double idle = zone.learned().value(PowerFilter::kIdle);
  const WindowFixture f = using_cpus({1, 2});
  EXPECT_NEAR(total(zone.divide(f.window(), f.activity(), 500).share), 1, 1e-9);
  EXPECT_EQ(zone.learned().value(PowerFilter::kIdle), idle);
}

TEST(ZonePower, SaysHowItKnowsTheIdlePower) {
  ZonePower zone;
  EXPECT_EQ(zone.idle_knowledge(), IdleKnowledge::kLearning);
  for (int i = 0; i < 100; ++i) divide(zone, using_cpus({2}), 60);
  EXPECT_EQ(zone.idle_knowledge(), IdleKnowledge::kExtrapolated);
  for (int i = 0; i < 20; ++i) divide(zone, using_cpus({0.01}), 20);
  EXPECT_EQ(zone.idle_knowledge(), IdleKnowledge::kBase);
  WindowFixture f = using_cpus({2});
  f.seconds = 10;
  for (int i = 0; i < 8641; ++i) divide(zone, f, 60);
  EXPECT_EQ(zone.idle_knowledge(), IdleKnowledge::kAged);
  EXPECT_EQ(idle_knowledge_name(zone.idle_knowledge()), "aged");
}

TEST(ZonePower, OnceSeenIdleADayOfLoadDoesNotMoveTheIdlePower) {
  ZonePower zone;
  for (int i = 0; i < 60; ++i) divide(zone, using_cpus({0.01}), 20);
  for (int i = 0; i < 8640; ++i) {
    WindowFixture f = using_cpus({2.0 + i % 2});
    f.seconds = 10;
    divide(zone, f, 45 + 5 * (i % 2));
  }
  EXPECT_NEAR(zone.learned().value(PowerFilter::kIdle), 20, 20 * 0.1);
}

// A host that is never idle, of a law that the model does not have. `load(window)`: of two workloads.
template <class Load>
void run_never_idle(ZonePower& zone, int windows, Load load, double idle = 20) {
  for (int i = 0; i < windows; ++i) {
    const double all = load(i);
    const double first = all * (0.3 + 0.04 * (i / 50 % 10));
    WindowFixture f = using_cpus({first, all - first});
    f.seconds = 5;
    divide(zone, f, idle + 18 * std::pow(all, 0.6) + 0.1 * (i % 5));
  }
}

TEST(ZonePower, NeverSeenIdleTheIdlePowerIsLearnedFromNewLoadsOnly) {
  ZonePower zone;
  const auto idle = [&] { return zone.learned().value(PowerFilter::kIdle); };
  const auto usual = [](int i) { return 2.5 + 0.15 * (i / 20 % 8); };
  run_never_idle(zone, 1200, usual);
  const double learned = idle();
  run_never_idle(zone, 3600, usual);
  EXPECT_NEAR(idle(), learned, 0.04 * learned);
  // As if half of the idle power had not been there at all.
  run_never_idle(
      zone, 600, [](int i) { return 2.4 - 0.001 * i; }, 10);
  EXPECT_GT(std::abs(idle() - learned), 0.1 * learned);
}

TEST(ZonePower, NeverSeenIdleARestartDoesNotMakeTheIdlePowerLearnedAgain) {
  ZonePower before;
  const auto usual = [](int i) { return 2.5 + 0.15 * (i / 20 % 8); };
  run_never_idle(before, 1200, usual);
  const double learned = before.memory()->unseen.learned;
  ZonePower after;
  after.restore(*before.memory());
  // Other errors of the model, which would be taken for idle power.
  for (int i = 20; i < 820; ++i) {
    const double all = usual(i);
    WindowFixture f = using_cpus({0.7 * all, 0.3 * all});
    f.seconds = 5;
    divide(after, f, 20 + 18 * std::pow(all, 0.6) + 0.8 * (i / 20 % 8));
  }
  EXPECT_NEAR(after.learned().value(PowerFilter::kIdle), learned, 0.03 * learned + 1e-9);
  EXPECT_EQ(after.idle_knowledge(), IdleKnowledge::kExtrapolated);
}

TEST(ZonePower, ARestartAtAnotherLoadDoesNotChangeThePowerOfACpu) {
  const auto run = [](ZonePower& zone, double all) {
    WindowFixture f = using_cpus({0.6 * all, 0.4 * all});
    const double frequency = std::exp(-0.1 * all);  // of four cores; relative
    f.khz.assign(f.khz.size(), 3.6e6 * frequency);
    divide(zone, f, 20 + (all > 0 ? 5 : 0) + 8 * all * std::pow(frequency, 1.5));
  };
  ZonePower before(ZoneKind::kProcessor, 1);
  for (int i = 0; i < 60; ++i) run(before, 0);
  for (int i = 0; i < 7200; ++i) run(before, 0.5 + 0.5 * (i / 10 % 8));
  ZonePower after(ZoneKind::kProcessor, 1);
  after.restore(*before.memory());
  const double learned = before.learned().value(PowerFilter::kPerCpu);
  for (int i = 0; i < 10; ++i) run(after, 4);
  EXPECT_NEAR(after.learned().value(PowerFilter::kPerCpu), learned, 0.03 * learned);
}

TEST(ZonePower, ErrorsAreLargerOfWorkloadsThatAlwaysRunTogether) {
  ZonePower apart, together;
  std::mt19937 random(3);
  std::uniform_real_distribution<double> use(0, 2);
  for (int i = 0; i < 1800; ++i) {
    const double first = i % 5 == 0 ? 0.005 : use(random), second = i % 5 == 0 ? 0.005 : use(random);
    divide(apart, using_cpus({first, second}), 20 + 4 * first + 8 * second);
    divide(together, using_cpus({first, first}), 20 + 12 * first);
  }
  const double known = divide(apart, using_cpus({1, 1}), 32).relative_sd[0];
  const double unknown = divide(together, using_cpus({1, 1}), 32).relative_sd[0];
  EXPECT_GT(known, 0.08);
  EXPECT_GT(unknown, 1.5 * known);
}

TEST(ZonePower, NumbersStayFiniteWhateverComes) {
  ZonePower zone;
  std::mt19937 random(11);
  std::uniform_real_distribution<double> any(0, 1);
  for (int i = 0; i < 1000; ++i) {
    std::vector<double> uses(random() % 100);
    for (double& use : uses) use = any(random) < 0.5 ? 0 : 8 * any(random) / static_cast<double>(uses.size());
    WindowFixture f = using_cpus(uses);
    f.seconds = std::exp(10 * any(random) - 5);
    for (double& khz : f.khz) khz = any(random) < 0.5 ? 0 : 1e7 * any(random);
    const double watts = any(random) < 0.1 ? 0 : std::exp(20 * any(random) - 10);
    const PowerDivision& division = divide(zone, f, watts);
    EXPECT_GE(division.idle_watts, 0);
    EXPECT_LE(division.idle_watts, watts);
    for (std::size_t g = 0; g < uses.size(); ++g) {
      ASSERT_TRUE(division.share[g] >= 0 && division.share[g] <= 1 + 1e-9) << i;
      ASSERT_TRUE(std::isfinite(division.relative_sd[g])) << i;
    }
  }
}

}  // namespace
}  // namespace keplerd
