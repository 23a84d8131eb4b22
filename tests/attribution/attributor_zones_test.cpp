// SPDX-License-Identifier: Apache-2.0
// What a window takes from the counters of the zones, with numbers only.
#include <gtest/gtest.h>

#include "attribution/attributor.h"
#include "attribution/attributor_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kRange = 262'143'328'850;

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

TEST_F(Resumed, WhatWasDrawnInBetweenIsDividedIfCpuUsageIsKnown) {
  const int process = host.add_process(host.add_group());
  const Instant before = host.sample().at;
  for (const Nanoseconds off : {1s, 0s}) {
    attributor = Attributor(make_model());
    attributor.resume({.monotonic = before.monotonic, .boottime = before.boottime});
    const auto read = before.monotonic - off;
    attributor.set_zones(host.zones(),
                         std::vector{SavedReading{package_zone().id, {970'000'000}, read, read}});
    host.run(process, 500ms);
    const Attribution& result = window({{30'000'000}}, off == 0s ? 0s : 10s);
    EXPECT_EQ(result.window, 10s);
    EXPECT_EQ(result.zones[0].unattributed, Microjoules{off == 0s ? 0 : 30'000'000}) << "not of that sample";
  }
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

}  // namespace
}  // namespace keplerd
