// SPDX-License-Identifier: Apache-2.0
// What the hardware counts divides energy where it is known, and the rest is divided as it was before.
#include "attribution/group_count_model.h"

#include <cmath>
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "attribution/attributor.h"
#include "attribution/invariants.h"
#include "attribution/make_model.h"
#include "attribution/number_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

Microjoules whole_joules(std::int64_t number) { return {number * 1'000'000}; }

// Two packages and their memories. A slice with two services, one of which has a group below it; another
// service; a process outside any group.
class Counts : public testing::Test {
 protected:
  explicit Counts(const ModelRules& rules = {})
      : host({package_zone(0), dram_zone(0), dram_zone(1)}), attributor(make_model(rules)) {
    attributor.set_zones(host.zones());
    slice = host.add_group();
    stream = host.add_group(slice);
    below = host.add_group(stream);
    spin = host.add_group(slice);
    other = host.add_group();
    for (const int group : {stream, below, spin, other, NumberHost::kRoot})
      processes.push_back(host.add_process(group));
    attributor.attribute(host.sample());
  }

  using OfGroups = std::vector<std::pair<int, std::int64_t>>;
  // What is counted in the next window: of the memory of this die, and of the cores of the first one.
  void traffic(int die, std::int64_t all, const OfGroups& groups) {
    counts_.push_back({{CountKind::kMemoryTraffic, die}, all, groups});
  }
  void core_energy(Microjoules all, const OfGroups& groups) {
    counted(CountKind::kCoreEnergy, all.value, groups);
  }
  void counted(CountKind kind, std::int64_t all, const OfGroups& groups) {
    counts_.push_back({{kind, 0}, all, groups});
  }
  void run(const std::vector<Nanoseconds>& times) {
    for (std::size_t i = 0; i < times.size(); ++i) host.run(processes[i], times[i]);
    host.run_ticks(100, 0);
  }
  const Attribution& window(Microjoules memory, Microjoules package = {}) {
    host.draw(package, 0);
    host.draw(memory, 1);
    host.draw(memory, 2);
    sample = host.sample();
    for (const auto& [source, all, groups] : std::exchange(counts_, {})) {
      GroupCounts& one = sample.usage.counts.emplace_back(GroupCounts{source, {all}, {}});
      for (const auto& [group, count] : groups) one.groups.push_back({host.group_index(group), {count}});
    }
    const Attribution& result = attributor.attribute(sample);
    expect_invariants(result, sample, {package, memory, memory});
    return result;
  }
  Microjoules own(const Attribution& result, int group, std::size_t zone = 1) const {
    return result.zones[zone].own[host.group_index(group)];
  }
  Microjoules whole(const Attribution& result, int group, std::size_t zone = 1) const {
    return result.zones[zone].group[host.group_index(group)];
  }

  NumberHost host;
  Attributor attributor;
  Sample sample;
  std::vector<int> processes;
  int slice = 0, stream = 0, below = 0, spin = 0, other = 0;

 private:
  struct Counted {
    CountSource source;
    std::int64_t all;
    OfGroups groups;
  };
  std::vector<Counted> counts_;
};

TEST_F(Counts, WithoutTrafficTheyAreDividedByTheModel) {
  run({100ms, 0ms, 100ms, 100ms, 100ms});
  const Attribution& result = window(whole_joules(40));
  for (const int group : {stream, spin, other}) EXPECT_EQ(own(result, group), whole_joules(10));
}

TEST_F(Counts, AMeasuredGroupHasThePartOfItsTrafficAndTheOthersDivideTheRest) {
  run({100ms, 0ms, 100ms, 200ms, 100ms});
  traffic(0, 8000, {{stream, 6000}});
  const Attribution& result = window(whole_joules(40));
  EXPECT_EQ(own(result, stream), whole_joules(30));
  EXPECT_EQ(own(result, spin), Microjoules{2'500'000});
  EXPECT_EQ(own(result, other), whole_joules(5));
  EXPECT_EQ(own(result, other, 2), Microjoules{16'000'000}) << "of the other memory, nothing is known";
}

TEST_F(Counts, AGroupIncludesThoseBelowItWhichTheModelDivides) {
  run({100ms, 300ms, 100ms, 0ms, 0ms});
  traffic(0, 100, {{stream, 80}});
  const Attribution& result = window(whole_joules(40));
  EXPECT_EQ(whole(result, stream), whole_joules(32));
  EXPECT_EQ(own(result, stream), whole_joules(8));
  EXPECT_EQ(own(result, below), whole_joules(24));
  EXPECT_EQ(own(result, spin), whole_joules(8));
}

TEST_F(Counts, AGroupThatIsMeasuredBelowAnotherOneHasItsOwnPart) {
  run({100ms, 300ms, 100ms, 0ms, 0ms});
  traffic(0, 100, {{stream, 50}, {below, 10}});
  const Attribution& result = window(whole_joules(40));
  EXPECT_EQ(own(result, stream), whole_joules(20));
  EXPECT_EQ(own(result, below), whole_joules(4));
  EXPECT_EQ(own(result, spin), whole_joules(16));
}

TEST_F(Counts, WithoutTrafficOfItsOwnAGroupHasNothing) {
  run({100ms, 0ms, 100ms, 0ms, 0ms});
  traffic(0, 100, {{stream, 0}});
  const Attribution& result = window(whole_joules(40));
  EXPECT_EQ(own(result, stream), Microjoules{});
  EXPECT_EQ(own(result, spin), whole_joules(40));
}

TEST_F(Counts, TrafficOfThoseWhoDidNotRunIsNobodys) {
  run({100ms, 0ms, 0ms, 0ms, 0ms});
  traffic(0, 100, {{stream, 50}, {other, 30}});
  const Attribution& result = window(whole_joules(40));
  EXPECT_EQ(own(result, stream), whole_joules(20));
  EXPECT_EQ(own(result, other), Microjoules{});
  EXPECT_EQ(result.zones[1].unattributed, whole_joules(20)) << "the 30 and the rest";
}

TEST_F(Counts, NoTrafficAtAllSaysNothing) {
  run({100ms, 0ms, 100ms, 0ms, 0ms});
  traffic(0, 0, {{stream, 0}});
  EXPECT_EQ(own(window(whole_joules(40)), stream), whole_joules(20));
}

TEST_F(Counts, IdleEnergyStaysWhatItWas) {
  host.run(processes[0], 250ms);
  host.run_ticks(25, 75);
  traffic(0, 100, {{stream, 100}});
  const Attribution& result = window(whole_joules(40));
  EXPECT_EQ(result.zones[1].idle, whole_joules(30));
  EXPECT_EQ(own(result, stream), whole_joules(10));
}

// The cores have drawn 24 J of the 40 J, and the rest of the processor 16 J, which the model divides.
TEST_F(Counts, AMeasuredGroupHasTheEnergyOfItsCoresAndItsPartOfTheRestOfTheProcessor) {
  run({100ms, 0ms, 100ms, 100ms, 100ms});
  core_energy(whole_joules(24), {{stream, 12'000'000}});
  const Attribution& result = window({}, whole_joules(40));
  EXPECT_EQ(own(result, stream, 0), whole_joules(12 + 4));
  for (const int group : {spin, other}) EXPECT_EQ(own(result, group, 0), whole_joules(4 + 4));
}

TEST_F(Counts, MoreEnergyOfCoresThanTheProcessorHasDrawnIsDividedAsAllOfIt) {
  run({100ms, 0ms, 100ms, 100ms, 100ms});
  core_energy(whole_joules(80), {{stream, 40'000'000}, {spin, 10'000'000}});
  const Attribution& result = window({}, whole_joules(40));
  EXPECT_EQ(own(result, stream, 0), whole_joules(20));
  EXPECT_EQ(own(result, spin, 0), whole_joules(5));
  EXPECT_EQ(own(result, other, 0), Microjoules{7'500'000});
}

TEST_F(Counts, EnergyOfCoresSaysNothingOfMemory) {
  run({100ms, 0ms, 100ms, 100ms, 100ms});
  core_energy(whole_joules(24), {{stream, 24'000'000}});
  EXPECT_EQ(own(window(whole_joules(40), whole_joules(40)), stream, 1), whole_joules(10));
}

// The model itself, with weights of another one: two groups and no kernel, of which the second one has none,
// because it ran on other processors than those of this memory.
class WeightsOfTraffic : public testing::Test {
 protected:
  void apply(Nanoseconds time_of_second) {
    own = {100ms, time_of_second};
    usage.groups = {{.path = "/a"}, {.path = "/b"}};
    usage.counts = {{.source = {}, .all = {1000}, .groups = {{0, {250}}, {1, {750}}}}};
    contenders = {.own = own, .own_since = own, .outside = {}, .process = {}};
    weighing = {.idle = {}, .contenders = weights, .process = {}, .other = {}, .relative_sd = deviations};
    weighing.idle_relative_sd = 0.2;
    model.begin(usage, contenders);
    model.apply({.zone = dram_zone(0), .energy = {1000}, .ticks = {}}, weighing);
  }

  std::vector<std::int64_t> weights{0, 500, 0};
  std::vector<double> deviations{0, 0.5, 0};
  std::vector<Nanoseconds> own;
  UsageSample usage;
  Contenders contenders;
  Weighing weighing;
  GroupCountModel model;
};

TEST_F(WeightsOfTraffic, AreThoseOfProcessorsOnlyThatAMeterMeasures) {
  own = {100ms, 0ms};
  usage.groups = {{.path = "/a"}, {.path = "/b"}};
  usage.counts = {{.source = {CountKind::kCoreEnergy, 0}, .all = {1000}, .groups = {{0, {250}}}}};
  weighing = {.idle = {}, .contenders = weights, .process = {}, .other = {}};
  contenders = {.own = own, .own_since = own, .outside = {}, .process = {}};
  model.begin(usage, contenders);
  const auto changes = [&](const std::string& name, Quality quality) {
    Zone zone = package_zone(0);
    zone.name = name;
    zone.quality = quality;
    weighing.contenders = weights;
    model.apply({.zone = zone, .energy = {1000}, .ticks = {}}, weighing);
    return weighing.contenders.data() != weights.data();
  };
  EXPECT_TRUE(changes("package", Quality::kMeasured));
  EXPECT_TRUE(changes("core", Quality::kModelled));
  for (const char* const name : {"uncore", "psys"}) EXPECT_FALSE(changes(name, Quality::kMeasured)) << name;
  for (const Quality quality : {Quality::kEstimated, Quality::kSimulated, Quality::kAttributed})
    EXPECT_FALSE(changes("package", quality));
}

TEST_F(WeightsOfTraffic, AreThoseOfAGroupThatRanOnOtherProcessors) {
  apply(100ms);
  EXPECT_EQ(weighing.contenders[2], 3 * weighing.contenders[1]);
  EXPECT_EQ(weighing.nobody, 0);
}

TEST_F(WeightsOfTraffic, AreNobodysIfItDidNotRunAtAll) {
  apply(0ms);
  EXPECT_EQ(weighing.contenders[2], 0);
  EXPECT_EQ(weighing.nobody, 3 * weighing.contenders[1]);
}

TEST_F(WeightsOfTraffic, AreAsUncertainAsTheIdlePower) {
  apply(100ms);
  for (const std::size_t group : {1, 2})
    EXPECT_DOUBLE_EQ(weighing.relative_sd[group], std::hypot(kTrafficSd, 0.2));
}

class CountsByCpuTime : public Counts {
 protected:
  CountsByCpuTime() : Counts(kKeplerRules) {}
};

TEST_F(CountsByCpuTime, WhoeverAsksForCpuTimeGetsIt) {
  run({100ms, 0ms, 300ms, 0ms, 0ms});
  traffic(0, 100, {{stream, 100}});
  EXPECT_EQ(own(window(whole_joules(40)), stream), whole_joules(10));
}

TEST_F(CountsByCpuTime, CacheMissesSayNothingEither) {
  run({100ms, 0ms, 300ms, 0ms, 0ms});
  counted(CountKind::kCacheMisses, 100, {{stream, 100}});
  EXPECT_EQ(own(window(whole_joules(40)), stream), whole_joules(10));
}

TEST_F(Counts, CacheMissesDivideMemoryOfWhichTheTrafficIsNotKnown) {
  run({100ms, 0ms, 100ms, 100ms, 100ms});
  counted(CountKind::kCacheMisses, 100, {{stream, 80}});
  EXPECT_EQ(own(window(whole_joules(40)), stream), whole_joules(32));
  run({100ms, 0ms, 100ms, 100ms, 100ms});
  traffic(0, 100, {{stream, 50}});
  counted(CountKind::kCacheMisses, 100, {{stream, 80}});
  EXPECT_EQ(own(window(whole_joules(40)), stream), whole_joules(20)) << "traffic knows better";
}

TEST_F(Counts, InstructionsAndCyclesDivideNothingUnlessTheRulesSaySo) {
  run({100ms, 0ms, 100ms, 100ms, 100ms});
  counted(CountKind::kInstructions, 100, {{stream, 100}});
  counted(CountKind::kCycles, 100, {{stream, 100}});
  EXPECT_EQ(own(window({}, whole_joules(40)), stream, 0), whole_joules(10));
}

class CountsByInstructions : public Counts {
 protected:
  CountsByInstructions()
      : Counts({.split = ModelRules::Split::kUsageRatio, .share = ModelRules::Share::kInstructions}) {}
};

TEST_F(CountsByInstructions, TheyDivideAllActiveEnergyAndCpuTimeTheRest) {
  run({100ms, 0ms, 100ms, 300ms, 0ms});
  counted(CountKind::kInstructions, 1000, {{stream, 600}});
  counted(CountKind::kCycles, 1000, {{stream, 100}});
  core_energy(whole_joules(40), {{stream, 1}});
  const Attribution& result = window({}, whole_joules(40));
  EXPECT_EQ(own(result, stream, 0), whole_joules(24));
  EXPECT_EQ(own(result, spin, 0), whole_joules(4));
  EXPECT_EQ(own(result, other, 0), whole_joules(12));
  EXPECT_EQ(attributor.model().in_force(), (RulesInForce{"usage-ratio", "instructions"}));
}

TEST_F(CountsByInstructions, WhoeverHardlyRanIsNotChargedWithWhatAnIdleCpuHasExecuted) {
  run({99ms, 0ms, 1ms, 0ms, 0ms});
  counted(CountKind::kInstructions, 1000, {{stream, 500}});
  const Attribution& result = window({}, whole_joules(40));
  EXPECT_EQ(own(result, stream, 0), whole_joules(20));
  EXPECT_EQ(own(result, spin, 0), whole_joules(4)) << "ten times as much as all on average";
  EXPECT_EQ(result.zones[0].unattributed, whole_joules(16));
}

TEST_F(CountsByInstructions, WithoutThemItIsCpuTimeAndSaysSo) {
  run({100ms, 0ms, 300ms, 0ms, 0ms});
  EXPECT_EQ(own(window({}, whole_joules(40)), stream, 0), whole_joules(10));
  EXPECT_EQ(attributor.model().in_force(), (RulesInForce{"usage-ratio", "cpu-time"}));
}

class CountsByCycles : public Counts {
 protected:
  CountsByCycles() : Counts({.share = ModelRules::Share::kCycles}) {}
};

TEST_F(CountsByCycles, TheyDivideAllActiveEnergy) {
  run({100ms, 0ms, 100ms, 300ms, 0ms});
  counted(CountKind::kInstructions, 1000, {{stream, 600}});
  counted(CountKind::kCycles, 1000, {{stream, 100}});
  EXPECT_EQ(own(window({}, whole_joules(40)), stream, 0), whole_joules(4));
  EXPECT_EQ(attributor.model().in_force().share, "cycles");
}

// The traffic of those who ran is charged to them exactly, to a microjoule for each that shares it.
TEST_F(Counts, PartsFollowTheTrafficAndSumsAreExactWhateverItIs) {
  std::mt19937 random(24);
  const auto below_most = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most - 1)(random);
  };
  for (int i = 0; i < 300; ++i) {
    std::vector<Nanoseconds> times;
    for (int k = 0; k < 5; ++k) times.emplace_back(below_most(3) == 0 ? 0 : 1 + below_most(900'000'000));
    run(times);
    const std::int64_t a = below_most(std::int64_t{1} << below_most(50)), b = below_most(1 + 2 * a),
                       rest = below_most(1 + a + b);
    traffic(0, a + b + rest, {{stream, a}, {spin, b}});
    const Microjoules energy{1 + below_most(100'000'000)};
    const Attribution& result = window(energy);
    if (a + b + rest == 0 || (times[0] == 0ns && times[1] == 0ns) || times[2] == 0ns) continue;
    const auto part = [&](std::int64_t bytes) {
      return static_cast<double>(energy.value) * static_cast<double>(bytes) /
             static_cast<double>(a + b + rest);
    };
    EXPECT_NEAR(static_cast<double>(whole(result, stream).value), part(a), 3);
    EXPECT_NEAR(static_cast<double>(whole(result, spin).value), part(b), 2);
  }
}

TEST(GroupCountModel, AMeasuredPartIsKnownAsWellAsTrafficIs) {
  UsageSample usage;
  for (std::size_t i = 0; i < 3; ++i) usage.groups.push_back({.incarnation = i + 1, .path = "/a"});
  usage.groups[1].parent = 0;
  usage.counts = {{.source = {}, .all = {100}, .groups = {{.group = 0, .count = {60}}}}};
  const std::vector<Nanoseconds> own(3);
  GroupCountModel model;
  const Contenders contenders{.own = own};
  model.begin(usage, contenders);
  const std::vector<std::int64_t> weights{0, 30, 10, 40};
  const std::vector<double> sd{0, 0.4, 0.8, 0.5};
  Weighing weighing{.idle = {}, .contenders = weights, .process = {}, .other = {}, .relative_sd = sd};
  model.apply({.zone = dram_zone(0), .energy = {1000}, .ticks = {}}, weighing);
  ASSERT_EQ(weighing.relative_sd.size(), 4U);
  EXPECT_DOUBLE_EQ(weighing.relative_sd[1], std::hypot(0.1, 0.1));
  EXPECT_DOUBLE_EQ(weighing.relative_sd[2], std::hypot(0.1, 0.6));
  EXPECT_DOUBLE_EQ(weighing.relative_sd[3], 0.5);
}

// Half of the energy is counted; of the rest, only the model knows something.
TEST(GroupCountModel, WhatIsNotCountedIsAsUncertainAsTheModel) {
  UsageSample usage;
  for (std::size_t i = 0; i < 2; ++i) usage.groups.push_back({.incarnation = i + 1, .path = "/a"});
  usage.counts = {
      {.source = {CountKind::kCoreEnergy, 0}, .all = {500}, .groups = {{.group = 0, .count = {250}}}}};
  const std::vector<Nanoseconds> own(2);
  GroupCountModel model;
  const Contenders contenders{.window = 1s, .own = own};
  model.begin(usage, contenders);
  const std::vector<std::int64_t> weights{0, 50, 50};
  const std::vector<double> sd{0, 0.4, 0.4};
  Weighing weighing{.idle = {}, .contenders = weights, .process = {}, .other = {}, .relative_sd = sd};
  model.apply({.zone = package_zone(0), .energy = {1000}, .span = 1s, .ticks = {}}, weighing);
  ASSERT_EQ(weighing.relative_sd.size(), 3U);
  EXPECT_DOUBLE_EQ(weighing.relative_sd[1], std::hypot(0.5 * kCoreEnergySd, 0.5 * 0.4));
  EXPECT_DOUBLE_EQ(weighing.relative_sd[2], 0.4);
}

}  // namespace
}  // namespace keplerd
