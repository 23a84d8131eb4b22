// SPDX-License-Identifier: Apache-2.0
#include "daemon/discard_log.h"

#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;

TEST(DiscardLog, TellsAZonesCauseOnceAMinuteWithTheNumberKeptBack) {
  DiscardLog log;
  const std::string line = "perf:package:0: energy of one window is not counted: the counter was reset";
  EXPECT_EQ(log.tell("perf:package:0", StepVerdict::kReset, 100s), line);
  for (int i = 1; i < 60; ++i) {
    EXPECT_EQ(log.tell("perf:package:0", StepVerdict::kReset, 100s + i * 1s), std::nullopt);
  }
  EXPECT_EQ(log.tell("perf:package:0", StepVerdict::kReset, 160s),
            line + " (and 59 more since the last such line)");
  EXPECT_EQ(log.tell("perf:package:0", StepVerdict::kReset, 300s), line);
}

TEST(DiscardLog, KeepsZonesAndCausesApart) {
  DiscardLog log;
  EXPECT_TRUE(log.tell("a", StepVerdict::kReset, 0s));
  EXPECT_TRUE(log.tell("b", StepVerdict::kReset, 0s));
  EXPECT_TRUE(log.tell("a", StepVerdict::kImpossible, 0s));
  EXPECT_FALSE(log.tell("a", StepVerdict::kReset, 59s));
  EXPECT_TRUE(log.tell("a", StepVerdict::kReset, 60s));
}

}  // namespace
}  // namespace keplerd
