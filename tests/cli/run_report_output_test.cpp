// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/run/report.h"
#include "cli/run_measurements.h"

namespace keplerd::cli::run {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(RunReport, AsJsonHasTheFieldsOfTheContract) {
  Measurement known = measurement();
  known.after.row["errorMicrojoules"] = 2'000'000;
  known.processes = {process_row("cc1plus", kUnit, 130'000'000)};
  CommandRun run = make_run();
  run.exit_status = 2;
  EXPECT_EQ(
      report_json(measured_report(run, known)).dump(),
      R"({"command":["make","-j4"],"exitStatus":2,"energyMicrojoules":200000000,)"
      R"("activeMicrojoules":200000000,"errorMicrojoules":2000000,"meanMicrowatts":25000000,)"
      R"("peakMicrowatts":31000000,"durationUsec":8000000,"cpuUsec":10000000,)"
      R"("hostIdleMicrojoules":80000000,"hostActiveMicrojoules":300000000,)"
      R"("zones":[{"id":"powercap:package:0","energyMicrojoules":180000000},)"
      R"({"id":"powercap:dram:0","energyMicrojoules":20000000}],)"
      R"("processes":[{"comm":"cc1plus","energyMicrojoules":130000000,"cpuUsec":6500000}],)"
      R"json("otherMicrojoules":70000000,"resolutionMicrojoules":400001,"stillRunning":["cc1plus (PID 4711)"],)json"
      R"("source":{"name":"powercap","quality":"measured"}})");
}

TEST(RunReport, CostAndEmissionsAreOfItsEnergy) {
  Report report = measured_report(make_run(), measurement());
  report.rates = {MicroCurrency{320'000}, "EUR", Micrograms{380'000'000}};
  const Json json = report_json(report);
  EXPECT_EQ(json["costMicro"], 18);  // 200 J are 1/18000 kWh
  EXPECT_EQ(json["currency"], "EUR");
  EXPECT_EQ(json["milligramsCO2e"], 21);
  EXPECT_THAT(report_text(report),
              HasSubstr("          Energy: 200 J\n            Cost: 0.000018 EUR, 21 mgCO2e\n"));
}

TEST(RunReport, WhatIsNotSetOrNotKnownHasNoCost) {
  Report report = measured_report(make_run(), measurement());
  report.rates = {{}, "EUR", Micrograms{380'000'000}};
  EXPECT_FALSE(report_json(report).contains("costMicro"));
  EXPECT_FALSE(report_json(report).contains("currency"));
  EXPECT_THAT(report_text(report), HasSubstr("            Cost: 21 mgCO2e\n"));
  report.rates = {MicroCurrency{320'000}, "EUR", {}};
  EXPECT_FALSE(report_json(report).contains("milligramsCO2e"));
  EXPECT_THAT(report_text(report), HasSubstr("            Cost: 0.000018 EUR\n"));
  report.energy.reset();
  EXPECT_FALSE(report_json(report).contains("costMicro"));
  EXPECT_THAT(report_text(report), Not(HasSubstr("Cost")));
}

TEST(RunReport, AnEnergyBelowTheResolutionHasNoCostForPeople) {
  Report report = measured_report(make_run(), measurement(400'000));
  report.rates = {MicroCurrency{320'000}, "EUR", {}};
  EXPECT_THAT(report_text(report), Not(HasSubstr("Cost")));
}

TEST(RunReport, UnmeasuredAsJsonHasTheReasonAndNoEnergy) {
  EXPECT_EQ(
      report_json(unmeasured_report(make_run(), "keplerd is not there")).dump(),
      R"({"command":["make","-j4"],"exitStatus":0,"durationUsec":8000000,"problem":"keplerd is not there"})");
}

TEST(RunReport, AsTextIsExactlyThis) {
  Measurement known = measurement();
  known.processes = {process_row("cc1plus", kUnit, 130'000'000)};
  CommandRun run = make_run();
  run.label = "build";
  const Report report = measured_report(run, known);
  EXPECT_EQ(report_text(report),
            "\n"
            "         Command: make -j4\n"
            "           Label: build\n"
            "          Energy: 200 J\n"
            "      Mean power: 25.0 W\n"
            "      Peak power: 31.0 W\n"
            "           Share: 66.67% of the host's active energy between the samples\n"
            "     Host's idle: 80.0 J in this time, not included\n"
            "           Zones: powercap:package:0 180 J, powercap:dram:0 20 J\n"
            "        Programs: cc1plus 130 J, other 70 J\n"
            "            Time: 8.00 s\n"
            "        CPU time: 10.0 s\n"
            "      Resolution: 0.4 J\n"
            "          Source: powercap, measured\n"
            "   Still running: cc1plus (PID 4711)\n");
}

TEST(RunReport, InventedNumbersAreLabelled) {
  Measurement known = measurement();
  known.after.status["source"] = simulated_status()["source"];
  EXPECT_THAT(report_text(measured_report(make_run(), known)),
              testing::StartsWith("\nSIMULATED: no meter is read, the numbers are invented\n"));
}

TEST(RunReport, TheCommandIsQuotedAndSafeForATerminal) {
  EXPECT_EQ(command_line({"sh", "-c", "echo 'a b'", ""}), R"(sh -c 'echo '\''a b'\''' '')");
  EXPECT_EQ(command_line({"a\x1b[31m"}), R"('a\x1b[31m')");
}

TEST(ResolvedEnergy, HasNoDigitsBelowTheResolution) {
  EXPECT_EQ(resolved_energy({1'300'000}, {100'000}), "1.3 J");
  EXPECT_EQ(resolved_energy({12'340'000}, {100'000}), "12.3 J");
  EXPECT_EQ(resolved_energy({12'340'000}, {1}), "12.3 J");
  EXPECT_EQ(resolved_energy({123'456}, {42'000}), "0.1 J");
  EXPECT_EQ(resolved_energy({123'456}, {500}), "123 mJ");
  EXPECT_EQ(resolved_energy({1'234'567}, {5'000}), "1.23 J");
  EXPECT_EQ(resolved_energy({4'000'000'000}, {100'000}), "1.11 Wh");
  EXPECT_EQ(resolved_energy({99'999}, {100'000}), "less than 0.1 J");
  EXPECT_EQ(resolved_energy({0}, {100'000}), "less than 0.1 J");
  EXPECT_EQ(resolved_energy({50}, {100}), "less than 100 uJ");
  EXPECT_EQ(resolved_energy({700}, {1}), "700 uJ");
}

}  // namespace
}  // namespace keplerd::cli::run
