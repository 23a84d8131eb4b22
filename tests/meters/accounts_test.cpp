// SPDX-License-Identifier: Apache-2.0
// What usage files state of the steps of groups.
#include "meters/counts/accounts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meters/counts/pause.h"
#include "usage/count_file.h"

namespace keplerd::meters {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Pair;

constexpr std::uint64_t kGroup = 1, kOther = 2, kCgroup = 70, kOtherCgroup = 80;
const Dies kOneDie = {{0, 0}}, kTwoDies = {{0, 0}, {1, 1}};

class AccountsTest : public testing::Test {
 protected:
  void take(const Steps& steps, const Accounts::Held& held, const Dies& dies = kOneDie) {
    accounts_.take(now_ += 1s, steps, held, dies);
  }
  std::string text(int die = 0) const {
    return accounts_.texts("").at(count_file_name({CountKind::kMemoryTraffic, die}));
  }
  Accounts accounts_{CountKind::kMemoryTraffic};
  Nanoseconds now_{0};
};

TEST_F(AccountsTest, ACgroupHasTheTrafficOfTheGroupThatHoldsItAtBothEnds) {
  take({}, {{kGroup, kCgroup}});
  EXPECT_EQ(text(), "1000000 1000000 0\n70 0 1000000\n") << "of the step that ended, only one end is known";
  take({{{kGroup, 0}, {{100}, {100}}}, {{kOther, 0}, {{50}, {50}}}},
       {{kGroup, kCgroup}, {kOther, kOtherCgroup}});
  EXPECT_EQ(text(), "2000000 1000000 150\n70 100 1000000\n80 0 2000000\n");
  take({{{kGroup, 0}, {{5}, {5}}}, {{kOther, 0}, {{9}, {9}}}}, {{kOther, kOtherCgroup}});
  EXPECT_EQ(text(), "3000000 1000000 164\n80 9 2000000\n");
}

TEST_F(AccountsTest, ACgroupThatIsHeldAgainOrByAnotherGroupIsCountedAgain) {
  take({}, {{kGroup, kCgroup}});
  take({{{kGroup, 0}, {{100}, {100}}}}, {{kGroup, kCgroup}});
  take({{{kGroup, 0}, {{100}, {100}}}}, {});
  take({{{kGroup, 0}, {{100}, {100}}}}, {{kGroup, kCgroup}});
  EXPECT_EQ(text(), "4000000 1000000 300\n70 0 4000000\n");
  take({{{kGroup, 0}, {{1}, {1}}}, {{kOther, 0}, {{2}, {2}}}}, {{kOther, kCgroup}});
  EXPECT_EQ(text(), "5000000 1000000 303\n70 0 5000000\n");
  take({{{kOther, 0}, {{4}, {4}}}}, {{kOther, kCgroup}});
  EXPECT_EQ(text(), "6000000 1000000 307\n70 4 5000000\n");
}

TEST_F(AccountsTest, WhatIsNotLocalGoesToTheMemoryOfTheOtherDie) {
  take({}, {{kGroup, kCgroup}}, kTwoDies);
  take({{{kGroup, 0}, {{100}, {70}}}, {{kOther, 1}, {{10}, {10}}}}, {{kGroup, kCgroup}}, kTwoDies);
  EXPECT_EQ(text(0), "2000000 1000000 70\n70 70 1000000\n");
  EXPECT_EQ(text(1), "2000000 1000000 40\n70 30 1000000\n");
}

TEST_F(AccountsTest, OnAHostWithOneDieAllIsLocal) {
  const Dies dies = {{0, 0}, {1, 0}};
  take({}, {{kGroup, kCgroup}}, dies);
  take({{{kGroup, 0}, {{100}, {70}}}, {{kGroup, 1}, {{1}, {0}}}}, {{kGroup, kCgroup}}, dies);
  EXPECT_EQ(text(), "2000000 1000000 101\n70 101 1000000\n");
}

TEST_F(AccountsTest, UnknownStepsBeginANewCount) {
  take({}, {{kGroup, kCgroup}});
  take({{{kGroup, 0}, {{100}, {100}}}}, {{kGroup, kCgroup}});
  accounts_.take(now_ += 1s, Error{.message = "reset"}, {{kGroup, kCgroup}}, kOneDie);
  EXPECT_EQ(text(), "3000000 3000000 0\n70 0 3000000\n");
  EXPECT_THAT(accounts_.texts("it is Unavailable"),
              ElementsAre(Pair("memory-0", "unknown it is Unavailable\n")));
  take({{{kGroup, 0}, {{5}, {5}}}}, {{kGroup, kCgroup}}, kTwoDies);
  EXPECT_EQ(text(1), "4000000 4000000 0\n70 0 4000000\n") << "a die has been added";
}

TEST(PauseBetweenCounts, IsASecondUnlessReadingIsExpensive) {
  EXPECT_EQ(pause_after(1ms), 1s);
  EXPECT_EQ(pause_after(100ms), 5s);
  EXPECT_EQ(pause_after(5s), 30s);
}

}  // namespace
}  // namespace keplerd::meters
