// SPDX-License-Identifier: Apache-2.0
#include "usage/group_time.h"

#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;

// At each reading, the group has used so much in all, and its processes that are read so much since the last.
bool explains(GroupTime& time, Nanoseconds group, std::initializer_list<Nanoseconds> processes) {
  time.begin(group);
  for (const Nanoseconds used : processes) time.add(used);
  const bool is_explained = time.is_explained();
  time.end();
  return is_explained;
}

TEST(GroupTime, IsExplainedWhenItsProcessesHaveUsedAllOfIt) {
  GroupTime time;
  EXPECT_FALSE(explains(time, 30ms, {20ms}));
  EXPECT_TRUE(explains(time, 60ms, {20ms, 10ms}));
  EXPECT_FALSE(explains(time, 90ms, {}));
  EXPECT_TRUE(explains(time, 90ms, {}));
}

TEST(GroupTime, EachTimeIsRoundedToAMicrosecond) {
  GroupTime time;
  EXPECT_TRUE(explains(time, 20ms + 3us, {20ms}));
  EXPECT_FALSE(explains(time, 40ms + 7us, {20ms}));
  EXPECT_TRUE(explains(time, 80ms + 7us + 4us, {20ms, 20ms}));
}

TEST(GroupTime, TheRoundingOfManyIsTheirSquareRoot) {
  const auto explains_hundred = [](Nanoseconds more) {
    GroupTime time;
    time.begin(100ms + more);
    for (int i = 0; i < 100; ++i) time.add(1ms);
    return time.is_explained();
  };
  EXPECT_TRUE(explains_hundred(18us));
  EXPECT_FALSE(explains_hundred(19us));
  EXPECT_TRUE(explains_hundred(-18us));
  EXPECT_FALSE(explains_hundred(-19us));
}

TEST(GroupTime, ThatOfAProcessThatHasNotRunIsNotRounded) {
  GroupTime time;
  EXPECT_FALSE(explains(time, 20ms + 4us, {20ms, 0ms, 0ms}));
}

TEST(GroupTime, RoundingDoesNotAddUp) {
  GroupTime time;
  EXPECT_TRUE(explains(time, 20ms + 3us, {20ms}));
  EXPECT_FALSE(explains(time, 40ms + 4us, {20ms}));
}

TEST(GroupTime, WhatIsLackingTwiceIsTheRoundingOfThoseThatDoNotRun) {
  GroupTime time;
  EXPECT_FALSE(explains(time, 20ms, {20ms + 5us, 0ms, 0ms, 0ms}));
  EXPECT_FALSE(explains(time, 40ms, {20ms, 0ms, 0ms, 0ms}));
  EXPECT_TRUE(explains(time, 60ms, {20ms, 0ms, 0ms, 0ms}));
}

TEST(GroupTime, WhatAProcessUsesWhileItIsReadExplainsNothing) {
  GroupTime time;
  EXPECT_FALSE(explains(time, 20ms, {20ms + 400us}));
}

TEST(GroupTime, WhatAProcessUsedWhileItWasReadIsOfTheNextReading) {
  GroupTime time;
  EXPECT_FALSE(explains(time, 20ms, {20ms + 400us}));
  EXPECT_TRUE(explains(time, 40ms, {20ms - 400us}));
  EXPECT_FALSE(explains(time, 60ms, {20ms + 400us}));
  EXPECT_FALSE(explains(time, 80ms, {20ms + 500us}));
  EXPECT_TRUE(explains(time, 100ms, {20ms - 900us}));
}

TEST(GroupTime, TimeOfProcessesThatHaveLeftIsOfNoLaterReading) {
  GroupTime time;
  EXPECT_FALSE(explains(time, 50ms, {20ms}));
  EXPECT_TRUE(explains(time, 70ms, {20ms}));
}

}  // namespace
}  // namespace keplerd
