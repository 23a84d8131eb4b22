// SPDX-License-Identifier: Apache-2.0
// Graphics cards are divided by the time that their engines worked for processes, and by nothing else.
#include "attribution/device_model.h"

#include <random>

#include <gtest/gtest.h>

#include "attribution/attributor.h"
#include "attribution/invariants.h"
#include "attribution/make_model.h"
#include "attribution/number_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

constexpr Microjoules kJoule{1'000'000};
constexpr char kCard[] = "0000:03:00.0", kOther[] = "0000:04:00.0";

Microjoules joules(std::int64_t number) { return {number * kJoule.value}; }

Zone card_zone(const std::string& name, int index, const std::string& address) {
  return {.id = zone_id("test", name, index),
          .name = name,
          .index = index,
          .resource = Resource::kGpu,
          .device = address};
}

// A package; two zones of one card, and another card. A service with two processes, an empty one, and a
// process outside any group.
class Cards : public testing::Test {
 protected:
  Cards()
      : host({package_zone(), card_zone("gpu", 0, kCard), card_zone("gpu-memory", 0, kCard),
              card_zone("gpu", 1, kOther)}) {
    attributor.set_zones(host.zones());
    slice = host.add_group();
    service = host.add_group(slice);
    idle_service = host.add_group();
    a = host.add_process(service);
    b = host.add_process(service);
    outside = host.add_process();
    attributor.attribute(host.sample());
  }

  struct Use {
    int group = NumberHost::kRoot, process = 0;  // 0: none
    Nanoseconds time{0};
  };

  // Of the next window.
  void use(const std::string& address, const std::vector<Use>& uses) { uses_.emplace_back(address, uses); }

  // Draws these energies, in the order of the zones.
  const Attribution& window(const std::vector<Microjoules>& energies, Nanoseconds after = 1s) {
    for (std::size_t zone = 0; zone < energies.size(); ++zone) host.draw(energies[zone], zone);
    sample = host.sample(after);
    for (const auto& [address, uses] : std::exchange(uses_, {})) {
      DeviceUsage& device = sample.usage.devices.emplace_back(DeviceUsage{address, {}});
      for (const Use& use : uses)
        device.uses.push_back({use.group == NumberHost::kRoot ? kNoGroup : host.group_index(use.group),
                               use.process == 0 ? kNoProcess : host.process_index(use.process), use.time});
    }
    const Attribution& result = attributor.attribute(sample);
    expect_exact_sums(result, sample, energies);
    return result;
  }

  // Learns that the card draws 10 W, and its memory 2 W, while nobody uses it.
  void learn_idle() {
    for (int i = 0; i < 6; ++i) {
      use(kCard, {});
      window({{}, joules(50), joules(10), {}}, 5s);
    }
  }

  Microjoules of_process(const Attribution& result, int process, std::size_t zone = 1) const {
    return result.zones[zone].process[host.process_index(process)];
  }
  Microjoules of_group(const Attribution& result, int group, std::size_t zone = 1) const {
    return result.zones[zone].group[host.group_index(group)];
  }

  NumberHost host;
  Attributor attributor{make_model()};
  Sample sample;
  int slice = 0, service = 0, idle_service = 0, a = 0, b = 0, outside = 0;

 private:
  std::vector<std::pair<std::string, std::vector<Use>>> uses_;
};

TEST_F(Cards, WithoutUseACardIsUnattributedWhateverRuns) {
  host.run(a, 900ms);
  host.run_ticks(90, 10);
  const Attribution& result = window({joules(20), joules(100), joules(10), joules(50)});
  EXPECT_EQ(of_group(result, slice, 0), joules(18)) << "the package is divided by CPU time";
  for (std::size_t zone = 1; zone < 4; ++zone) {
    EXPECT_EQ(result.zones[zone].unattributed, result.zones[zone].energy);
    EXPECT_EQ(of_group(result, slice, zone), Microjoules{});
  }
}

TEST_F(Cards, ActiveEnergyIsOfThoseWhoUsedItThoughTheyHaveNotRun) {
  learn_idle();
  use(kCard, {{service, a, 300ms}, {service, b, 100ms}, {NumberHost::kRoot, outside, 100ms}});
  const Attribution& result = window({{}, joules(110), joules(12), joules(50)});
  EXPECT_EQ(result.zones[1].idle, joules(10));
  EXPECT_EQ(of_process(result, a), joules(60));
  EXPECT_EQ(of_process(result, b), joules(20));
  EXPECT_EQ(of_process(result, outside), joules(20));
  EXPECT_EQ(of_group(result, slice), joules(80));
  EXPECT_EQ(of_group(result, idle_service), Microjoules{});
  EXPECT_EQ(of_process(result, a, 2), joules(6)) << "its memory, by the same use";
  EXPECT_EQ(result.zones[3].unattributed, joules(50)) << "another card, of which nothing is known";
  EXPECT_EQ(result.process_time[host.process_index(a)], 0ns);
}

TEST_F(Cards, TwoCardsAreDividedEachByItsOwnUse) {
  learn_idle();
  for (int i = 0; i < 6; ++i) {
    use(kOther, {});
    window({{}, joules(50), {}, joules(25)}, 5s);
  }
  use(kCard, {{service, a, 10ms}});
  use(kOther, {{service, b, 900ms}});
  const Attribution& result = window({{}, joules(30), {}, joules(25)});
  EXPECT_EQ(of_process(result, a, 1), joules(20));
  EXPECT_EQ(of_process(result, b, 1), Microjoules{});
  EXPECT_EQ(of_process(result, b, 3), joules(20));
  EXPECT_EQ(of_process(result, a, 3), Microjoules{});
}

TEST_F(Cards, WhatEndedOrMovedIsOfItsGroupAndWhatIsNotKnownOfNobody) {
  learn_idle();
  use(kCard, {{service, 0, 300ms}, {service, a, 100ms}, {NumberHost::kRoot, 0, 100ms}});
  const Attribution& result = window({{}, joules(60), {}, {}});
  EXPECT_EQ(of_group(result, service), joules(40));
  EXPECT_EQ(result.zones[1].other[host.group_index(service)], joules(30));
  EXPECT_EQ(of_process(result, a), joules(10));
  EXPECT_EQ(result.zones[1].unattributed, joules(10));
}

TEST_F(Cards, AWindowWithoutUseIsIdle) {
  learn_idle();
  use(kCard, {});
  const Attribution& result = window({{}, joules(25), {}, {}});
  EXPECT_EQ(result.zones[1].idle, joules(25));
  EXPECT_EQ(result.zones[1].unattributed, Microjoules{});
}

TEST_F(Cards, UntilItWasSeenUnusedIdleIsTheTimeInWhichItDidNotWork) {
  use(kCard, {{service, a, 200ms}});
  EXPECT_EQ(window({{}, joules(100), {}, {}}).zones[1].idle, joules(80));
  use(kCard, {{service, a, 2000ms}, {service, b, 500ms}});
  const Attribution& result = window({{}, joules(100), {}, {}});
  EXPECT_EQ(result.zones[1].idle, Microjoules{}) << "several engines at once";
  EXPECT_EQ(of_process(result, a), joules(80));
  for (int i = 0; i < 7; ++i) {
    use(kCard, {{service, a, 50ms}});
    window({{}, joules(200), {}, {}}, 5s);
  }
  use(kCard, {{service, a, 50ms}});
  EXPECT_EQ(window({{}, joules(200), {}, {}}, 5s).zones[1].idle, joules(200))
      << "hardly used: that is its idle power";
}

TEST_F(Cards, IdleIsNeverMoreThanTheEnergy) {
  learn_idle();
  use(kCard, {{service, a, 300ms}});
  const Attribution& result = window({{}, joules(4), {}, {}});
  EXPECT_EQ(result.zones[1].idle, joules(4));
  EXPECT_EQ(of_process(result, a), Microjoules{});
}

// The counter of a window may have been read too early or too late.
TEST_F(Cards, ASingleWindowTeachesNothingAndHalfAMinuteOfThemTogether) {
  learn_idle();
  for (int i = 0; i < 29; ++i) {
    use(kCard, {});
    window({{}, joules(i % 2 == 0 ? 1 : 11), {}, {}});
  }
  use(kCard, {{service, a, 300ms}});
  EXPECT_EQ(window({{}, joules(30), {}, {}}).zones[1].idle, joules(10));
  for (int i = 0; i < 40; ++i) {
    use(kCard, {});
    window({{}, joules(i % 2 == 0 ? 1 : 11), {}, {}});
  }
  use(kCard, {{service, a, 300ms}});
  EXPECT_EQ(window({{}, joules(30), {}, {}}).zones[1].idle, joules(6));
}

TEST_F(Cards, KeplersRulesDivideThemAlike) {
  attributor.set_model(make_model(kKeplerRules));
  learn_idle();
  use(kCard, {{service, a, 300ms}});
  EXPECT_EQ(of_process(window({{}, joules(30), {}, {}}), a), joules(20));
}

TEST_F(Cards, OnesUseDoesNotChangeTheDivisionOfProcessors) {
  host.run(b, 500ms);
  host.run_ticks(50, 50);
  use(kCard, {{service, a, 900ms}, {NumberHost::kRoot, outside, 900ms}});
  const Attribution& result = window({joules(20), joules(100), {}, {}});
  EXPECT_EQ(of_process(result, b, 0), joules(10));
  EXPECT_EQ(of_process(result, a, 0), Microjoules{});
  EXPECT_EQ(of_process(result, outside, 0), Microjoules{});
}

TEST_F(Cards, SumsAreExactWhateverTheUse) {
  std::mt19937 random(7);
  const auto below = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most - 1)(random);
  };
  for (int i = 0; i < 500; ++i) {
    for (const char* address : {kCard, kOther}) {
      std::vector<Use> uses;
      for (const int process : {a, b, 0})
        if (below(2) == 0) uses.push_back({service, process, Nanoseconds(1 + below(1LL << 50))});
      if (below(2) == 0) uses.push_back({NumberHost::kRoot, outside, Nanoseconds(1 + below(1LL << 50))});
      if (below(2) == 0) uses.push_back({NumberHost::kRoot, 0, Nanoseconds(1 + below(1'000))});
      if (below(4) != 0) use(address, uses);
    }
    host.run(a, Nanoseconds(below(900'000'000)));
    host.run_ticks(below(100), below(100));
    window({Microjoules{below(90'000'000)}, Microjoules{below(3)}, Microjoules{below(500'000'000)},
            Microjoules{below(500'000'000)}});
    if (HasFailure()) return;
  }
}

TEST(IdlePower, IsTheLowestOfTheLastHourOrTwo) {
  IdlePower idle;
  const auto teach = [&](int watts, std::chrono::seconds window, int windows) {
    for (int i = 0; i < windows; ++i) idle.take(joules(watts * window.count()), window);
  };
  EXPECT_FALSE(idle.watts());
  teach(5, 10s, 3);
  EXPECT_FALSE(idle.watts()) << "a few long windows are one that may be read too early";
  teach(5, 10s, 1);
  EXPECT_EQ(idle.watts(), 5);
  teach(9, 1h, 4);
  EXPECT_EQ(idle.watts(), 5);
  teach(9, 1h, 4);
  EXPECT_EQ(idle.watts(), 9) << "a display is connected now";
  teach(4, 5s, 6);
  EXPECT_EQ(idle.watts(), 4);
}

TEST(IdlePower, IsThatOfWindowsInARowAWhileAfterUse) {
  IdlePower idle;
  for (int i = 0; i < 4; ++i) idle.take(joules(5), 5s);
  idle.interrupt();
  for (int i = 0; i < 2; ++i) idle.take(joules(900), 5s);
  for (int i = 0; i < 5; ++i) idle.take(joules(10), 5s);
  EXPECT_FALSE(idle.watts()) << "not in a row";
  idle.take(joules(10), 5s);
  EXPECT_EQ(idle.watts(), 2) << "energy that is late is of the use before";
}

}  // namespace
}  // namespace keplerd
