// SPDX-License-Identifier: Apache-2.0
#include "usage/use_counter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr ProcessId kA{10, 1}, kB{20, 1};

TEST(UseCounter, NeedsTwoReadings) {
  UseCounter counter;
  EXPECT_FALSE(counter.advance(1s));
  counter.take({1s, {{kA, 5s}}});
  EXPECT_FALSE(counter.advance(1s)) << "what it used before is not of this window";
  counter.take({2s, {{kA, 5300ms}}});
  EXPECT_THAT(*counter.advance(2s), ElementsAre(Pair(kA, 300ms)));
}

TEST(UseCounter, AWindowHasAllReadingsSinceTheOneBefore) {
  UseCounter counter;
  counter.take({1s, {}});
  counter.take({2s, {{kA, 100ms}}});
  counter.take({3s, {{kA, 300ms}, {kB, 50ms}}});
  EXPECT_THAT(*counter.advance(3s), ElementsAre(Pair(kA, 300ms), Pair(kB, 50ms)))
      << "who is new has used all of it since the reading before";
  counter.take({4s, {{kA, 300ms}, {kB, 60ms}}});
  EXPECT_THAT(*counter.advance(4s), ElementsAre(Pair(kB, 10ms)));
}

TEST(UseCounter, AWindowWithoutAReadingGoesOnAsBefore) {
  UseCounter counter;
  counter.take({1s, {}});
  counter.take({2s, {{kA, 100ms}}});
  EXPECT_THAT(*counter.advance(2s), ElementsAre(Pair(kA, 100ms)));
  EXPECT_THAT(*counter.advance(2900ms), ElementsAre(Pair(kA, 100ms)));
  counter.take({3s, {{kA, 100ms}}});
  EXPECT_THAT(*counter.advance(3s), IsEmpty()) << "it is known that nobody used it";
}

TEST(UseCounter, ATimeThatGoesBackIsNobodys) {
  UseCounter counter;
  counter.take({1s, {{kA, 5s}, {kB, 1s}}});
  counter.take({2s, {{kA, 1s}, {kB, 2s}}});
  EXPECT_THAT(*counter.advance(2s), ElementsAre(Pair(kB, 1s)));
  counter.take({3s, {{kA, 1500ms}, {kB, 2s}}});
  EXPECT_THAT(*counter.advance(3s), ElementsAre(Pair(kA, 500ms))) << "and is followed from there";
}

TEST(UseCounter, WhatAProcessUsedBeforeItEndedCounts) {
  UseCounter counter;
  counter.take({1s, {{kA, 5s}}});
  counter.take({2s, {{kA, 6s}}});
  counter.take({3s, {}});
  EXPECT_THAT(*counter.advance(3s), ElementsAre(Pair(kA, 1s)));
}

TEST(UseCounter, AnOldReadingOrOneOfTheFutureSaysNothing) {
  UseCounter counter;
  counter.take({1s, {}});
  counter.take({2s, {{kA, 100ms}}});
  EXPECT_FALSE(counter.advance(9s)) << "its program has stopped";
  counter.take({80s, {{kA, 70s}}});
  EXPECT_FALSE(counter.advance(80s)) << "more than a minute apart";
  counter.take({81s, {{kA, 70100ms}}});
  EXPECT_THAT(*counter.advance(81s), ElementsAre(Pair(kA, 100ms)));
  counter.take({81s, {{kA, 90s}}});
  EXPECT_THAT(*counter.advance(82s), ElementsAre(Pair(kA, 100ms))) << "the same reading";
  counter.take({120s, {}});
  EXPECT_FALSE(counter.advance(83s));
}

TEST(UseCounter, SumsOfAbsurdTimesFit) {
  UseCounter counter;
  counter.take({1s, {}});
  counter.take({2s, {{kA, Nanoseconds(std::int64_t{1} << 62)}}});
  counter.take({3s, {{kA, 0s}}});
  counter.take({4s, {{kA, Nanoseconds(std::int64_t{1} << 62)}}});
  EXPECT_LE((*counter.advance(4s))[kA].count(), (std::int64_t{1} << 52) / 2);
}

}  // namespace
}  // namespace keplerd
