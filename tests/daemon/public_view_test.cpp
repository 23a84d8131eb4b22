// SPDX-License-Identifier: Apache-2.0
// What callers without full access see of a sample.
#include <gmock/gmock.h>

#include "daemon/access_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(Public, TheEndOfOnesOwnMachineIsReportedThoughItIsNoLongerKept) {
  tick(1s, {1'000'000});
  ReportMaker report(2s, {1'000'000}, 2);
  std::erase_if((*report).vms, [](const VmRow& row) { return row.info->id == "by-process"; });
  access.sample(std::move(report));
  EXPECT_EQ(seen_in(seen()).vms, (std::vector<std::string>{"in-slice"}));
  EXPECT_EQ(seen_in(seen()).events, (std::vector<std::string>{"by-process", "in-slice"}));
}

TEST_F(Public, KeplerdItselfHasNoEnergyAndTheCpuTimeBetweenPublicTicks) {
  const auto tick_with = [&](Nanoseconds time, Nanoseconds cpu) {
    ReportMaker report(time);
    (*report).own_cost = {
        .cpu = cpu, .window_cpu = 1ms, .memory = 4096, .energy = Microjoules{5}, .power = {{6}}};
    access.sample(std::move(report));
  };
  tick_with(1s, 10ms);
  tick_with(1500ms, 14ms);
  tick_with(2s, 19ms);
  const OwnCost& cost = seen()->own_cost;
  EXPECT_EQ(cost.cpu, 19ms);
  EXPECT_EQ(cost.window_cpu, 9ms);
  EXPECT_EQ(cost.memory, 4096);
  EXPECT_FALSE(cost.energy);
  EXPECT_FALSE(cost.power);
}

TEST_F(Public, TheBusyShareIsThatBetweenPublicTicks) {
  const auto tick_with = [&](Nanoseconds time, std::int64_t busy, std::int64_t idle) {
    ReportMaker report(time);
    (*report).host.ticks = {.busy = busy, .idle = idle};
    (*report).host.cpu = {.busy = 1ms, .all = 1ms};
    access.sample(std::move(report));
  };
  tick_with(1s, 100, 900);
  EXPECT_FALSE(seen()->host.cpu) << "one tick is no window";
  tick_with(1500ms, 150, 900);
  tick_with(2s, 160, 940);
  ASSERT_TRUE(seen()->host.cpu);
  EXPECT_EQ(seen()->host.cpu->busy, 600ms);
  EXPECT_EQ(seen()->host.cpu->all, 1s);
}

TEST_F(Public, EnergyIsInStepsOfATenthOfAJoule) {
  access.set_rule(PublicAccess::kAll);
  tick(1s, {1'234'567});
  const Sight sight = seen();
  const Report& report = *sight;
  // Of 1234567, 411522 are idle and 823045 active.
  const auto expect_floored = [](const auto& row) {
    EXPECT_EQ(row.active, Microjoules{800'000});
    EXPECT_EQ(row.idle, Microjoules{400'000});
  };
  expect_floored(report.host);
  EXPECT_EQ(report.host.energy, Microjoules{1'200'000});
  for (const ZoneRow& zone : report.zones) {
    expect_floored(zone);
    EXPECT_EQ(zone.energy, Microjoules{1'200'000});
  }
  for (const UnitRow& row : report.units) {
    expect_floored(row);
    EXPECT_EQ(row.own, Microjoules{1'200'000});
    EXPECT_EQ(row.other, Microjoules{1'200'000});
    EXPECT_TRUE(row.zones.empty());
  }
  for (const VmRow& row : report.vms) {
    expect_floored(row);
    EXPECT_TRUE(row.parts.empty());
    EXPECT_TRUE(row.zones.empty());
  }
  for (const auto* rows : {&report.containers, &report.pods}) {
    for (const ContainerRow& row : *rows) {
      expect_floored(row);
      EXPECT_EQ(row.own, Microjoules{1'200'000});
      EXPECT_EQ(row.other, Microjoules{1'200'000});
      EXPECT_EQ(row.in_parent, Microjoules{1'200'000});
      EXPECT_TRUE(row.zones.empty());
    }
  }
  for (const ProcessRow& row : sight.rows_of_processes()) {
    expect_floored(row);
    EXPECT_EQ(row.in_unit, Microjoules{1'200'000});
    EXPECT_TRUE(row.zones.empty());
  }
  EXPECT_EQ(report.accounts.workloads, Microjoules{}) << "hidden, even inside";
  EXPECT_EQ(report.outside_other, Microjoules{});
  EXPECT_EQ(report.outside_containers, Microjoules{});
}

TEST_F(Public, PowerFollowsFromTheRoundedEnergiesOverThePublicWindow) {
  tick(1s, {299'999});
  EXPECT_EQ(seen()->host.power, std::nullopt) << "one tick is no window";
  EXPECT_EQ(seen()->window, 0ns);
  tick(3s, {900'000});
  const Sight sight = seen();
  const Report& report = *sight;
  EXPECT_EQ(report.window, 2s);
  // Idle 99999 and then 300000, active 200000 and then 600000.
  EXPECT_EQ(report.host.power, Microwatts{350'000});
  EXPECT_EQ(report.host.idle_power, Microwatts{150'000});
  EXPECT_EQ(report.host.active_power, Microwatts{200'000});
  EXPECT_EQ(report.units.front().power, Microwatts{350'000});
  EXPECT_EQ(sight.rows_of_processes().front().power, Microwatts{350'000});
}

TEST_F(Public, EnergyWithinAStepYieldsNoPower) {
  tick(1s, {300'000});
  seen();
  tick(2s, {330'000});
  EXPECT_EQ(seen()->host.power, Microwatts{0});
  EXPECT_EQ(seen().rows_of_processes().front().power, Microwatts{0});
}

TEST_F(Public, NewRowsStartFromZero) {
  ReportMaker first(1s);
  first.processes().rows.erase(first.processes().rows.begin());
  access.sample(std::move(first));
  seen();
  tick(2s, {300'000});
  EXPECT_EQ(seen().rows_of_processes().front().power, Microwatts{300'000});
}

TEST_F(Public, ProcessesHaveNoPowerUnlessBothTicksHaveReadThemAll) {
  tick(1s, {300'000});
  seen();
  ReportMaker incomplete(2s, {600'000});
  incomplete.processes().is_complete = false;
  access.sample(std::move(incomplete));
  EXPECT_EQ(seen().rows_of_processes().front().power, std::nullopt);
  tick(3s, {900'000});
  EXPECT_EQ(seen().rows_of_processes().front().power, std::nullopt) << "it would be that of several ticks";
  EXPECT_EQ(seen()->units.front().power, Microwatts{300'000});
  tick(4s, {1'200'000});
  EXPECT_EQ(seen().rows_of_processes().front().power, Microwatts{300'000});
}

TEST_F(Public, WithoutEveryZoneOfTheTotalThereIsNoPower) {
  tick(1s, {});
  ReportMaker failed(2s, {3'000'000});
  (*failed).zones[0].problem = "cannot be read";
  access.sample(std::move(failed));
  EXPECT_EQ(seen()->host.power, std::nullopt);
  EXPECT_EQ(seen()->units.front().power, std::nullopt);
  ReportMaker more(3s, {3'000'000});
  (*more).zones.push_back((*more).zones[0]);
  access.sample(std::move(more));
  EXPECT_EQ(seen()->host.power, std::nullopt) << "the other zone is not known over the whole window";
  ReportMaker none(4s, {3'000'000});
  (*none).zones.clear();
  access.sample(std::move(none));
  EXPECT_EQ(seen()->host.power, std::nullopt);
}

}  // namespace
}  // namespace keplerd
