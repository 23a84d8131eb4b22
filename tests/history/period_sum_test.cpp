// SPDX-License-Identifier: Apache-2.0
// Energy times the rates of the time in which it was drawn, whatever is kept of it.
#include "history/store/period_sum.h"

#include <gtest/gtest.h>

#include "history/recorded_host.h"

namespace keplerd::history {
namespace {

using namespace std::chrono_literals;

// Records in Berlin: 100 uJ of a unit and 1000 uJ of the idle host in each minute.
class RatedEnergyOfSpans : public RecordedHost {
 protected:
  void record(const char* from, Time length) {
    now = utc(from);
    if (workloads.empty()) read();
    run(static_cast<int>(length / Time(1min)));
  }
  std::unique_ptr<PeriodSum> rated_sum(const Span& span) {
    const RateSeries series(tariff, span.start, span.end);
    return sum(span, &series);
  }
  RatedSummary rated(const Span& span) { return rated_sum(span)->rated(); }
  std::int64_t idle_price(const Span& span) {
    return static_cast<std::int64_t>(rated(span).idle.price / 1000);
  }
  std::int64_t unit_price(const Span& span) {
    const auto found = workloads_of(*rated_sum(span), {Kind::kUnits, {}, {}});
    return found.empty() ? 0 : static_cast<std::int64_t>(found[0].rated.price / 100);
  }

  const TimeZone zone{kBerlin};
  Tariff tariff{.prices = {{.price = {3}}, {.price = {2}, .start = 22 * 60, .end = 6 * 60}},
                .currency = "EUR"};
};

TEST_F(RatedEnergyOfSpans, EachHourHasItsPrice) {
  record("2026-11-23 22:00", 26h + 1min);
  // 23:00 to 24:00, and a day: 8 hours at 2 and 16 hours at 3.
  EXPECT_EQ(idle_price({utc("2026-11-23 22:00"), utc("2026-11-23 23:00")}), 60 * 2);
  const Span day{utc("2026-11-23 23:00"), utc("2026-11-24 23:00")};
  EXPECT_EQ(idle_price(day), 60 * (8 * 2 + 16 * 3));
  EXPECT_EQ(unit_price(day), 60 * (8 * 2 + 16 * 3));
  EXPECT_EQ(rated(day).mean_rate, Time(0));
}

TEST_F(RatedEnergyOfSpans, DaysOfTwentyThreeAndTwentyFiveHoursAreRight) {
  record("2026-03-28 23:00", 23h + 1min);
  record("2026-10-24 21:59", 25h + 2min);
  EXPECT_EQ(idle_price({utc("2026-03-28 23:00"), utc("2026-03-29 22:00")}), 60 * (7 * 2 + 16 * 3));
  EXPECT_EQ(idle_price({utc("2026-10-24 22:00"), utc("2026-10-25 23:00")}), 60 * (9 * 2 + 16 * 3));
}

TEST_F(RatedEnergyOfSpans, APriceThatChangesInAMonthIsThatOfItsTime) {
  tariff.prices = {{.price = {3}}, {.price = {5}, .since = 20261115}};
  record("2026-10-31 23:00", 30 * 24h + 1min);
  const Span month{utc("2026-10-31 23:00"), utc("2026-11-30 23:00")};
  EXPECT_EQ(idle_price(month), 24 * 60 * (14 * 3 + 16 * 5));
  EXPECT_EQ(unit_price(month), 24 * 60 * (14 * 3 + 16 * 5));
}

TEST_F(RatedEnergyOfSpans, WhereHoursAreNotKeptTheMeanIsAppliedAndItsTimeStated) {
  settings.hours = 10 * 24h;
  settings.five_minutes = 1h;
  open();
  record("2026-10-31 23:00", 31 * 24h);
  const Span day{utc("2026-11-03 23:00"), utc("2026-11-04 23:00")};
  EXPECT_EQ(count("SELECT count(*) FROM spans WHERE step = 2 AND begin < " + std::to_string(day.end.count())),
            0);
  EXPECT_EQ(rated(day).mean_rate, Time(24h));
  EXPECT_EQ(idle_price(day), 24 * 60 * 3) << "the mean is 2.67, as an integer 3";
  const Span month{utc("2026-10-31 23:00"), utc("2026-11-30 23:00")};
  const Time mean = rated(month).mean_rate;
  EXPECT_EQ(mean % Time(1h), Time(0));
  EXPECT_GT(mean, Time(20 * 24h));
  EXPECT_LT(mean, Time(23 * 24h)) << "the hours that are kept have their own prices";
}

TEST_F(RatedEnergyOfSpans, OfADayInWhichSomeHoursAreKeptTheRestIsTheirMean) {
  tariff.prices = {{.price = {300}}, {.price = {200}, .start = 0, .end = 12 * 60}};
  record("2026-11-23 23:00", 24h + 1min);
  const Span day{utc("2026-11-23 23:00"), utc("2026-11-24 23:00")};
  recorder->store().database().run("DELETE FROM spans WHERE step <= 2 AND begin < " +
                                   std::to_string(utc("2026-11-24 05:00").count()));
  EXPECT_EQ(idle_price(day), 60 * (12 * 200 + 12 * 300)) << "the mean of the six hours is their price";
  EXPECT_EQ(rated(day).mean_rate, Time(6h));
}

TEST_F(RatedEnergyOfSpans, AnInterruptionHasTheMeanOfItsTime) {
  tariff.prices = {{.price = {300}}, {.price = {200}, .start = 0, .end = 12 * 60}};
  read();
  record("2026-11-24 09:00", 1min);
  now = utc("2026-11-24 13:00");
  draw_idle(1000);
  read();
  now += 1min;
  read();
  const Span around{utc("2026-11-24 09:00"), utc("2026-11-24 13:00")};
  EXPECT_EQ(rated(around).mean_rate, Time(4h - 1min));
}

TEST_F(RatedEnergyOfSpans, WhereNoIntensityIsKnownTheTimeIsStated) {
  const auto at = [](const char* text) {
    return std::chrono::sys_seconds(std::chrono::floor<std::chrono::seconds>(utc(text)));
  };
  tariff = {.intensities = {{at("2026-11-24 10:00"), {7}}, {at("2026-11-24 11:30"), {9}}}};
  record("2026-11-24 10:00", 3h + 1min);
  const RatedSummary summary = rated({utc("2026-11-24 10:00"), utc("2026-11-24 13:00")});
  EXPECT_EQ(summary.no_intensity, Time(1h));
  EXPECT_EQ(static_cast<std::int64_t>(summary.idle.carbon), 60'000 * 7 + 60'000 * 9);
  EXPECT_EQ(summary.without_intensity, Microjoules{66'000});
  EXPECT_EQ(summary.mean_rate, Time(0)) << "in an hour, five minutes have their own";
}

TEST_F(RatedEnergyOfSpans, AnIntensityThatIsKnownForAPartIsNotExtendedToTheRest) {
  const auto at = [](const char* text) {
    return std::chrono::sys_seconds(std::chrono::floor<std::chrono::seconds>(utc(text)));
  };
  tariff = {.intensities = {{at("2026-11-24 10:30"), {8}}}};
  record("2026-11-24 10:00", 1h + 1min);
  recorder->store().database().run("DELETE FROM spans WHERE step = 1 AND part_of IS NOT NULL");
  const RatedSummary summary = rated({utc("2026-11-24 10:00"), utc("2026-11-24 11:00")});
  EXPECT_EQ(static_cast<std::int64_t>(summary.idle.carbon), 60'000 * 4) << "8 for half of the hour";
  EXPECT_EQ(summary.no_intensity, Time(30min));
  EXPECT_EQ(summary.without_intensity, Microjoules{33'000});
}

TEST_F(RatedEnergyOfSpans, IsTheSumOfTheWholeWhateverIsRated) {
  record("2026-11-23 22:30", 27h);
  const Span all{utc("2026-11-23 22:00"), now + 1h};
  EXPECT_EQ(rated_sum(all)->summary().accounts, summary(all).accounts);
  EXPECT_EQ(rated_sum(all)->summary().recorded, summary(all).recorded);
  EXPECT_EQ(workloads_of(*rated_sum(all), {Kind::kUnits, {}, {}})[0].amounts.energy(),
            Microjoules{std::int64_t{27} * 60 * 100});
}

TEST_F(RatedEnergyOfSpans, AYearIsManySmallSteps) {
  record("2026-11-23 22:00", 50h);
  const Span all{utc("2026-11-23 22:00"), now + 1h};
  const RateSeries series(tariff, all.start, all.end);
  PeriodSum sum(recorder->store().database(), {all, &series});
  int steps = 0;
  while (sum.step()) ++steps;
  EXPECT_GT(steps, 50) << "an hour or more";
}

}  // namespace
}  // namespace keplerd::history
