// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cli/run/series.h"
#include "varlink/json.h"

namespace keplerd::cli::run {
namespace {

Report report(std::int64_t joules, int exit_status = 0) {
  Report run;
  run.command = {"true"};
  run.exit_status = exit_status;
  run.duration = std::chrono::seconds(2);
  run.energy = run.active = Microjoules{joules * 1'000'000};
  run.cpu = std::chrono::seconds(1);
  run.mean_power = Microwatts{joules * 500'000};
  run.peak_power = Microwatts{joules * 600'000};
  run.resolution = {50'000};
  run.source = {{"name", "powercap"}, {"quality", "measured"}};
  return run;
}

TEST(RunSeries, OneRunIsItsReport) {
  EXPECT_EQ(series_json({report(10)}), report_json(report(10)));
  EXPECT_EQ(series_text({report(10)}), "");
}

TEST(RunSeries, SeveralRunsAreTheirMeansAndTheHighestPeak) {
  const Json json = series_json({report(10), report(12)});
  EXPECT_EQ(json["energyMicrojoules"], 11'000'000);
  EXPECT_EQ(json["meanMicrowatts"], 5'500'000);
  EXPECT_EQ(json["peakMicrowatts"], 7'200'000);
  EXPECT_EQ(json["durationUsec"], 2'000'000);
  EXPECT_EQ(json["mean"], 11'000'000);
  EXPECT_NEAR(json["stdevPercent"].get<double>(), 12.856486930664501, 1e-9);
  ASSERT_EQ(json["runs"].size(), 2u);
  EXPECT_EQ(json["runs"][0], report_json(report(10)));
  EXPECT_FALSE(json.contains("processes"));
}

TEST(RunSeries, APhaseThatWasAttachedIsNamedInTheTable) {
  Report run = report(10);
  run.attached = Attached{"virtual-machine", "4dea22b3", "virtual machine web", false};
  const auto table = phases_table(*append_phase("", report_json(run)), {});
  ASSERT_TRUE(table.ok());
  EXPECT_NE(table->find("virtual-machine 4dea22b3\n"), std::string::npos) << *table;
}

TEST(RunSeries, TheCostIsThatOfTheMean) {
  std::vector<Report> runs = {report(7), report(10)};
  for (Report& run : runs) run.rates = {MicroCurrency{1'000'000}, "EUR", Micrograms{1'000'000'000}};
  const Json json = series_json(runs);
  EXPECT_EQ(json["costMicro"], 2);  // 8.5 J / 3.6 J
  EXPECT_EQ(json["milligramsCO2e"], 2);
  EXPECT_EQ(json["runs"][1]["costMicro"], 3);
}

TEST(RunSeries, ARunThatFailedIsListedAndIsNotInTheMean) {
  const Json json = series_json({report(10), report(12), report(1, 3)});
  EXPECT_EQ(json["exitStatus"], 3);
  EXPECT_EQ(json["mean"], 11'000'000);
  EXPECT_EQ(json["runs"].size(), 3u);
  EXPECT_EQ(series_text({report(10), report(12), report(1, 3)}),
            "\n3 runs, 2 of them successful, on average:\n"
            "          Energy: 11.0 J +- 12.9 %\n"
            "      Mean power: 5.50 W\n"
            "            Time: 2.00 s\n"
            "        CPU time: 1.00 s\n");
}

TEST(RunSeries, ThereIsNoMeanOfWhatIsNotKnown) {
  Report unknown = report(10);
  unknown.energy.reset();
  EXPECT_EQ(mean_energy({report(10), unknown}), std::nullopt);
  EXPECT_EQ(mean_energy({report(10), report(11)}), Microjoules{10'500'000});
  EXPECT_FALSE(series_json({report(10), unknown}).contains("energyMicrojoules"));
}

TEST(RunSeries, AnEarlierResultIsOneRunOrItsSuccessfulRuns) {
  const auto one = energies_of({{"run", series_json({report(10)})}});
  ASSERT_TRUE(one);
  EXPECT_EQ(*one, (std::vector<double>{1e7}));
  const auto two = energies_of({{"run", series_json({report(10), report(3, 1), report(12)})}});
  ASSERT_TRUE(two);
  EXPECT_EQ(*two, (std::vector<double>{1e7, 1.2e7}));
  EXPECT_FALSE(energies_of({{"host", 1}}));
  EXPECT_FALSE(energies_of(Json("text")));
}

TEST(RunSeries, ComparesWithTheNoise) {
  EXPECT_EQ(
      comparison_text("old.json", {10e6, 10.2e6, 9.8e6}, {8e6, 8.2e6, 7.8e6}),
      "\nCompared with old.json: 10.0 J before, 8.00 J now, -20.0 %; larger than the noise (p < 0.001)\n");
  EXPECT_EQ(
      comparison_text("old.json", {10e6, 12e6}, {10.5e6, 12.5e6}),
      "\nCompared with old.json: 11.0 J before, 11.5 J now, +4.5 %; not larger than the noise (p = 0.757)\n");
  EXPECT_EQ(
      comparison_text("old.json", {10e6}, {12e6}),
      "\nCompared with old.json: 10.0 J before, 12.0 J now, +20.0 %; the noise is unknown with less than "
      "two runs of each (-r)\n");
}

TEST(RunSeries, AComparisonAsJson) {
  const Json json = comparison_json("old.json", {10e6, 10.2e6, 9.8e6}, {8e6, 8.2e6, 7.8e6});
  EXPECT_EQ(json["mean"], 10'000'000);
  EXPECT_EQ(json["significant"], true);
  EXPECT_NEAR(json["changePercent"].get<double>(), -20, 1e-9);
  EXPECT_FALSE(comparison_json("old.json", {10e6}, {8e6}).contains("significant"));
}

TEST(RunPhases, AreAppendedAndShownWithTheirSum) {
  Report install = report(100), idle = report(20);
  install.label = "install";
  idle.label = "idle";
  const auto one = append_phase("", report_json(install));
  ASSERT_TRUE(one);
  const auto two = append_phase(*one, report_json(idle));
  ASSERT_TRUE(two);
  const auto table = phases_table(*two, {});
  ASSERT_TRUE(table);
  EXPECT_EQ(*table,
            "PHASE    ENERGY    POWER    TIME     CPU  COMMAND\n"
            "install   100 J  50.00 W  2.00 s  1.00 s  true\n"
            "idle     20.0 J  10.00 W  2.00 s  1.00 s  true\n"
            "total     120 J        -  4.00 s  2.00 s  -\n");
}

TEST(RunPhases, AnotherFileIsNotChanged) {
  EXPECT_FALSE(append_phase("{\"run\":{}}", Json::object()));
  EXPECT_FALSE(append_phase("[]", Json::object()));
  EXPECT_FALSE(append_phase("garbage", Json::object()));
  EXPECT_FALSE(phases_table("garbage", {}));
  EXPECT_EQ(*phases_table("", {}), "No phases.\n");
}

}  // namespace
}  // namespace keplerd::cli::run
