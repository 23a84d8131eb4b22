// SPDX-License-Identifier: Apache-2.0
#include "daemon/sample_budget.h"

#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;

TEST(SampleBudget, SamplesThatTakeLessThanAQuarterNeverWait) {
  SampleBudget sample_budget;
  for (Nanoseconds now = 1h; now < 1h + 60s; now += 1s) {
    sample_budget.spend(now, 250ms);
    ASSERT_EQ(sample_budget.wait(now), 0ns);
  }
}

TEST(SampleBudget, AnOccasionalSlowSampleCausesNoWait) {
  SampleBudget sample_budget;
  for (Nanoseconds now = 1h; now < 1h + 60s; now += 10s) {
    sample_budget.spend(now, 1s);
    ASSERT_EQ(sample_budget.wait(now), 0ns);
  }
}

TEST(SampleBudget, InTheLongRunSamplesTakeAQuarter) {
  SampleBudget sample_budget;
  Nanoseconds now = 1h, spent{0};
  for (int i = 0; i < 100; ++i) {
    now += 500ms;  // the duration of the sample
    sample_budget.spend(now, 500ms);
    spent += 500ms;
    now += sample_budget.wait(now);
  }
  EXPECT_EQ(spent, 50s);
  // Excluding the initial second; until that is used up, nothing is added to it.
  EXPECT_EQ(now - 1h, (50s - 1s) * 4 + 500ms);
}

TEST(SampleBudget, TheWaitIsAtMostTenSeconds) {
  SampleBudget sample_budget;
  sample_budget.spend(1h, 1h);
  EXPECT_EQ(sample_budget.wait(1h), 10s);
  EXPECT_EQ(sample_budget.wait(1h + 4s), 6s);
  EXPECT_EQ(sample_budget.wait(1h + 11s), 0s);
}

TEST(SampleBudget, IsReportedWhenExceededAndWhenFullAgain) {
  SampleBudget sample_budget;
  EXPECT_EQ(sample_budget.notice(1h), std::nullopt);
  sample_budget.spend(1h, 1500ms);
  EXPECT_EQ(sample_budget.wait(1h), 2s);
  EXPECT_EQ(sample_budget.notice(1h), true);
  EXPECT_EQ(sample_budget.notice(1h + 3s), std::nullopt);
  EXPECT_EQ(sample_budget.notice(1h + 6s - 4ns), std::nullopt);
  EXPECT_EQ(sample_budget.notice(1h + 6s), false);
  EXPECT_EQ(sample_budget.notice(1h + 7s), std::nullopt);
}

TEST(SampleBudget, IsReportedAtMostOnceAMinute) {
  SampleBudget sample_budget;
  int reported = 0, over = 0;
  for (Nanoseconds now = 1h; now < 1h + 10min; now += 8s) {
    sample_budget.spend(now, 1500ms);
    reported += sample_budget.notice(now) == true ? 1 : 0;
    over += sample_budget.notice(now + 6s) == false ? 1 : 0;
  }
  EXPECT_EQ(reported, 10);
  EXPECT_EQ(over, 10);
}

}  // namespace
}  // namespace keplerd
