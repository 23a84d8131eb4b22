// SPDX-License-Identifier: Apache-2.0
#include "history/span.h"

#include <gtest/gtest.h>

#include "history/time_zone.h"

namespace keplerd::history {
namespace {

using namespace std::chrono_literals;

TEST(SpanOf, FiveMinutesAreThoseOfTheClock) {
  EXPECT_EQ(span_of(Step::kFiveMinutes, utc("2026-11-24 07:04")),
            span("2026-11-24 07:00", "2026-11-24 07:05"));
  EXPECT_EQ(span_of(Step::kFiveMinutes, utc("2026-11-24 07:05") - 1us),
            span("2026-11-24 07:00", "2026-11-24 07:05"));
  EXPECT_EQ(span_of(Step::kFiveMinutes, utc("2026-11-24 07:05")).start, utc("2026-11-24 07:05"));
}

TEST(SpanOf, HoursAndDaysAreLocal) {
  const TimeZone zone(kKolkata);
  EXPECT_EQ(span_of(Step::kHour, utc("2026-11-24 07:04")), span("2026-11-24 06:30", "2026-11-24 07:30"));
  EXPECT_EQ(span_of(Step::kDay, utc("2026-11-24 18:29")), span("2026-11-23 18:30", "2026-11-24 18:30"));
  EXPECT_EQ(span_of(Step::kMonth, utc("2026-11-24 18:29")), span("2026-10-31 18:30", "2026-11-30 18:30"));
}

TEST(SpanOf, ADayHas23HoursWhenTheClockIsSetForward) {
  const TimeZone zone(kBerlin);
  const Span day = span_of(Step::kDay, utc("2026-03-29 12:00"));
  EXPECT_EQ(day, span("2026-03-28 23:00", "2026-03-29 22:00"));
  EXPECT_EQ(day.length(), 23h);
  EXPECT_EQ(span_of(Step::kHour, utc("2026-03-29 01:30")), span("2026-03-29 01:00", "2026-03-29 02:00"));
}

TEST(SpanOf, ADayHas25HoursWhenTheClockIsSetBackAndTheHourThatIsRepeatedIsTwo) {
  const TimeZone zone(kBerlin);
  EXPECT_EQ(span_of(Step::kDay, utc("2026-10-25 12:00")).length(), 25h);
  EXPECT_EQ(span_of(Step::kHour, utc("2026-10-25 00:30")), span("2026-10-25 00:00", "2026-10-25 01:00"));
  EXPECT_EQ(span_of(Step::kHour, utc("2026-10-25 01:30")), span("2026-10-25 01:00", "2026-10-25 02:00"));
}

TEST(SpanOf, AnHourEndsWhereTheOffsetChangesByHalfAnHour) {
  const TimeZone zone(kLordHowe);
  EXPECT_EQ(span_of(Step::kHour, utc("2026-04-04 14:59")), span("2026-04-04 14:00", "2026-04-04 15:00"));
  EXPECT_EQ(span_of(Step::kHour, utc("2026-04-04 15:10")), span("2026-04-04 15:00", "2026-04-04 15:30"));
  EXPECT_EQ(span_of(Step::kDay, utc("2026-04-04 20:00")).length(), 24h + 30min);
}

TEST(SpanOf, MonthsHaveTheirLeapDay) {
  const TimeZone zone("UTC0");
  EXPECT_EQ(span_of(Step::kMonth, utc("2028-02-29 12:00")).length(), 29 * 24h);
  EXPECT_EQ(span_of(Step::kMonth, utc("2027-02-28 12:00")).length(), 28 * 24h);
}

TEST(SpanOf, EachSpanIsAWholeNumberOfShorterOnes) {
  for (const char* const name : {"UTC0", kBerlin, kLordHowe, kKolkata}) {
    const TimeZone zone(name);
    for (const auto& [longer, shorter] :
         {std::pair{Step::kHour, Step::kFiveMinutes}, std::pair{Step::kDay, Step::kHour},
          std::pair{Step::kMonth, Step::kDay}}) {
      for (Span whole = span_of(longer, utc("2027-03-25 00:00")); whole.start < utc("2027-04-10 00:00");
           whole = span_of(longer, whole.end)) {
        Time at = whole.start;
        while (at < whole.end) {
          const Span part = span_of(shorter, at);
          ASSERT_EQ(part.start, at);
          ASSERT_GT(part.end, at);
          at = part.end;
        }
        ASSERT_EQ(at, whole.end) << name << " " << name_of(longer);
      }
    }
  }
}

TEST(SpanOf, NamesAreThoseOfTheInterface) {
  for (const Step step : kSteps) EXPECT_EQ(parse_step(name_of(step)), step);
  EXPECT_FALSE(parse_step("year"));
}

}  // namespace
}  // namespace keplerd::history
