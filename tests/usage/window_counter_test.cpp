// SPDX-License-Identifier: Apache-2.0
#include "usage/window_counter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Pair;

TEST(WindowCounter, NeedsTwoReadings) {
  WindowCounter counter;
  EXPECT_FALSE(counter.advance(1s));
  counter.take({1s, 0s, {1000}, {{7, {500}}}});
  EXPECT_FALSE(counter.advance(1s));
  counter.take({2s, 0s, {1100}, {{7, {530}}}});
  const auto traffic = counter.advance(2s);
  ASSERT_TRUE(traffic);
  EXPECT_EQ(traffic->all, Count{100});
  EXPECT_THAT(traffic->groups, ElementsAre(Pair(7, Count{30})));
}

TEST(WindowCounter, AGroupIsMeasuredIfItIsInAllReadingsOfTheWindow) {
  WindowCounter counter;
  counter.take({1s, 0s, {0}, {{7, {0}}, {8, {0}}}});
  counter.take({2s, 0s, {100}, {{7, {10}}, {8, {10}}, {9, {50}}}});
  counter.take({3s, 0s, {200}, {{7, {15}}, {9, {60}}}});
  const auto traffic = counter.advance(3s);
  EXPECT_EQ(traffic->all, Count{200});
  EXPECT_THAT(traffic->groups, ElementsAre(Pair(7, Count{15}))) << "8 left, and 9 came";
  counter.take({4s, 0s, {300}, {{7, {15}}, {9, {90}}}});
  EXPECT_THAT(counter.advance(4s)->groups, ElementsAre(Pair(7, Count{0}), Pair(9, Count{30})))
      << "none is a measurement, too";
}

TEST(WindowCounter, ACountThatGoesBackIsNotAMeasurement) {
  WindowCounter counter;
  counter.take({1s, 0s, {1000}, {{7, {900}}, {8, {1}}}});
  counter.take({2s, 0s, {1100}, {{7, {0}}, {8, {2}}}});
  EXPECT_THAT(counter.advance(2s)->groups, ElementsAre(Pair(8, Count{1})));
  counter.take({3s, 0s, {500}, {{7, {10}}, {8, {3}}}});
  EXPECT_FALSE(counter.advance(3s)) << "that of all";
  counter.take({4s, 0s, {600}, {{7, {20}}, {8, {4}}}});
  EXPECT_EQ(counter.advance(4s)->all, Count{100});
}

TEST(WindowCounter, AGroupThatIsCountedAgainIsNotMeasuredBetweenBothCounts) {
  WindowCounter counter;
  counter.take({1s, 0s, {0}, {{7, {{10}, 0s}}, {8, {{10}, 0s}}}});
  counter.take({5s, 0s, {100}, {{7, {{50}, 3s}}, {8, {{50}, 0s}}}});
  EXPECT_THAT(counter.advance(5s)->groups, ElementsAre(Pair(8, Count{40})));
}

TEST(WindowCounter, NothingIsKnownBetweenTwoCounts) {
  WindowCounter counter;
  counter.take({1s, 0s, {1000}, {{7, {900}}}});
  counter.take({2s, 2s, {5000}, {{7, {4900}}}});
  EXPECT_FALSE(counter.advance(2s));
  counter.take({3s, 2s, {5010}, {{7, {4901}}}});
  EXPECT_EQ(counter.advance(3s)->all, Count{10});
}

TEST(WindowCounter, WhatNoMemoryCanDoIsNoTraffic) {
  WindowCounter counter;
  counter.take({1s, 0s, {0}, {}});
  counter.take({2s, 0s, {std::int64_t{1} << 51}, {}});
  EXPECT_FALSE(counter.advance(2s));
}

TEST(WindowCounter, AllIsNeverLessThanItsParts) {
  WindowCounter counter;
  counter.take({1s, 0s, {0}, {{7, {0}}, {8, {0}}}});
  counter.take({2s, 0s, {10}, {{7, {8}}, {8, {9}}}});
  EXPECT_EQ(counter.advance(2s)->all, Count{17});
}

TEST(WindowCounter, AWindowWithoutAReadingGoesOnAsBeforeForAWhile) {
  WindowCounter counter;
  counter.take({1s, 0s, {0}, {{7, {0}}}});
  counter.take({2s, 0s, {10}, {{7, {8}}}});
  EXPECT_TRUE(counter.advance(2s));
  EXPECT_EQ(counter.advance(3s)->all, Count{10});
  EXPECT_TRUE(counter.advance(8s));
  EXPECT_FALSE(counter.advance(9s)) << "the program has stopped";
}

TEST(WindowCounter, AReadingThatIsNotLaterIsIgnored) {
  WindowCounter counter;
  counter.take({2s, 0s, {0}, {{7, {0}}}});
  counter.take({3s, 0s, {10}, {{7, {8}}}});
  counter.take({3s, 0s, {90}, {}});
  EXPECT_THAT(counter.advance(3s)->groups, ElementsAre(Pair(7, Count{8})));
}

}  // namespace
}  // namespace keplerd
