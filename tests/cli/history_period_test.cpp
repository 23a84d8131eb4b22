// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <ctime>

#include <gtest/gtest.h>

#include "cli/history/export.h"
#include "cli/history/period.h"

namespace keplerd::cli::history {
namespace {

using namespace std::chrono_literals;

class HistoryPeriod : public testing::Test {
 protected:
  HistoryPeriod() {
    ::setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    ::tzset();
  }
  ~HistoryPeriod() override {
    ::unsetenv("TZ");
    ::tzset();
  }
  static Time utc(int year, int month, int day, int hour = 0, int minute = 0, int second = 0) {
    tm time{.tm_sec = second,
            .tm_min = minute,
            .tm_hour = hour,
            .tm_mday = day,
            .tm_mon = month - 1,
            .tm_year = year - 1900};
    return std::chrono::seconds(::timegm(&time));
  }
  Time parse(const std::string& text) const {
    const auto time = parse_time(text, now);
    EXPECT_TRUE(time) << text;
    return time ? *time : Time{0};
  }
  bool refuses(const std::string& text) const { return !parse_time(text, now); }

  const Time now = utc(2026, 11, 24, 7, 30);
};

TEST_F(HistoryPeriod, TimesAreLocal) {
  EXPECT_EQ(parse("2026-11-24 12:30:15"), utc(2026, 11, 24, 11, 30, 15));
  EXPECT_EQ(parse("2026-11-24 12:30"), utc(2026, 11, 24, 11, 30));
  EXPECT_EQ(parse("2026-07-01"), utc(2026, 6, 30, 22));
  EXPECT_EQ(parse("2026-07"), utc(2026, 6, 30, 22));
  EXPECT_EQ(parse("12:30"), utc(2026, 11, 24, 11, 30));
  EXPECT_EQ(parse("@1795504000"), Time(1795504000s));
}

TEST_F(HistoryPeriod, TimesAreRelativeToNow) {
  EXPECT_EQ(parse("now"), now);
  EXPECT_EQ(parse("today"), utc(2026, 11, 23, 23));
  EXPECT_EQ(parse("yesterday"), utc(2026, 11, 22, 23));
  EXPECT_EQ(parse("tomorrow"), utc(2026, 11, 24, 23));
  EXPECT_EQ(parse("2h ago"), now - 2h);
  EXPECT_EQ(parse("-1h 30min"), now - 90min);
}

TEST_F(HistoryPeriod, WhatIsNoTimeIsRefused) {
  for (const char* const text : {"", "x", "2026-02-30", "2026-13", "2026-11-24 25:00", "2026-11-24x", "ago",
                                 "-", "@x", "2h", "900y ago"})
    EXPECT_TRUE(refuses(text)) << text;
  const auto refused = parse_time("so\non", now);
  EXPECT_EQ(refused.error().message.substr(0, 24), "invalid time 'so\\x0aon' ");
}

TEST_F(HistoryPeriod, AnHourThatIsSkippedInSpringIsOneLater) {
  EXPECT_EQ(parse("2026-03-29 02:30"), utc(2026, 3, 29, 1, 30));
}

TEST_F(HistoryPeriod, AMonthAndADayAreWhole) {
  EXPECT_EQ(*parse_month("2026-10", now), (Period{utc(2026, 9, 30, 22), utc(2026, 10, 31, 23)}));
  EXPECT_EQ(*parse_day("2026-10-25", now), (Period{utc(2026, 10, 24, 22), utc(2026, 10, 25, 23)}))
      << "25 hours";
  EXPECT_EQ(*parse_day("yesterday", now), (Period{utc(2026, 11, 22, 23), utc(2026, 11, 23, 23)}));
  for (const char* const text : {"2026", "2026-11-24", "today", "x"})
    EXPECT_FALSE(parse_month(text, now)) << text;
  for (const char* const text : {"2026-11", "now", "x"}) EXPECT_FALSE(parse_day(text, now)) << text;
}

TEST_F(HistoryPeriod, EndsNowUnlessItIsSaidOtherwise) {
  EXPECT_EQ(*period_of({}, now, now - 24h), (Period{now - 24h, now}));
  EXPECT_EQ(*period_of({.since = "today"}, now, now - 24h), (Period{utc(2026, 11, 23, 23), now}));
  EXPECT_EQ(*period_of({.until = "12:00"}, now, Time{0}), (Period{Time{0}, utc(2026, 11, 24, 11)}));
  EXPECT_EQ(*period_of({.month = "2026-11"}, now, Time{0}),
            (Period{utc(2026, 10, 31, 23), utc(2026, 11, 30, 23)}));
}

TEST_F(HistoryPeriod, OnlyOneWayToNameItCanBeUsed) {
  EXPECT_EQ(period_of({.since = "today", .month = "2026-11"}, now, now).error().message,
            "only one of --month, --day and --since with --until can be used");
  EXPECT_EQ(period_of({.since = "now", .until = "today"}, now, now).error().message,
            "the period is empty: --since must be before --until");
  EXPECT_EQ(period_of({.since = "x"}, now, now).error().message.substr(0, 24), "--since: invalid time 'x");
}

TEST_F(HistoryPeriod, AnExportIsOfOneDayAfterAnother) {
  const Period period{utc(2026, 10, 24, 20), utc(2026, 10, 26, 3)};
  const std::vector<Period> days = {{utc(2026, 10, 24, 20), utc(2026, 10, 24, 22)},
                                    {utc(2026, 10, 24, 22), utc(2026, 10, 25, 23)},
                                    {utc(2026, 10, 25, 23), utc(2026, 10, 26, 3)}};
  EXPECT_EQ(parts_of(period, "hour"), days) << "the second has 25 hours";
  EXPECT_EQ(parts_of(period, "day"), std::vector{period}) << "of one month after another";
  EXPECT_EQ(parts_of({utc(2026, 10, 24, 20), utc(2026, 12, 2, 0)}, "day"),
            (std::vector<Period>{{utc(2026, 10, 24, 20), utc(2026, 10, 31, 23)},
                                 {utc(2026, 10, 31, 23), utc(2026, 11, 30, 23)},
                                 {utc(2026, 11, 30, 23), utc(2026, 12, 2, 0)}}));
}

TEST_F(HistoryPeriod, TheStepGivesAReadableNumberOfRows) {
  const auto step = [](Time length) { return suitable_step({Time{0}, length}); };
  EXPECT_EQ(step(2h), "5min");
  EXPECT_EQ(step(24h), "hour");
  EXPECT_EQ(step(31 * 24h), "day");
  EXPECT_EQ(step(365 * 24h), "month");
}

}  // namespace
}  // namespace keplerd::cli::history
