// SPDX-License-Identifier: Apache-2.0
#include "attribution/own_time.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;

GroupUsage group(std::uint64_t incarnation, std::size_t parent, Nanoseconds before, Nanoseconds usage) {
  return {.incarnation = incarnation, .parent = parent, .path = "/g", .usage = usage, .before = before};
}

std::vector<Nanoseconds> own_of(OwnTimes& times, const std::vector<GroupUsage>& groups) {
  std::vector<Nanoseconds> own;
  times.update(groups, own);
  return own;
}

using Times = std::vector<Nanoseconds>;

TEST(OwnTime, IsTheGroupsLessItsChildrens) {
  OwnTimes times;
  EXPECT_EQ(own_of(times, {group(1, kNoGroup, 100ms, 190ms), group(2, 0, 10ms, 40ms), group(3, 1, 5ms, 25ms),
                           group(4, 0, 0ms, 20ms)}),
            (Times{40ms, 10ms, 20ms, 20ms}));
}

TEST(OwnTime, FirstSampleHasNoWindow) {
  OwnTimes times;
  EXPECT_EQ(own_of(times, {{.incarnation = 1, .path = "/g", .usage = 5s, .before = std::nullopt}}),
            (Times{0ms}));
}

TEST(OwnTime, WhatAChildUsedThatEndedIsItsParents) {
  OwnTimes times;
  own_of(times, {group(1, kNoGroup, 0ms, 100ms), group(2, 0, 0ms, 100ms)});
  EXPECT_EQ(own_of(times, {group(1, kNoGroup, 100ms, 170ms)}), (Times{70ms}));
}

TEST(OwnTime, DeficitIsTakenOffTheNextWindows) {
  OwnTimes times;
  EXPECT_EQ(own_of(times, {group(1, kNoGroup, 0ms, 10ms), group(2, 0, 0ms, 25ms)}), (Times{0ms, 25ms}));
  EXPECT_EQ(own_of(times, {group(1, kNoGroup, 10ms, 20ms), group(2, 0, 25ms, 25ms)}), (Times{0ms, 0ms}));
  EXPECT_EQ(own_of(times, {group(1, kNoGroup, 20ms, 40ms), group(2, 0, 25ms, 25ms)}), (Times{15ms, 0ms}));
  EXPECT_EQ(own_of(times, {group(1, kNoGroup, 40ms, 50ms), group(2, 0, 25ms, 25ms)}), (Times{10ms, 0ms}));
}

TEST(OwnTime, DeficitBelongsToTheIncarnation) {
  OwnTimes times;
  own_of(times, {group(1, kNoGroup, 0ms, 10ms), group(2, 0, 0ms, 25ms)});
  EXPECT_EQ(own_of(times, {group(3, kNoGroup, 0ms, 20ms)}), (Times{20ms}));  // recreated
}

TEST(OwnTime, GroupThatWentBackHasNoTime) { EXPECT_EQ(time_in_window(group(1, kNoGroup, 10ms, 4ms)), 0ms); }

// However skewed the reads are, nothing is negative, and over time nothing is counted twice or lost.
TEST(OwnTime, SkewCancelsOverTime) {
  std::mt19937_64 random(99);
  const auto below_us = [&] { return Nanoseconds(static_cast<std::int64_t>(random() % 1000)); };
  for (int round = 0; round < 200; ++round) {
    const std::size_t count = 2 + random() % 12;
    std::vector<GroupUsage> groups;
    for (std::size_t i = 0; i < count; ++i) {
      groups.push_back(group(i + 1, i == 0 ? kNoGroup : random() % i, 0ms, 0ms));
    }
    OwnTimes times;
    Times truth(count, 0ms), own_truth(count, 0ms), total(count, 0ms);
    for (int window = 0; window < 30; ++window) {
      const bool last = window == 29;  // read at rest, after enough work to pay back all deficits
      for (std::size_t i = 0; i < count; ++i) {
        const Nanoseconds ran = last ? Nanoseconds(100us) : below_us();
        own_truth[i] += ran;
        for (std::size_t at = i; at != kNoGroup; at = groups[at].parent) truth[at] += ran;
      }
      for (std::size_t i = 0; i < count; ++i) {
        groups[i].before = groups[i].usage;
        groups[i].usage = std::max(truth[i] - (last ? Nanoseconds(0) : below_us()), *groups[i].before);
      }
      const auto own = own_of(times, groups);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_GE(own[i], 0ms);
        total[i] += own[i];
      }
    }
    ASSERT_EQ(total, own_truth) << "round " << round;
  }
}

}  // namespace
}  // namespace keplerd
