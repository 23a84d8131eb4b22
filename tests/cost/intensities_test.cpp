// SPDX-License-Identifier: Apache-2.0
#include "cost/intensities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd {
namespace {

using std::chrono::sys_seconds;
using testing::ElementsAre;

constexpr std::string_view kElectricityMaps =
    "Datetime (UTC),Country,Zone name,Zone id,Carbon intensity gCO\xe2\x82\x82"
    "eq/kWh (direct),Carbon intensity gCO\xe2\x82\x82"
    "eq/kWh (Life cycle),Carbon-free energy percentage (CFE%),Renewable energy percentage (RE%),Data source,"
    "Data estimated,Data estimation method\n";

sys_seconds at(int year, unsigned month, unsigned day, int hour, int minute = 0) {
  return std::chrono::sys_days(std::chrono::year(year) / static_cast<int>(month) / static_cast<int>(day)) +
         std::chrono::hours(hour) + std::chrono::minutes(minute);
}

std::vector<Intensity> parsed(std::string_view csv) {
  auto list = parse_intensities(csv);
  EXPECT_TRUE(list.ok()) << list.error().message;
  return list ? *std::move(list) : std::vector<Intensity>();
}

std::string refusal(std::string_view csv) {
  const auto list = parse_intensities(csv);
  return list ? "accepted" : list.error().message;
}

TEST(Intensities, OfElectricityMapsAreThoseOfTheLifeCycle) {
  const std::string csv =
      std::string("\xef\xbb\xbf") + std::string(kElectricityMaps) +
      "2024-01-01 00:00:00,Germany,\"Germany, all\",DE,281.36,346.5,62.1,59,entsoe.eu,false,\r\n"
      "2024-01-01 01:00:00,Germany,Germany,DE,270.11,335.12000000000001,62.1,59,x,true,\n"
      "2024-01-01 02:00:00,Germany,Germany,DE,,,,,,,\n";
  EXPECT_THAT(parsed(csv), ElementsAre(Intensity{at(2024, 1, 1, 0), {346'500'000}},
                                       Intensity{at(2024, 1, 1, 1), {335'120'000}}))
      << "an hour without a value is skipped";
}

TEST(Intensities, OfWattTimeAreInPoundsPerMegawattHour) {
  EXPECT_THAT(parsed("timestamp,MOER,MOER version,frequency\n2022-11-01T00:05:00+00:00,1000,3.2,300\n"),
              ElementsAre(Intensity{at(2022, 11, 1, 0, 5), {453'592'370}}));
  EXPECT_THAT(parsed("point_time,value\n2022-11-01T00:05:00-05:00,0.5\n"),
              ElementsAre(Intensity{at(2022, 11, 1, 5, 5), {226'796}}));
}

TEST(Intensities, FilesMayBeJoinedAndTheLastValueOfATimeCounts) {
  const std::string header = "datetime,carbon intensity\n";
  EXPECT_THAT(
      parsed(header + "2026-01-01 02:00,3\n" + header + "2026-01-01T01:00Z,1\n2026-01-01 02:00,2\n\n"),
      ElementsAre(Intensity{at(2026, 1, 1, 1), {1'000'000}}, Intensity{at(2026, 1, 1, 2), {2'000'000}}));
}

TEST(Intensities, ErrorsNameTheLine) {
  EXPECT_EQ(refusal(""), "1: no columns of a time and of an intensity (see keplerd-cost.conf(5))");
  EXPECT_EQ(refusal("datetime,price\n"), refusal(""));
  const std::string header = "datetime,carbon intensity\n";
  EXPECT_EQ(refusal(header + "\n2026-01-01 00:00\n"), "3: fewer columns than the first line");
  for (const std::string time : {"2026-02-30 00:00", "2026-01-01", "2026-01-01 24:00", "2026-01-01 00:60",
                                 "01.01.2026 00:00", "2026-01-01 00:00 CET", "2026-01-01 00:00+25:00"})
    EXPECT_EQ(refusal(header + time + ",1\n"), "2: no time: '" + time + "'");
  for (const std::string value : {"-1", "1e3", "x", "1000001", "1."})
    EXPECT_EQ(refusal(header + "2026-01-01 00:00," + value), "2: no intensity: '" + value + "'");
}

}  // namespace
}  // namespace keplerd
