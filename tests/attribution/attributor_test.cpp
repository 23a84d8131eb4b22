// SPDX-License-Identifier: Apache-2.0
// The division of one window, with numbers only.
#include "attribution/attributor.h"

#include <gtest/gtest.h>

#include "attribution/attributor_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

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
