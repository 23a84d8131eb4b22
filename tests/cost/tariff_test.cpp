// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <ctime>

#include <gtest/gtest.h>

#include "cost/rate_series.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

TariffTime utc(const char* text) {
  tm time{};
  EXPECT_NE(::strptime(text, "%Y-%m-%d %H:%M", &time), nullptr);
  return std::chrono::seconds(::timegm(&time));
}

class TariffOfBerlin : public testing::Test {
 protected:
  TariffOfBerlin() {
    ::setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    ::tzset();
  }
  ~TariffOfBerlin() override {
    ::unsetenv("TZ");
    ::tzset();
  }
  std::int64_t price(const char* time) { return rates_at(tariff, utc(time)).price->value; }
  std::int64_t priced(const char* from, const char* to) {
    const RateSeries series(tariff, utc(from), utc(to));
    return static_cast<std::int64_t>(series.sum(utc(from), utc(to)).price / TariffTime(1h).count());
  }

  // Cheaper at night.
  Tariff tariff{.prices = {{.price = {300}}, {.price = {200}, .start = 22 * 60, .end = 6 * 60}},
                .currency = "EUR"};
};

TEST_F(TariffOfBerlin, PricesAreThoseOfLocalTime) {
  EXPECT_EQ(price("2026-11-24 20:55"), 300);
  EXPECT_EQ(price("2026-11-24 21:00"), 200) << "22:00";
  EXPECT_EQ(price("2026-07-24 20:00"), 200) << "22:00 in summer";
  EXPECT_EQ(price("2026-07-24 19:55"), 300);
}

TEST_F(TariffOfBerlin, ANightIsAsLongAsItIsWhereTheClockChanges) {
  EXPECT_EQ(priced("2026-11-23 23:00", "2026-11-24 23:00"), 8 * 200 + 16 * 300);
  EXPECT_EQ(priced("2026-03-28 23:00", "2026-03-29 22:00"), 7 * 200 + 16 * 300) << "a day of 23 hours";
  EXPECT_EQ(priced("2026-10-24 22:00", "2026-10-25 23:00"), 9 * 200 + 16 * 300) << "a day of 25 hours";
}

TEST_F(TariffOfBerlin, APriceMayChangeInTheMiddleOfAMonth) {
  tariff.prices.push_back({.price = {1000}, .since = 20261115});
  EXPECT_EQ(price("2026-11-14 22:55"), 200);
  EXPECT_EQ(price("2026-11-14 23:00"), 1000);
}

TEST_F(TariffOfBerlin, KnowsWhereRatesAreConstant) {
  const RateSeries series(tariff, utc("2026-11-24 00:00"), utc("2026-11-26 00:00"));
  EXPECT_TRUE(series.is_constant(utc("2026-11-24 05:00"), utc("2026-11-24 21:00")));
  EXPECT_FALSE(series.is_constant(utc("2026-11-24 05:00"), utc("2026-11-24 21:05")));
  EXPECT_EQ(series.sum(utc("2026-11-24 20:00"), utc("2026-11-24 22:00")).mean_price(), 250);
}

TEST_F(TariffOfBerlin, ASeriesThatIsExtendedInStepsIsTheSame) {
  const TariffTime from = utc("2026-11-24 00:00"), to = utc("2026-11-26 00:00");
  const RateSeries whole(tariff, from, to);
  RateSeries series(std::make_shared<const Tariff>(tariff), from);
  int steps = 0;
  while (!series.extend(to, 10)) ++steps;
  EXPECT_EQ(steps, 57) << "576 times five minutes, ten at once";
  for (TariffTime time = from; time < to; time += 5min) {
    EXPECT_EQ(series.sum(from, time).price, whole.sum(from, time).price);
    EXPECT_EQ(series.is_constant(time, to), whole.is_constant(time, to));
  }
}

TEST_F(TariffOfBerlin, WhatTheSiteNeedsIsPartOfTheRates) {
  tariff.pue = 1'400'000;
  tariff.carbon = Micrograms{10};
  EXPECT_EQ(rates_at(tariff, utc("2026-11-24 12:00")), (Rates{MicroCurrency{420}, "EUR", Micrograms{14}}));
}

TEST_F(TariffOfBerlin, AnIntensityIsValidUntilTheNextOneAndAnHourAtMost) {
  const auto at = [](const char* text) {
    return std::chrono::sys_seconds(std::chrono::floor<std::chrono::seconds>(utc(text)));
  };
  tariff = {.intensities = {{at("2026-11-24 12:00"), {100}},
                            {at("2026-11-24 12:30"), {200}},
                            {at("2026-11-24 15:00"), {300}}}};
  const auto carbon = [this](const char* time) { return rates_at(tariff, utc(time)).carbon; };
  EXPECT_FALSE(carbon("2026-11-24 11:55"));
  EXPECT_EQ(carbon("2026-11-24 12:25"), Micrograms{100});
  EXPECT_EQ(carbon("2026-11-24 12:30"), Micrograms{200});
  EXPECT_EQ(carbon("2026-11-24 13:25"), Micrograms{200});
  EXPECT_FALSE(carbon("2026-11-24 13:30"));
  const RateSeries series(tariff, utc("2026-11-24 12:00"), utc("2026-11-24 14:00"));
  const auto sum = series.sum(utc("2026-11-24 12:00"), utc("2026-11-24 14:00"));
  EXPECT_EQ(sum.known, TariffTime(90min));
  EXPECT_EQ(sum.mean_carbon(), 125) << "what is known is not extended to the time of which nothing is";
  EXPECT_EQ(series.sum(utc("2026-11-24 13:30"), utc("2026-11-24 14:00")).mean_carbon(), 0);
}

TEST_F(TariffOfBerlin, EmbodiedEmissionsAreSpreadOverTheLifetime) {
  EXPECT_EQ(embodied_in(tariff, 1h), Milligrams{0});
  tariff.embodied = Milligrams{1'461'000};
  EXPECT_EQ(embodied_in(tariff, 24h), Milligrams{1000});
}

}  // namespace
}  // namespace keplerd
