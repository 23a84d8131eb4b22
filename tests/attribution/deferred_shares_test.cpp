// SPDX-License-Identifier: Apache-2.0
// Groups whose processes are not read with each sample. That nothing is lost whatever happens:
// random_test.cpp.
#include "attribution/deferred_shares.h"

#include <gtest/gtest.h>

#include "attribution/attributor.h"
#include "attribution/invariants.h"
#include "attribution/make_model.h"
#include "attribution/number_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

// One zone, and CPUs that are never idle: all energy is active.
class DeferredSharesTest : public testing::Test {
 protected:
  DeferredSharesTest() {
    attributor_.set_zones(host_.zones());
    window({});
  }

  // What ran in the window, and what it drew.
  const ZoneAttribution& window(Microjoules energy) {
    host_.run_ticks(100, 0);
    host_.draw(energy);
    sample_ = host_.sample();
    const Attribution& result = attributor_.attribute(sample_);
    expect_exact_sums(result, sample_, {energy});
    deferred_.window(result, sample_);
    return result.zones[0];
  }

  NumberHost host_;
  Attributor attributor_{make_model()};
  Sample sample_;
  ExpectDeferred deferred_;
  int group_ = host_.add_group(), neighbour_ = host_.add_group();
  int one_ = host_.add_process(group_), two_ = host_.add_process(group_);
};

TEST_F(DeferredSharesTest, GroupIsExactWithEachSampleAndItsEnergyIsPutOff) {
  host_.read_processes(group_, false);
  host_.run(one_, 300ms);
  host_.run_group(neighbour_, 100ms);
  const ZoneAttribution& zone = window({4'000'000});
  EXPECT_EQ(zone.own[host_.group_index(group_)], Microjoules{3'000'000});
  EXPECT_EQ(zone.put_off[host_.group_index(group_)], Microjoules{3'000'000});
  EXPECT_EQ(zone.other[host_.group_index(group_)], Microjoules{});
  EXPECT_EQ(zone.own[host_.group_index(neighbour_)], Microjoules{1'000'000});
  EXPECT_EQ(zone.other[host_.group_index(neighbour_)], Microjoules{1'000'000});
}

TEST_F(DeferredSharesTest, IsDividedByWhatEachHasUsedSinceItWasLastRead) {
  host_.read_processes(group_, false);
  host_.run(one_, 300ms);
  window({4'000'000});
  host_.run(two_, 500ms);
  window({2'000'000});
  host_.read_processes(group_, true);
  host_.run(one_, 100ms);
  host_.run_group(group_, 100ms);  // by a process that has ended
  const ZoneAttribution& zone = window({1'000'000});
  const std::size_t one = host_.process_index(one_), two = host_.process_index(two_);
  const std::size_t group = host_.group_index(group_);
  EXPECT_EQ(zone.late[one], Microjoules{2'400'000});
  EXPECT_EQ(zone.late[two], Microjoules{3'000'000});
  EXPECT_EQ(zone.late_other[group], Microjoules{600'000});
  EXPECT_EQ(zone.process[one], Microjoules{400'000});
  EXPECT_EQ(zone.process[two], Microjoules{500'000});
  EXPECT_EQ(zone.other[group], Microjoules{100'000});
}

TEST_F(DeferredSharesTest, IsDividedEvenIfTheZoneCannotBeReadThen) {
  host_.read_processes(group_, false);
  host_.run(one_, 300ms);
  window({4'000'000});
  host_.read_processes(group_, true);
  host_.fail(true);
  host_.run_ticks(100, 0);
  sample_ = host_.sample();
  const ZoneAttribution& zone = attributor_.attribute(sample_).zones[0];
  EXPECT_FALSE(zone.read);
  EXPECT_EQ(zone.late[host_.process_index(one_)], Microjoules{4'000'000});
}

TEST_F(DeferredSharesTest, WithoutAProcessThatRanItIsOther) {
  host_.read_processes(group_, false);
  host_.run(one_, 300ms);
  window({4'000'000});
  host_.end_process(one_);
  host_.read_processes(group_, true);
  EXPECT_EQ(window({}).late_other[host_.group_index(group_)], Microjoules{4'000'000});
}

TEST_F(DeferredSharesTest, OtherZonesGetNothingOfIt) {
  host_.read_processes(group_, false);
  host_.run(one_, 300ms);
  window({4'000'000});
  attributor_.change_zones({dram_zone()});
  deferred_.change_zones();
  host_.read_processes(group_, true);
  Sample sample = host_.sample();
  EXPECT_TRUE(attributor_.attribute(sample).zones[0].late_group.empty());
}

TEST_F(DeferredSharesTest, GroupThatEndsTakesItAlong) {
  host_.read_processes(group_, false);
  host_.run(one_, 300ms);
  window({4'000'000});
  host_.remove_group(group_);
  EXPECT_TRUE(window({1'000'000}).late_group.empty());
  EXPECT_TRUE(window({1'000'000}).late_group.empty());
}

}  // namespace
}  // namespace keplerd
