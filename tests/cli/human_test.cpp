// SPDX-License-Identifier: Apache-2.0
#include "cli/output/human.h"

#include <cstdlib>
#include <limits>

#include <gtest/gtest.h>

namespace keplerd::cli {
namespace {

using std::chrono::microseconds;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(Power, ThreeDigitsInTheUnitThatFits) {
  EXPECT_EQ(format_power({0}), "0 W");
  EXPECT_EQ(format_power({1}), "1 uW");
  EXPECT_EQ(format_power({999}), "999 uW");
  EXPECT_EQ(format_power({1'000}), "1.00 mW");
  EXPECT_EQ(format_power({350'000}), "350 mW");
  EXPECT_EQ(format_power({12'340'000}), "12.3 W");
  EXPECT_EQ(format_power({42'000'000}), "42.0 W");
  EXPECT_EQ(format_power({1'237'000'000}), "1.24 kW");
  EXPECT_EQ(format_power({kMost}), "9.22 TW");
}

TEST(Power, RoundingMayReachTheNextDigitAndTheNextUnit) {
  EXPECT_EQ(format_power({9'994'999}), "9.99 W");
  EXPECT_EQ(format_power({9'995'000}), "10.0 W");
  EXPECT_EQ(format_power({99'950'000}), "100 W");
  EXPECT_EQ(format_power({999'499'999}), "999 W");
  EXPECT_EQ(format_power({999'500'000}), "1.00 kW");
}

TEST(Power, ImpossibleIsNotShownAsANumber) {
  EXPECT_EQ(format_power({-1}), "-");
  EXPECT_EQ(format_power({std::numeric_limits<std::int64_t>::min()}), "-");
}

TEST(Energy, JoulesThenWattHours) {
  EXPECT_EQ(format_energy({0}), "0 J");
  EXPECT_EQ(format_energy({61}), "61 uJ");
  EXPECT_EQ(format_energy({350'000}), "350 mJ");
  EXPECT_EQ(format_energy({1'500'000}), "1.50 J");
  EXPECT_EQ(format_energy({1'000'000'000}), "1000 J");
  EXPECT_EQ(format_energy({3'599'499'999}), "3599 J");
  EXPECT_EQ(format_energy({3'599'500'000}), "1.00 Wh");
  EXPECT_EQ(format_energy({3'600'000'000}), "1.00 Wh");
  EXPECT_EQ(format_energy({44'400'000'000'000}), "12.3 kWh");
  EXPECT_EQ(format_energy({9'007'199'254'740'993}), "2.50 MWh");
  EXPECT_EQ(format_energy({kMost}), "2.56 GWh");
  EXPECT_EQ(format_energy({-1}), "-");
}

TEST(Time, SecondsThenTheTwoLargestParts) {
  EXPECT_EQ(format_time(microseconds(0)), "0 s");
  EXPECT_EQ(format_time(microseconds(350)), "350 us");
  EXPECT_EQ(format_time(microseconds(12'345)), "12.3 ms");
  EXPECT_EQ(format_time(microseconds(1'000'000)), "1.00 s");
  EXPECT_EQ(format_time(microseconds(59'949'999)), "59.9 s");
  EXPECT_EQ(format_time(microseconds(59'950'000)), "1min");
  EXPECT_EQ(format_time(microseconds(90'999'999)), "1min 30s");
  EXPECT_EQ(format_time(microseconds(7'500'000'000)), "2h 5min");
  EXPECT_EQ(format_time(microseconds(7'201'000'000)), "2h");
  EXPECT_EQ(format_time(microseconds(273'600'000'000)), "3d 4h");
  EXPECT_EQ(format_time(microseconds(kMost)), "106751991d 4h");
  EXPECT_EQ(format_time(microseconds(-1)), "-");
}

TEST(CostForPeople, HasTwoDecimalsOrThreeDigits) {
  EXPECT_EQ(format_cost({0}), "less than 0.000001");
  EXPECT_EQ(format_cost({1}), "0.000001");
  EXPECT_EQ(format_cost({999}), "0.000999");
  EXPECT_EQ(format_cost({1'235}), "0.00124");
  EXPECT_EQ(format_cost({9'995}), "0.0100");
  EXPECT_EQ(format_cost({12'345}), "0.0123");
  EXPECT_EQ(format_cost({4'564'999}), "4.56");
  EXPECT_EQ(format_cost({1'234'565'000}), "1234.57");
  EXPECT_EQ(format_cost({kMost}), "9223372036854.78");
  EXPECT_EQ(format_cost({-1}), "-");
}

TEST(CarbonForPeople, ThreeDigitsInTheUnitThatFits) {
  EXPECT_EQ(format_carbon({0}), "less than 1 mgCO2e");
  EXPECT_EQ(format_carbon({21}), "21 mgCO2e");
  EXPECT_EQ(format_carbon({4'200}), "4.20 gCO2e");
  EXPECT_EQ(format_carbon({1'237'000}), "1.24 kgCO2e");
  EXPECT_EQ(format_carbon({9'876'000'000'000}), "9876 tCO2e");
  EXPECT_EQ(format_carbon({-1}), "-");
}

TEST(Date, LocalTimeAsSystemdWritesIt) {
  ASSERT_EQ(setenv("TZ", "UTC", 1), 0);
  tzset();
  EXPECT_EQ(format_date(microseconds(1'763'697'662'999'999)), "Fri 2025-11-21 04:01:02 UTC");
  EXPECT_EQ(format_date(microseconds(-1)), "-");
}

}  // namespace
}  // namespace keplerd::cli
