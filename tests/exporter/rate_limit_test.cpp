// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/rate_limit.h"

#include <gtest/gtest.h>

#include "exporter/http/go_duration.h"

namespace keplerd::exporter::http {
namespace {

using namespace std::chrono_literals;

TEST(RateLimit, AllowsABurstAndThenOneEachInterval) {
  RateLimit limit({.interval = 100ms, .burst = 3});
  const Nanoseconds start = 1h;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limit.allow(start));
  EXPECT_FALSE(limit.allow(start));
  EXPECT_FALSE(limit.allow(start + 99ms));
  EXPECT_TRUE(limit.allow(start + 100ms));
  EXPECT_FALSE(limit.allow(start + 199ms));
  EXPECT_TRUE(limit.allow(start + 350ms));
  EXPECT_TRUE(limit.allow(start + 350ms)) << "two intervals have passed";
  EXPECT_FALSE(limit.allow(start + 350ms));
}

TEST(RateLimit, TheBucketHoldsNoMoreThanABurst) {
  RateLimit limit({.interval = 1s, .burst = 2});
  for (const Nanoseconds now : {1h, 2h, 100h}) {
    EXPECT_TRUE(limit.allow(now));
    EXPECT_TRUE(limit.allow(now));
    EXPECT_FALSE(limit.allow(now));
  }
}

TEST(RateLimit, ARefusedRequestCostsNoToken) {
  RateLimit limit({.interval = 1s, .burst = 1});
  EXPECT_TRUE(limit.allow(1h));
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(limit.allow(1h + 999ms));
  EXPECT_TRUE(limit.allow(1h + 1s));
}

TEST(RateLimit, TheGreatestLimitsDoNotOverflow) {
  RateLimit limit({.interval = 1h, .burst = 1'000'000});
  for (int i = 0; i < 1'000'000; ++i) ASSERT_TRUE(limit.allow(1h));
  EXPECT_FALSE(limit.allow(1h));
}

TEST(GoDuration, IsASumOfNumbersWithUnits) {
  EXPECT_EQ(parse_go_duration("0"), 0s);
  EXPECT_EQ(parse_go_duration("1s"), 1s);
  EXPECT_EQ(parse_go_duration("1m30s"), 90s);
  EXPECT_EQ(parse_go_duration("1.5h"), 90min);
  EXPECT_EQ(parse_go_duration(".25s"), 250ms);
  EXPECT_EQ(parse_go_duration("1.s"), 1s);
  EXPECT_EQ(parse_go_duration("3ms4us5ns"), 3ms + 4us + 5ns);
  EXPECT_EQ(parse_go_duration("7\u00b5s"), 7us);
  EXPECT_EQ(parse_go_duration("24h"), 24h);
  EXPECT_EQ(parse_go_duration("0.0000000009s"), 0ns);
}

TEST(GoDuration, AnythingElseIsNone) {
  for (const char* text : {"", "1", "s", ".s", "-1s", "+1s", "1 s", "1d", "1s ", "1e3s", "24h1ns", "25h",
                           "99999999999999999999h", "1..5s", "1,5s", "0x1s"}) {
    EXPECT_FALSE(parse_go_duration(text)) << text;
  }
}

}  // namespace
}  // namespace keplerd::exporter::http
