// SPDX-License-Identifier: Apache-2.0
#include "cost/price_rule.h"

#include <gtest/gtest.h>

namespace keplerd {
namespace {

bool applies(std::string_view rule, const char* local) {
  const auto parsed = parse_price_rule(rule);
  EXPECT_TRUE(parsed.ok()) << rule;
  tm time{};
  EXPECT_NE(::strptime(local, "%Y-%m-%d %H:%M", &time), nullptr);
  return parsed && applies_at(*parsed, time);
}

// 2026-11-27 is a Friday.
TEST(PriceRule, ANightBelongsToTheDayOnWhichItBegins) {
  constexpr std::string_view kNight = "0.24 Mon-Fri 22:00-06:00";
  EXPECT_FALSE(applies(kNight, "2026-11-27 21:55"));
  EXPECT_TRUE(applies(kNight, "2026-11-27 22:00"));
  EXPECT_TRUE(applies(kNight, "2026-11-28 05:55")) << "Saturday morning";
  EXPECT_FALSE(applies(kNight, "2026-11-28 06:00"));
  EXPECT_FALSE(applies(kNight, "2026-11-28 22:00"));
  EXPECT_FALSE(applies(kNight, "2026-11-30 05:55")) << "Monday morning: Sunday's night";
  EXPECT_TRUE(applies(kNight, "2026-11-30 22:00"));
}

TEST(PriceRule, DaysAndTimesMayBeLeftOut) {
  EXPECT_TRUE(applies("1", "2026-11-28 00:00"));
  EXPECT_TRUE(applies("1 Sat,sun", "2026-11-28 23:55"));
  EXPECT_FALSE(applies("1 Sat,sun", "2026-11-30 00:00"));
  EXPECT_TRUE(applies("1 Sat-Mon", "2026-11-30 00:00"));
  EXPECT_FALSE(applies("1 Sat-Mon", "2026-11-27 00:00"));
  EXPECT_TRUE(applies("1 06:00-24:00", "2026-11-27 23:55"));
  EXPECT_FALSE(applies("1 06:00-24:00", "2026-11-28 00:00"));
}

TEST(PriceRule, APriceMayBeginOnADay) {
  EXPECT_FALSE(applies("0.35 since 2026-11-15", "2026-11-14 23:55"));
  EXPECT_TRUE(applies("0.35 since 2026-11-15", "2026-11-15 00:00"));
  EXPECT_TRUE(applies("0.35 since 2026-11-15", "2027-01-01 00:00"));
}

TEST(PriceRule, RefusesWhatItIsNot) {
  for (const std::string_view text :
       {"", "x", "1 Mo", "1 Mon-", "1 -Mon", "1 Mon--Tue",

        "1 22-06", "1 22:00", "1 22:00-22:00", "1 22:01-06:00", "1 24:00-06:00", "1 22:00-24:05",
        "1 2:00-06:00", "1 22:00-06:00 Mon", "1 since", "1 since 2026-02-30", "1 since 2026-1-1",
        "1 since 2026-11-15 Mon", "1 EUR"})
    EXPECT_FALSE(parse_price_rule(text)) << text;
}

}  // namespace
}  // namespace keplerd
