// SPDX-License-Identifier: Apache-2.0
#include "daemon/fault_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(FaultLog, LogsTheFirstAtOnceAndThenTheRepetitionsOfEachMinute) {
  FaultLog log;
  EXPECT_EQ(log.report("perf:package:0", "the counter was reset", 100s),
            "perf:package:0: the counter was reset");
  for (int i = 1; i < 60; ++i) {
    EXPECT_THAT(log.summaries(100s + i * 1s), IsEmpty());
    EXPECT_EQ(log.report("perf:package:0", "the counter was reset", 100s + i * 1s), std::nullopt);
  }
  EXPECT_THAT(log.summaries(160s), ElementsAre("perf:package:0: the counter was reset (repeated: 59)"));
  EXPECT_EQ(log.report("perf:package:0", "the counter was reset", 160s), std::nullopt);
  EXPECT_THAT(log.summaries(219s), IsEmpty());
  EXPECT_THAT(log.summaries(220s), ElementsAre("perf:package:0: the counter was reset (repeated: 1)"));
}

TEST(FaultLog, ForgetsWhatDidNotComeAgainForAMinute) {
  FaultLog log;
  EXPECT_TRUE(log.report("a", "x", 0s));
  EXPECT_THAT(log.summaries(60s), IsEmpty());
  EXPECT_TRUE(log.report("a", "x", 61s));
}

TEST(FaultLog, KeepsZonesAndFaultsApart) {
  FaultLog log;
  EXPECT_TRUE(log.report("a", "x", 0s));
  EXPECT_TRUE(log.report("b", "x", 0s));
  EXPECT_TRUE(log.report("a", "y", 0s));
  EXPECT_FALSE(log.report("a", "x", 59s));
}

}  // namespace
}  // namespace keplerd
