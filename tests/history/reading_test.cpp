// SPDX-License-Identifier: Apache-2.0
#include "history/reading.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd::history {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;

const WorkloadKey kWeb{Kind::kVms, "web", 0};

Reading reading(Time time, std::int64_t idle, std::int64_t workloads) {
  return {.time = time, .instance = "i", .now = {.idle = {idle}, .workloads = {workloads}}};
}
WorkloadReading workload(Time since, std::int64_t active, std::int64_t idle = 0) {
  return {.key = kWeb, .name = "web", .since = since, .now = {{active}, {idle}}};
}

TEST(DrawnSince, IsTheDifferenceOfEachCounter) {
  Reading first = reading(100s, 1000, 500), second = reading(160s, 1700, 650);
  first.workloads = {workload(50s, 400, 10)};
  second.workloads = {workload(50s, 520, 15)};
  const Drawn drawn = drawn_since(baseline_of(first), second);
  EXPECT_EQ(drawn.span, (Span{100s, 160s}));
  EXPECT_EQ(drawn.accounts, (Accounts{.idle = {700}, .workloads = {150}}));
  ASSERT_THAT(drawn.workloads, SizeIs(1));
  EXPECT_EQ(drawn.workloads[0].second, (Amounts{{120}, {5}}));
}

TEST(DrawnSince, LeavesOutWhatDrewNothing) {
  Reading first = reading(100s, 0, 0), second = reading(160s, 0, 0);
  first.workloads = second.workloads = {workload(50s, 400)};
  EXPECT_THAT(drawn_since(baseline_of(first), second).workloads, IsEmpty());
}

TEST(DrawnSince, AWorkloadThatBeganSinceDrewAllOfIt) {
  Reading second = reading(160s, 0, 0);
  second.workloads = {workload(130s, 400, 20)};
  const Drawn drawn = drawn_since(baseline_of(reading(100s, 0, 0)), second);
  ASSERT_THAT(drawn.workloads, SizeIs(1));
  EXPECT_EQ(drawn.workloads[0].second, (Amounts{{400}, {20}}));
}

TEST(DrawnSince, OfAWorkloadThatWasCountedBeforeAndNotSeenItIsNotKnown) {
  Reading second = reading(160s, 0, 0);
  second.workloads = {workload(99s, 400)};
  EXPECT_THAT(drawn_since(baseline_of(reading(100s, 0, 0)), second).workloads, IsEmpty());
}

TEST(DrawnSince, AWorkloadThatIsCountedAnewBeginsAtZero) {
  Reading first = reading(100s, 0, 0), second = reading(160s, 0, 0);
  first.workloads = {workload(50s, 400)};
  second.workloads = {workload(150s, 410)};
  EXPECT_EQ(drawn_since(baseline_of(first), second).workloads[0].second, (Amounts{{410}, {0}}));
}

// keplerd was killed with the host, and continues from what it had saved.
TEST(DrawnSince, WhatAnotherInstanceSavedAfterTheReadingIsDrawnToo) {
  Reading first = reading(100s, 1000, 0), second = reading(200s, 1250, 0);
  second.instance = "j";
  second.earlier.idle = {1200};
  first.workloads = {workload(50s, 300)};
  second.workloads = {workload(50s, 370)};
  second.workloads[0].earlier.active = {320};
  const Drawn drawn = drawn_since(baseline_of(first), second);
  EXPECT_EQ(drawn.accounts.idle, Microjoules{250}) << "200 before the end, 50 since";
  EXPECT_EQ(drawn.workloads[0].second.active, Microjoules{70});
}

TEST(DrawnSince, WhatAnotherInstanceLostIsNotTakenBack) {
  Reading first = reading(100s, 1000, 0), second = reading(200s, 940, 0);
  second.instance = "j";
  second.earlier.idle = {900};
  EXPECT_EQ(drawn_since(baseline_of(first), second).accounts.idle, Microjoules{40});
}

TEST(DrawnSince, ACounterThatGoesBackDrewNothing) {
  EXPECT_EQ(drawn_since(baseline_of(reading(100s, 1000, 0)), reading(160s, 900, 0)).accounts, Accounts{});
}

TEST(DrawnSince, ASpanIsNeverNegative) {
  const Drawn drawn = drawn_since(baseline_of(reading(100s, 1000, 0)), reading(40s, 1100, 0));
  EXPECT_EQ(drawn.span, (Span{40s, 40s})) << "the clock was set back";
  EXPECT_EQ(drawn.accounts.idle, Microjoules{100});
}

}  // namespace
}  // namespace keplerd::history
