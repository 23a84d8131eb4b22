// SPDX-License-Identifier: Apache-2.0
// How keplerd divides by what it has learned, as seen from outside: samples in, energies out.
#include "attribution/learned_model.h"

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "attribution/attributor.h"
#include "attribution/invariants.h"
#include "attribution/make_model.h"
#include "attribution/small_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

// 20 W idle; `a` draws 5 W a CPU and `b` 15 W. Idle for the first minute, then both by chance.
struct TwoServices {
  explicit TwoServices(const ModelRules& rules = {}, std::vector<Zone> zones = {package()})
      : host(std::move(zones), rules), a(host.add("/a.service")), b(host.add("/b.service")) {}

  void learn(int windows, Nanoseconds window = 1s) {
    for (int i = 0; i < windows; ++i) {
      const bool is_idle = i < windows / 10;
      run(is_idle ? 0.01 : use(random), is_idle ? 0.01 : use(random), window);
    }
  }
  const Attribution& run(double of_a, double of_b, Nanoseconds window = 1s) {
    host.run(a, of_a, window);
    host.run(b, of_b, window);
    host.draw(20 + 5 * of_a + 15 * of_b, window);
    return host.sample(window);
  }

  SmallHost host;
  std::size_t a, b;
  std::mt19937 random{1};
  std::uniform_real_distribution<double> use{0.1, 1.9};
};

struct Learned : TwoServices, ::testing::Test {};
struct Floor : TwoServices, ::testing::Test {
  Floor() : TwoServices({.split = ModelRules::Split::kBaseline, .share = ModelRules::Share::kCpuTime}) {}
};
struct Kepler : TwoServices, ::testing::Test {
  Kepler() : TwoServices(kKeplerRules) {}
};

TEST_F(Learned, IdleAndThePowerOfEachWorkloadAreFound) {
  learn(1200);
  const Attribution& division = run(1, 1);
  EXPECT_NEAR(joules(division.zones[0].idle), 20, 1);
  EXPECT_NEAR(joules(division.zones[0].group[a]), 5, 1);
  EXPECT_NEAR(joules(division.zones[0].group[b]), 15, 1);
  EXPECT_TRUE(division.bounds_errors);
}

TEST_F(Learned, TheErrorHoldsTheTruth) {
  learn(1200);
  const ZoneAttribution& zone = run(1, 1).zones[0];
  EXPECT_LE(std::abs(joules(zone.group[a]) - 5), joules(zone.group_errors()[a]));
  EXPECT_LE(std::abs(joules(zone.group[b]) - 15), joules(zone.group_errors()[b]));
  EXPECT_LT(zone.group_errors()[b], zone.group[b]);
}

TEST_F(Learned, RulesInForceAreThoseOfTheModel) {
  EXPECT_EQ(host.attributor.model().in_force(), RulesInForce{});
  learn(10);
  EXPECT_EQ(host.attributor.model().in_force(), (RulesInForce{"baseline", "learned"}));
}

TEST_F(Learned, SumsAreExactWhateverHappens) {
  std::uniform_int_distribution<int> chance(0, 9);
  const std::vector<Nanoseconds> windows{10ms, 100ms, 400ms, 1s, 1s, 1s, 5s, 9s, 30s, 600s};
  for (int i = 0; i < 2000; ++i) {
    const Nanoseconds window = windows[static_cast<std::size_t>(chance(random))];
    const double of_a = chance(random) == 0 ? 0 : use(random), of_b = chance(random) < 3 ? 0 : use(random);
    host.has_cpus = chance(random) != 0;
    const ZoneAttribution& zone = run(of_a, of_b, window).zones[0];
    EXPECT_EQ(zone.idle + zone.kernel + zone.own[a] + zone.own[b] + zone.unattributed, zone.energy);
    EXPECT_GE(zone.idle, Microjoules{});
    EXPECT_TRUE(of_a > 0 || zone.own[a] == Microjoules{});
    EXPECT_TRUE(of_b > 0 || zone.own[b] == Microjoules{});
  }
}

TEST_F(Learned, ShortWindowsTeachTogether) {
  learn(12'000, 100ms);
  const Attribution& division = run(1, 1);
  EXPECT_NEAR(joules(division.zones[0].idle), 20, 1.5);
  EXPECT_NEAR(joules(division.zones[0].group[b]), 15, 1.5);
}

TEST_F(Learned, WindowsThatAreTooLongTeachNothing) {
  learn(50, 30s);
  EXPECT_EQ(host.attributor.model().in_force(), RulesInForce{});
  EXPECT_FALSE(run(1, 1, 30s).bounds_errors);
}

TEST_F(Learned, WithoutCpusTheRulesAreKeplers) {
  host.has_cpus = false;
  learn(100);
  EXPECT_EQ(host.attributor.model().in_force(), RulesInForce{});
}

TEST_F(Learned, GoesOnInAnotherRun) {
  learn(1200);
  const auto saved = host.attributor.model().save();
  TwoServices again;
  again.host.attributor.model().restore(saved);
  again.run(1, 1);  // the first sample
  const Attribution& division = again.run(1, 1);
  EXPECT_NEAR(joules(division.zones[0].idle), 20, 1);
  EXPECT_NEAR(joules(division.zones[0].group[a]), 5, 1.5);
  EXPECT_NEAR(joules(division.zones[0].group[b]), 15, 1.5);
  ASSERT_EQ(again.host.attributor.model().states().size(), 1U);
  EXPECT_EQ(again.host.attributor.model().states()[0].knowledge, IdleKnowledge::kBase);
}

// Its per-CPU times are those since the first sample, not since the window began.
TEST_F(Learned, NothingIsLearnedOfTheTimeBetweenTwoRuns) {
  learn(1200);
  const auto saved = host.attributor.model().save();
  const auto idle_after = [&](double watts, Nanoseconds gap) {
    SmallHost other;
    const std::size_t unit = other.add("/a.service");
    other.attributor.model().restore(saved);
    other.attributor.resume({});
    other.attributor.set_zones({package()}, std::vector{SavedReading{.zone = package().id, .counter = {}}});
    other.run(unit, 1, gap);
    other.draw(watts, gap);
    EXPECT_GT(other.sample(gap).zones[0].idle, Microjoules{});
    for (int i = 0; i < 20; ++i) {
      other.run(unit, 1, 100ms);
      other.draw(25, 100ms);
      other.sample(100ms);
    }
    return other.attributor.model().states().at(0).figures->idle;
  };
  for (const Nanoseconds gap : {Nanoseconds(100ms), Nanoseconds(1s)})
    EXPECT_EQ(idle_after(25, gap), idle_after(200, gap));
}

TEST_F(Learned, WhatASavedZoneKnowsIsKeptUntilTheZoneIsSeen) {
  learn(100);
  const auto saved = host.attributor.model().save();
  SmallHost other({package(1)});
  other.attributor.model().restore(saved);
  other.sample();
  EXPECT_EQ(other.attributor.model().save().size(), 1U);
}

TEST_F(Floor, IdleIsLearnedAndTheRestGoesByCpuTime) {
  learn(1200);
  const Attribution& division = run(1, 1);
  EXPECT_NEAR(joules(division.zones[0].idle), 20, 1);
  EXPECT_NEAR(joules(division.zones[0].group[a]), joules(division.zones[0].group[b]), 1.5e-6);
  EXPECT_EQ(host.attributor.model().in_force(), (RulesInForce{"baseline", "cpu-time"}));
  EXPECT_FALSE(division.bounds_errors);
}

TEST_F(Kepler, NothingIsLearned) {
  learn(200);
  const ZoneAttribution& zone = run(1, 1).zones[0];
  EXPECT_EQ(zone.idle, Microjoules{20'000'000});  // two of four CPUs were busy
  EXPECT_EQ(zone.group[a], zone.group[b]);
  EXPECT_EQ(zone.group_errors()[a], zone.group[a]);  // not known
  EXPECT_TRUE(host.attributor.model().states().empty());
}

TEST(LearnedZones, OnlyCountersOfProcessorsAndMemoryTeach) {
  Zone zone = package();
  EXPECT_TRUE(learns_from(zone));
  zone.quality = Quality::kModelled;
  EXPECT_TRUE(learns_from(zone));
  for (const Quality quality : {Quality::kAttributed, Quality::kEstimated, Quality::kSimulated}) {
    zone.quality = quality;
    EXPECT_FALSE(learns_from(zone)) << quality_name(quality);
  }
  zone = package();
  zone.in_total = false;
  EXPECT_FALSE(learns_from(zone));
  zone = package();
  zone.name = "psys";
  EXPECT_FALSE(learns_from(zone));
  zone = package();
  zone.resource = Resource::kGpu;
  EXPECT_FALSE(learns_from(zone));
  zone.resource = Resource::kDram;
  EXPECT_TRUE(learns_from(zone));
}

TEST(LearnedZones, AConfiguredIdlePowerIsUsedFromTheStart) {
  TwoServices host({.idle_power = Microwatts{20'000'000}});
  std::uniform_real_distribution<double> use(1, 1.9);
  for (int i = 0; i < 300; ++i) host.run(use(host.random), use(host.random));
  EXPECT_NEAR(joules(host.run(1, 1).zones[0].idle), 20, 1);
  EXPECT_EQ(host.host.attributor.model().states()[0].knowledge, IdleKnowledge::kBase);
}

TEST(WorkloadPath, IsThatOfTheUnitContainerOrVm) {
  EXPECT_EQ(workload_path("/system.slice/cron.service"), "/system.slice/cron.service");
  EXPECT_EQ(workload_path("/system.slice/web.service/worker/1"), "/system.slice/web.service");
  EXPECT_EQ(workload_path("/user.slice/user-1000.slice/user@1000.service/app.slice/firefox.scope"),
            "/user.slice/user-1000.slice/user@1000.service/app.slice/firefox.scope");
  const std::string vm = "/machine.slice/machine-qemu\\x2d6\\x2dcirros.scope";
  EXPECT_EQ(workload_path(vm + "/libvirt/emulator"), vm);
  const std::string container =
      "/system.slice/docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope";
  EXPECT_EQ(workload_path(container + "/system.slice/nginx.service"), container);
  EXPECT_EQ(workload_path("/odd"), "/odd");
}

TEST(WorkloadKeys, AYoungGroupCountsForItsParent) {
  UsageSample sample;
  sample.groups = {{.incarnation = 1, .path = "/a.slice"}};
  WorkloadKeys keys;
  std::vector<std::uint64_t> found;
  keys.find(sample, 1s, found);
  sample.groups.push_back({.incarnation = 2, .parent = 0, .path = "/a.slice/b.service"});
  keys.find(sample, 1s, found);
  EXPECT_EQ(found[1], found[0]);
  for (int i = 0; i < 60; ++i) keys.find(sample, 1s, found);
  EXPECT_NE(found[1], found[0]);
  const std::uint64_t old = found[1];
  sample.groups[1].incarnation = 3;  // restarted
  for (int i = 0; i < 62; ++i) keys.find(sample, 1s, found);
  EXPECT_EQ(found[1], old);
  EXPECT_EQ(keys.path_of(old), "/a.slice/b.service");
}

TEST(WorkloadKeys, GroupsOfTheFirstSampleAreOld) {
  UsageSample sample;
  sample.groups = {{.incarnation = 1, .path = "/a.slice"},
                   {.incarnation = 2, .parent = 0, .path = "/a.slice/b.service"}};
  WorkloadKeys keys;
  std::vector<std::uint64_t> found;
  keys.find(sample, 1s, found);
  EXPECT_NE(found[1], found[0]);
}

TEST(WorkloadKeys, AFloodOfGroupsLeavesABoundedMemory) {
  WorkloadKeys keys;
  std::vector<std::uint64_t> found;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const std::string path = "/" + std::to_string(i) + ".service";
    UsageSample sample;
    sample.groups = {{.incarnation = i + 1, .path = path}};
    keys.find(sample, 1s, found);
  }
  EXPECT_EQ(keys.path_of(1), "");
}

}  // namespace
}  // namespace keplerd
