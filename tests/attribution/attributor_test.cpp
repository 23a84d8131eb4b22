// SPDX-License-Identifier: Apache-2.0
// The division of one window, with numbers only.
#include "attribution/attributor.h"

#include <gtest/gtest.h>

#include "attribution/invariants.h"
#include "attribution/make_model.h"
#include "attribution/number_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using Energies = std::vector<Microjoules>;

constexpr std::int64_t kRange = 262'143'328'850;

// A host that was sampled once.
class AttributorTest : public testing::Test {
 protected:
  explicit AttributorTest(std::vector<Zone> zones = {package_zone()}) : host(std::move(zones)) {
    attributor.set_zones(host.zones());
  }

  void begin() { attributor.attribute(host.sample()); }

  // The next window, in which the zones are known to have drawn `deltas`.
  const Attribution& window(const Energies& deltas, Nanoseconds after = 1s) {
    sample = host.sample(after);
    const Attribution& result = attributor.attribute(sample);
    expect_invariants(result, sample, deltas);
    return result;
  }

  Microjoules process(const Attribution& result, int process, std::size_t zone = 0) const {
    return result.zones[zone].process[host.process_index(process)];
  }

  NumberHost host;
  Attributor attributor{make_model()};
  Sample sample;
};

class TwoPackages : public AttributorTest {
 protected:
  TwoPackages() : AttributorTest({package_zone(0), package_zone(1), dram_zone(0), dram_zone(1)}) {}
};

TEST_F(AttributorTest, DividesByOwnTimeAndByProcess) {
  const int slice = host.add_group();
  const int unit = host.add_group(slice);
  const int busy = host.add_process(unit);
  const int idle = host.add_process(unit);
  const int in_slice = host.add_process(slice);
  begin();
  host.run(busy, 300ms);
  host.run(in_slice, 100ms);
  host.run_group(unit, 100ms);  // exited ones
  host.run_ticks(50, 50);
  host.draw({20'000'000});
  const Attribution& result = window({{20'000'000}});
  const ZoneAttribution& zone = result.zones[0];
  EXPECT_EQ(zone.idle, Microjoules{10'000'000});
  EXPECT_EQ(zone.unattributed, Microjoules{});
  EXPECT_EQ(zone.group[host.group_index(slice)], Microjoules{10'000'000});
  EXPECT_EQ(zone.own[host.group_index(slice)], Microjoules{2'000'000});
  EXPECT_EQ(zone.own[host.group_index(unit)], Microjoules{8'000'000});
  EXPECT_EQ(zone.other[host.group_index(unit)], Microjoules{2'000'000});
  EXPECT_EQ(process(result, busy), Microjoules{6'000'000});
  EXPECT_EQ(process(result, idle), Microjoules{});
  EXPECT_EQ(result.group_time[host.group_index(slice)], 500ms);
  EXPECT_EQ(result.process_time[host.process_index(busy)], 300ms);
  EXPECT_EQ(result.window, 1s);
  EXPECT_EQ(zone.span, 1s);
}

TEST_F(AttributorTest, FirstSampleIsABaseline) {
  host.run(host.add_process(host.add_group()), 10s);
  host.draw({5'000'000});
  const Attribution& result = window({{}});
  EXPECT_FALSE(result.zones[0].read);
  EXPECT_EQ(result.window, 0s);
}

TEST_F(AttributorTest, ProcessOutsideAnyGroupIsAContender) {
  const int unit = host.add_group();
  const int loose = host.add_process();
  begin();
  host.run_group(unit, 100ms);
  host.run(loose, 300ms);
  host.run_ticks(10, 0);
  host.draw({4'000'000});
  const Attribution& result = window({{4'000'000}});
  EXPECT_EQ(process(result, loose), Microjoules{3'000'000});
  EXPECT_EQ(result.zones[0].own[0], Microjoules{1'000'000});
}

TEST_F(AttributorTest, KernelThreadsOutsideGroupsAreTheKernel) {
  const int vm = host.add_group();
  const int kthread = host.add_process(NumberHost::kRoot, NumberHost::Kind::kKernelThread);
  const int vhost = host.add_process(vm, NumberHost::Kind::kKernelThread);
  begin();
  host.run(kthread, 100ms);
  host.run(vhost, 300ms);
  host.run_ticks(10, 0);
  host.draw({4'000'000});
  const Attribution& result = window({{4'000'000}});
  EXPECT_EQ(result.zones[0].kernel, Microjoules{1'000'000});
  EXPECT_EQ(process(result, kthread), Microjoules{});
  EXPECT_EQ(process(result, vhost), Microjoules{3'000'000});  // the VM's
}

TEST_F(AttributorTest, InterruptsAreTheKernelsOnlyWhereTheyAreKeptApart) {
  const int process = host.add_process();
  begin();
  host.run(process, 300ms);
  host.run_ticks(40, 0, 10);
  host.draw({4'000'000});
  EXPECT_EQ(window({{4'000'000}}).zones[0].kernel, Microjoules{});
  host.keep_interrupts_apart();
  host.run(process, 300ms);
  host.run_ticks(40, 0, 10);  // 100 ms
  host.draw({4'000'000});
  EXPECT_EQ(window({{4'000'000}}).zones[0].kernel, Microjoules{1'000'000});
}

TEST_F(AttributorTest, GarbageInStatDoesNotOverflow) {
  host.keep_interrupts_apart();
  const int process = host.add_process();
  begin();
  host.run(process, 1s);
  host.run_ticks(std::int64_t{1} << 57, 0, std::int64_t{1} << 56);
  host.draw({4'000'000});
  window({{4'000'000}});
  host.run_ticks(-(std::int64_t{1} << 57), 0, -(std::int64_t{1} << 56));  // and back
  host.draw({4'000'000});
  window({{4'000'000}});
}

TEST_F(AttributorTest, WindowWithoutActivityIsUnattributed) {
  host.add_process(host.add_group());
  begin();
  host.run_ticks(30, 70);
  host.draw({10'000'000});
  const ZoneAttribution& zone = window({{10'000'000}}).zones[0];
  EXPECT_EQ(zone.unattributed, Microjoules{3'000'000});
  EXPECT_EQ(zone.idle, Microjoules{7'000'000});
}

TEST_F(AttributorTest, NothingIsUnattributedWhereSomebodyRan) {
  const int process = host.add_process(host.add_group());
  begin();
  host.run(process, 1ns);
  host.run_ticks(100, 0);
  host.draw({999'999'999});
  EXPECT_EQ(window({{999'999'999}}).zones[0].unattributed, Microjoules{});
}

TEST_F(AttributorTest, ProcessThatCameFromAnotherGroupWeighsNothing) {
  const int from = host.add_group();
  const int to = host.add_group();
  const int mover = host.add_process(from);
  const int stayer = host.add_process(to);
  begin();
  host.run(mover, 400ms);
  host.move_process(mover, to);
  host.run(mover, 100ms);
  host.run(stayer, 100ms);
  host.run_ticks(60, 0);
  host.draw({6'000'000});
  const Attribution& result = window({{6'000'000}});
  EXPECT_EQ(result.zones[0].other[host.group_index(from)], Microjoules{4'000'000});
  EXPECT_EQ(result.zones[0].other[host.group_index(to)], Microjoules{1'000'000});
  EXPECT_EQ(process(result, mover), Microjoules{});
  EXPECT_EQ(process(result, stayer), Microjoules{1'000'000});
  host.run(mover, 100ms);
  host.run_ticks(10, 0);
  host.draw({1'000'000});
  EXPECT_EQ(process(window({{1'000'000}}), mover), Microjoules{1'000'000});
}

TEST_F(AttributorTest, ProcessThatMovesInAndOutOfGroupsAtTheTopWeighsNothing) {
  const int unit = host.add_group();
  const int mover = host.add_process();
  begin();
  host.run(mover, 400ms);
  host.move_process(mover, unit);
  host.run_ticks(40, 60);
  host.draw({1'000'000});
  EXPECT_EQ(window({{1'000'000}}).zones[0].unattributed, Microjoules{400'000});
}

TEST_F(AttributorTest, ProcessesAboveTheirGroupsTimeAreScaledDown) {
  const int unit = host.add_group();
  const int a = host.add_process(unit);
  const int b = host.add_process(unit);
  begin();
  host.run(a, 300ms);
  host.run(b, 100ms);
  host.skew(unit, 200ms);  // read before they ran on
  host.run_ticks(40, 0);
  host.draw({4'000'000});
  const Attribution& result = window({{4'000'000}});
  EXPECT_EQ(process(result, a), Microjoules{3'000'000});
  EXPECT_EQ(process(result, b), Microjoules{1'000'000});
  EXPECT_EQ(result.zones[0].other[0], Microjoules{});
}

TEST_F(AttributorTest, ReadingSkewBetweenParentAndChildIsCarriedOver) {
  const int slice = host.add_group();
  const int unit = host.add_group(slice);
  begin();
  host.run_group(unit, 100ms);
  host.skew(slice, 30ms);
  host.run_ticks(10, 0);
  host.draw({1'000'000});
  EXPECT_EQ(window({{1'000'000}}).zones[0].own[host.group_index(slice)], Microjoules{});
  host.run_group(slice, 10ms);
  host.run_group(unit, 100ms);
  host.run_ticks(11, 0);
  host.draw({1'100'000});
  const Attribution& result = window({{1'100'000}});
  EXPECT_EQ(result.zones[0].own[host.group_index(slice)], Microjoules{100'000});
  EXPECT_EQ(result.zones[0].own[host.group_index(unit)], Microjoules{1'000'000});
}

TEST_F(AttributorTest, WindowWithoutATickTakesTheLastRatio) {
  const int process = host.add_process();
  begin();
  host.run(process, 250ms);
  host.run_ticks(25, 75);
  host.draw({4'000'000});
  window({{4'000'000}});
  host.run(process, 1ms);
  host.draw({4'000});
  EXPECT_EQ(window({{4'000}}, 2ms).zones[0].idle, Microjoules{3'000});
}

TEST_F(AttributorTest, BeforeAnyTickAllIsIdle) {
  begin();
  host.draw({4'000});
  EXPECT_EQ(window({{4'000}}, 2ms).zones[0].idle, Microjoules{4'000});
}

TEST_F(AttributorTest, IowaitThatDecreasesKeepsTheSum) {
  const int process = host.add_process(host.add_group());
  begin();
  host.run(process, 400ms);
  host.run_ticks(40, -10);
  host.draw({4'000'000});
  EXPECT_EQ(window({{4'000'000}}).zones[0].idle, Microjoules{});
  host.run(process, 100ms);
  host.run_ticks(10, -30);
  host.draw({4'000'000});
  EXPECT_EQ(window({{4'000'000}}).zones[0].idle, Microjoules{});
  host.run_ticks(0, -30);
  host.draw({4'000'000});
  window({{4'000'000}});
}

TEST_F(TwoPackages, WrapInOneAndResetInAnother) {
  const int process = host.add_process(host.add_group());
  host.set_counter({kRange - 30'000'000}, 0);
  host.set_counter({100'000'000'000}, 1);
  begin();
  host.run(process, 500ms);
  host.run_ticks(50, 50);
  host.draw({50'000'000}, 0);  // wraps
  host.set_counter({5}, 1);
  host.draw({3'000'000}, 2);
  host.draw({2'000'000}, 3);
  const Attribution& result = window({{50'000'000}, {}, {3'000'000}, {2'000'000}});
  EXPECT_TRUE(result.zones[0].read);
  EXPECT_FALSE(result.zones[1].read);
  EXPECT_EQ(result.zones[1].verdict, StepVerdict::kReset);
  EXPECT_EQ(this->process(result, process, 0), Microjoules{25'000'000});
  EXPECT_EQ(this->process(result, process, 2), Microjoules{1'500'000});
  host.draw({50'000'000}, 1);
  window({{}, {50'000'000}, {}, {}});  // the reset was the new baseline
}

TEST_F(TwoPackages, ZoneThatFailsForThreeTicksIsCountedWhenItReturns) {
  const int process = host.add_process(host.add_group());
  begin();
  for (int tick = 0; tick < 3; ++tick) {
    host.fail(true, 1);
    host.draw({10'000'000}, 0);
    host.draw({20'000'000}, 1);
    host.run(process, 500ms);
    host.run_ticks(50, 50);
    const Attribution& result = window({{10'000'000}, {}, {}, {}});
    EXPECT_TRUE(result.zones[0].read);
    EXPECT_FALSE(result.zones[1].read);
    EXPECT_EQ(result.zones[1].span, 0s);
  }
  host.fail(false, 1);
  host.draw({10'000'000}, 0);
  host.draw({20'000'000}, 1);
  host.run(process, 900ms);
  host.run_ticks(90, 10);
  const Attribution& result = window({{10'000'000}, {80'000'000}, {}, {}});
  EXPECT_EQ(result.zones[1].span, 4s);
  EXPECT_EQ(result.zones[0].span, 1s);
  // Split by the span that it covers: 240 ticks of 400 were busy.
  EXPECT_EQ(result.zones[1].idle, Microjoules{32'000'000});
  EXPECT_EQ(result.zones[0].idle, Microjoules{1'000'000});
  EXPECT_EQ(result.zones[1].unattributed, Microjoules{});
}

TEST_F(TwoPackages, ImpossibleStepIsDiscardedInItsZoneOnly) {
  const int process = host.add_process();
  begin();
  host.run(process, 1s);
  host.run_ticks(100, 0);
  host.draw({5'000'000'001}, 0);
  host.draw({5'000'000}, 1);
  const Attribution& result = window({{}, {5'000'000}, {}, {}});
  EXPECT_EQ(result.zones[0].verdict, StepVerdict::kImpossible);
}

TEST_F(TwoPackages, NothingIsCountedAcrossASuspend) {
  const int process = host.add_process();
  begin();
  host.run(process, 1s);
  host.run_ticks(100, 0);
  for (std::size_t zone = 0; zone < 4; ++zone) host.draw({5'000'000}, zone);
  host.suspend(1h);
  const Attribution& result = window({{}, {}, {}, {}});
  for (const ZoneAttribution& zone : result.zones) EXPECT_EQ(zone.verdict, StepVerdict::kSuspended);
  host.draw({5'000'000}, 0);
  host.run(process, 1s);
  EXPECT_EQ(window({{5'000'000}, {}, {}, {}}).zones[0].verdict, StepVerdict::kCounted);
}

TEST_F(TwoPackages, SuspendWhileAZoneFailedIsSeenWhenItReturns) {
  begin();
  host.fail(true, 0);
  host.suspend(1h);
  window({{}, {}, {}, {}});
  host.fail(false, 0);
  host.draw({5'000'000}, 0);
  const Attribution& result = window({{}, {}, {}, {}});
  EXPECT_EQ(result.zones[0].verdict, StepVerdict::kSuspended);
  EXPECT_EQ(result.zones[1].verdict, StepVerdict::kCounted);
}

TEST_F(AttributorTest, ClocksReadOneAfterTheOtherAreNotASuspend) {
  begin();
  host.suspend(9ms);
  host.draw({5'000'000});
  EXPECT_EQ(window({{5'000'000}}).zones[0].verdict, StepVerdict::kCounted);
}

TEST_F(AttributorTest, AmbiguousWrapIsNotCounted) {
  begin();
  host.draw({5'000'000});
  EXPECT_EQ(window({{}}, 10min).zones[0].verdict, StepVerdict::kAmbiguous);
}

class Resumed : public AttributorTest {
 protected:
  // Readings of a run that ended ten seconds before the first sample.
  std::vector<SavedReading> saved(Microjoules counter) {
    return {{package_zone().id, counter, 1h - 9s, 1h - 9s}, {"test:gone:0", {5}, 1h, 1h}};
  }
};

TEST_F(Resumed, WhatWasDrawnInBetweenIsUnattributed) {
  attributor.set_zones(host.zones(), saved({970'000'000}));
  host.run(host.add_process(host.add_group()), 500ms);
  const Attribution& result = window({{30'000'000}});
  EXPECT_EQ(result.zones[0].unattributed, Microjoules{30'000'000});
  EXPECT_EQ(result.zones[0].idle, Microjoules{});
  EXPECT_EQ(result.zones[0].span, 10s);
  host.draw({1'000'000});
  EXPECT_EQ(window({{1'000'000}}).zones[0].unattributed, Microjoules{});
}

TEST_F(Resumed, WrapInBetweenIsCounted) {
  host.set_counter({10'000'000});
  attributor.set_zones(host.zones(), saved({kRange - 5'000'000}));
  EXPECT_EQ(window({{15'000'000}}).zones[0].unattributed, Microjoules{15'000'000});
}

TEST_F(Resumed, ResetInBetweenIsNot) {
  host.set_counter({10'000'000});
  attributor.set_zones(host.zones(), saved({100'000'000'000}));
  EXPECT_EQ(window({{}}).zones[0].verdict, StepVerdict::kReset);
}

TEST_F(Resumed, TooLongAgoIsAmbiguous) {
  attributor.set_zones(host.zones(), saved({970'000'000}));
  EXPECT_EQ(window({{}}, 10min).zones[0].verdict, StepVerdict::kAmbiguous);
}

TEST_F(Resumed, ZoneThatFailsAtFirstIsStillResumed) {
  attributor.set_zones(host.zones(), saved({970'000'000}));
  host.fail(true);
  window({{}});
  host.fail(false);
  EXPECT_EQ(window({{30'000'000}}).zones[0].unattributed, Microjoules{30'000'000});
}

TEST_F(TwoPackages, LastReadingsAreTheLastGoodOnes) {
  EXPECT_TRUE(attributor.last_readings().empty());
  host.fail(true, 3);
  begin();
  host.fail(true, 0);
  host.draw({5'000'000}, 0);
  host.draw({5'000'000}, 1);
  window({{}, {5'000'000}, {}, {}});
  const auto readings = attributor.last_readings();
  ASSERT_EQ(readings.size(), 3U);  // zone 3 has never answered
  EXPECT_EQ(readings[0].zone, "test:package:0");
  EXPECT_EQ(readings[0].counter, Microjoules{1'000'000'000});
  EXPECT_EQ(readings[0].monotonic, 1h + 1s);
  EXPECT_EQ(readings[1].counter, Microjoules{1'005'000'000});
  EXPECT_EQ(readings[1].monotonic, 1h + 2s);
}

TEST(UndividedZone, IsUnattributedAndItsSumHolds) {
  Zone platform = package_zone(1);
  platform.in_total = false;
  platform.resource = Resource::kNone;
  NumberHost host({package_zone(), platform});
  const int process = host.add_process(host.add_group());
  Attributor attributor{make_model()};
  attributor.set_zones(host.zones());
  attributor.attribute(host.sample());
  host.run(process, std::chrono::milliseconds(500));
  host.run_ticks(50, 50);
  host.draw({10'000'000}, 0);
  host.draw({90'000'000}, 1);
  const Attribution& result = attributor.attribute(host.sample());
  EXPECT_EQ(result.zones[0].group[0], Microjoules{5'000'000});
  EXPECT_EQ(result.zones[1].energy, Microjoules{90'000'000});
  EXPECT_EQ(result.zones[1].unattributed, Microjoules{90'000'000});
  EXPECT_EQ(result.zones[1].idle, Microjoules{0});
  for (const Microjoules group : result.zones[1].group) EXPECT_EQ(group, Microjoules{0});
}

TEST(ChangedZones, GoOnWithThoseThatStay) {
  NumberHost host({package_zone(0), package_zone(1)});
  Attributor attributor{make_model()};
  attributor.set_zones({package_zone(0)});
  auto sample = host.sample();
  sample.readings.pop_back();
  attributor.attribute(sample);
  attributor.change_zones(host.zones());
  host.draw({3'000'000}, 0);
  host.draw({7'000'000}, 1);
  const Attribution& first = attributor.attribute(host.sample());
  EXPECT_EQ(first.zones[0].energy, Microjoules{3'000'000});
  EXPECT_EQ(first.zones[1].energy, Microjoules{0}) << "its baseline";
  host.draw({7'000'000}, 1);
  EXPECT_EQ(attributor.attribute(host.sample()).zones[1].energy, Microjoules{7'000'000});
}

TEST_F(AttributorTest, NewZonesStartOver) {
  begin();
  host.draw({5'000'000});
  attributor.set_zones(host.zones());
  EXPECT_FALSE(window({{}}).zones[0].read);
}

TEST_F(AttributorTest, GroupBornSinceCountsWhollyAndOneThatEndedIsItsParents) {
  const int slice = host.add_group();
  const int dying = host.add_group(slice);
  begin();
  const int born = host.add_group(slice);
  host.run_group(born, 100ms);
  host.run_group(dying, 300ms);
  host.remove_group(dying);
  host.run_ticks(40, 0);
  host.draw({4'000'000});
  const Attribution& result = window({{4'000'000}});
  EXPECT_EQ(result.zones[0].own[host.group_index(slice)], Microjoules{3'000'000});
  EXPECT_EQ(result.zones[0].own[host.group_index(born)], Microjoules{1'000'000});
}

TEST_F(AttributorTest, GroupThatIsBornAndEndsBetweenTwoSamplesIsItsParents) {
  const int slice = host.add_group();
  begin();
  const int brief = host.add_group(slice);
  host.run_group(brief, 300ms);
  host.remove_group(brief);
  host.run_ticks(30, 0);
  host.draw({3'000'000});
  EXPECT_EQ(window({{3'000'000}}).zones[0].other[host.group_index(slice)], Microjoules{3'000'000});
}

}  // namespace
}  // namespace keplerd
