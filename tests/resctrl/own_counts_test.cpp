// SPDX-License-Identifier: Apache-2.0
// What each group has moved, from values of which some include others.
#include "meters/resctrl/own_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd::resctrl {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::uint64_t kDefault = 1, kVm = 2, kWeb = 3;

class OwnCountsTest : public testing::Test {
 protected:
  // Values as the kernel shows them, of one cache.
  struct Value {
    std::uint64_t id, parent;
    std::int64_t all;
  };
  Result<meters::Steps> take(const std::vector<Value>& values, Nanoseconds since_last = 1s) {
    std::vector<Group> groups;
    for (const auto& [id, parent, all] : values) {
      Group& group = groups.emplace_back(Group{.id = id, .parent = parent, .path = ""});
      if (all >= 0) {
        group.caches.emplace(0, Amount{{all}, {all / 2}});
      } else {
        group.caches.emplace(0, Error{.message = "it is Unavailable"});
      }
    }
    return counts_.take(groups, since_last);
  }
  // Two readings.
  void begin(const std::vector<Value>& values) {
    EXPECT_FALSE(take(values)) << "there is nothing before";
    EXPECT_FALSE(take(values)) << "a group may have been left out of the first one";
  }
  // -1: not known.
  static std::int64_t step(const Result<meters::Steps>& steps, std::uint64_t id) {
    return steps ? steps->at({id, 0}).all.value : -1;
  }
  OwnCounts counts_{kCounted[0]};
};

TEST_F(OwnCountsTest, IsWithoutThatOfTheGroupsInside) {
  begin({{kDefault, 0, 1000}, {kVm, kDefault, 300}, {kWeb, 0, 50}});
  const auto steps = take({{kDefault, 0, 1900}, {kVm, kDefault, 500}, {kWeb, 0, 80}});
  EXPECT_EQ(step(steps, kDefault), 700);
  EXPECT_EQ(step(steps, kVm), 200);
  EXPECT_EQ(step(steps, kWeb), 30);
  EXPECT_EQ(steps->at({kVm, 0}).local, Count{100});
}

TEST_F(OwnCountsTest, ANewGroupBeginsWithNothingWhateverItsCounterReads) {
  begin({{kDefault, 0, 1000}});
  const auto steps = take({{kDefault, 0, 901'000}, {kVm, kDefault, 900'000}});
  EXPECT_EQ(step(steps, kDefault), 0);
  EXPECT_EQ(step(steps, kVm), 0);
  EXPECT_EQ(step(take({{kDefault, 0, 901'500}, {kVm, kDefault, 900'100}}), kDefault), 400);
}

TEST_F(OwnCountsTest, AGroupThatEndsTakesItsCountFromTheOuterOne) {
  begin({{kDefault, 0, 1000}, {kVm, kDefault, 900}});
  EXPECT_EQ(step(take({{kDefault, 0, 150}}), kDefault), 50);
}

TEST_F(OwnCountsTest, NothingIsKnownWhileACounterCannotBeRead) {
  begin({{kDefault, 0, 1000}, {kVm, kDefault, 300}});
  EXPECT_EQ(take({{kDefault, 0, 1100}, {kVm, kDefault, -1}}).error().message, "it is Unavailable");
  EXPECT_EQ(counts_.problem(), "it is Unavailable");
  EXPECT_FALSE(take({{kDefault, 0, 1200}, {kVm, kDefault, 310}})) << "at both ends";
  EXPECT_EQ(counts_.problem(), "");
  EXPECT_FALSE(take({{kDefault, 0, 1250}, {kVm, kDefault, 315}})) << "and once more";
  EXPECT_EQ(step(take({{kDefault, 0, 1300}, {kVm, kDefault, 320}}), kDefault), 45);
}

TEST_F(OwnCountsTest, ACounterThatGoesBackIsAReset) {
  begin({{kDefault, 0, 1000}, {kVm, kDefault, 300}});
  EXPECT_THAT(take({{kDefault, 0, 700}, {kVm, kDefault, 0}}).error().message, HasSubstr("reset"));
  EXPECT_FALSE(take({{kDefault, 0, 900}, {kVm, kDefault, 100}})) << "and once more";
  EXPECT_EQ(step(take({{kDefault, 0, 1000}, {kVm, kDefault, 150}}), kVm), 50);
}

// The kernel leaves out a group that it failed to read, without saying so.
TEST_F(OwnCountsTest, AGroupThatWasLeftOutOfTheOuterOneIsNobodysWindfall) {
  begin({{kDefault, 0, 100'010}, {kVm, kDefault, 100'000}});
  EXPECT_FALSE(take({{kDefault, 0, 20}, {kVm, kDefault, 100'000}}));
  EXPECT_FALSE(take({{kDefault, 0, 100'030}, {kVm, kDefault, 100'000}}));
  EXPECT_EQ(step(take({{kDefault, 0, 100'040}, {kVm, kDefault, 100'000}}), kDefault), 10);
}

TEST_F(OwnCountsTest, NorOneThatWasLeftOutAtTheBeginning) {
  EXPECT_FALSE(take({{kDefault, 0, 10}, {kVm, kDefault, 100'000}}));
  EXPECT_FALSE(take({{kDefault, 0, 100'020}, {kVm, kDefault, 100'000}}));
  EXPECT_EQ(step(take({{kDefault, 0, 100'025}, {kVm, kDefault, 100'000}}), kDefault), 5);
}

TEST_F(OwnCountsTest, AnIdleOuterGroupIsReadBeforeTheBusyOneInside) {
  begin({{kDefault, 0, 1000}, {kVm, kDefault, 990}});
  auto steps = take({{kDefault, 0, 2000}, {kVm, kDefault, 2050}});
  EXPECT_EQ(step(steps, kDefault), 0);
  EXPECT_EQ(step(steps, kVm), 1060);
  steps = take({{kDefault, 0, 3100}, {kVm, kDefault, 3080}});
  EXPECT_EQ(step(steps, kDefault), 10) << "since its largest value";
}

TEST_F(OwnCountsTest, WhatNoMemoryCanMoveIsAReset) {
  begin({{kDefault, 0, 0}});
  EXPECT_FALSE(take({{kDefault, 0, std::int64_t{1} << 43}}));
}

TEST_F(OwnCountsTest, ALongPauseIsNoOverflow) {
  begin({{kDefault, 0, 100}});
  const auto steps = take({{kDefault, 0, 150}}, 40 * 24h);
  ASSERT_TRUE(steps) << steps.error().message;
  EXPECT_EQ(steps->at({kDefault, 0}).all, Count{50});
}

TEST_F(OwnCountsTest, AfterAGapItBeginsAgain) {
  begin({{kDefault, 0, 0}});
  counts_.forget();
  EXPECT_FALSE(take({{kDefault, 0, 100}}));
  EXPECT_FALSE(take({{kDefault, 0, 110}}));
  EXPECT_EQ(step(take({{kDefault, 0, 130}}), kDefault), 20);
}

TEST(OwnCountsOfEnergy, AreThoseOfPackages) {
  OwnCounts counts(kCounted[1]);
  const auto take = [&](std::int64_t microjoules) {
    Group group{.id = kVm, .path = ""};
    group.caches.emplace(0, Error{.message = "it is Unavailable"});
    group.packages.emplace(0, Amount{{microjoules}, {microjoules}});
    return counts.take({group}, 1s);
  };
  EXPECT_FALSE(take(0));
  EXPECT_FALSE(take(0));
  EXPECT_EQ(take(5'000'000)->at({kVm, 0}).all, Count{5'000'000});
  EXPECT_FALSE(take(5'000'000 + 200'000'000'000)) << "200 kW are those of no package";
}

}  // namespace
}  // namespace keplerd::resctrl
