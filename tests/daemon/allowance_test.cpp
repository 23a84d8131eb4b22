// SPDX-License-Identifier: Apache-2.0
#include "daemon/allowance.h"

#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;

TEST(Allowance, SamplesThatTakeLessThanAQuarterNeverWait) {
  Allowance allowance;
  for (Nanoseconds now = 1h; now < 1h + 60s; now += 1s) {
    allowance.spend(now, 250ms);
    ASSERT_EQ(allowance.wait(now), 0ns);
  }
}

TEST(Allowance, OneThatTakesLongNowAndThenIsNoReasonToWait) {
  Allowance allowance;
  for (Nanoseconds now = 1h; now < 1h + 60s; now += 10s) {
    allowance.spend(now, 1s);
    ASSERT_EQ(allowance.wait(now), 0ns);
  }
}

TEST(Allowance, InTheLongRunSamplesTakeAQuarter) {
  Allowance allowance;
  Nanoseconds now = 1h, spent{0};
  for (int i = 0; i < 100; ++i) {
    now += 500ms;  // that is how long it takes
    allowance.spend(now, 500ms);
    spent += 500ms;
    now += allowance.wait(now);
  }
  EXPECT_EQ(spent, 50s);
  // But for the second at the beginning, and while that is there nothing is added to it.
  EXPECT_EQ(now - 1h, (50s - 1s) * 4 + 500ms);
}

TEST(Allowance, NobodyWaitsForLongerThanTenSeconds) {
  Allowance allowance;
  allowance.spend(1h, 1h);
  EXPECT_EQ(allowance.wait(1h), 10s);
  EXPECT_EQ(allowance.wait(1h + 4s), 6s);
  EXPECT_EQ(allowance.wait(1h + 11s), 0s);
}

TEST(Allowance, IsToldWhenItIsExceededAndWhenAllOfItIsThereAgain) {
  Allowance allowance;
  EXPECT_EQ(allowance.news(1h), std::nullopt);
  allowance.spend(1h, 1500ms);
  EXPECT_EQ(allowance.wait(1h), 2s);
  EXPECT_EQ(allowance.news(1h), true);
  EXPECT_EQ(allowance.news(1h + 3s), std::nullopt);
  EXPECT_EQ(allowance.news(1h + 6s - 4ns), std::nullopt);
  EXPECT_EQ(allowance.news(1h + 6s), false);
  EXPECT_EQ(allowance.news(1h + 7s), std::nullopt);
}

TEST(Allowance, IsToldOnceAMinuteAtMost) {
  Allowance allowance;
  int told = 0, over = 0;
  for (Nanoseconds now = 1h; now < 1h + 10min; now += 8s) {
    allowance.spend(now, 1500ms);
    told += allowance.news(now) == true ? 1 : 0;
    over += allowance.news(now + 6s) == false ? 1 : 0;
  }
  EXPECT_EQ(told, 10);
  EXPECT_EQ(over, 10);
}

}  // namespace
}  // namespace keplerd
