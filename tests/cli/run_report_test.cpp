// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/run/report.h"
#include "cli/run_measurements.h"

namespace keplerd::cli::run {
namespace {

using testing::HasSubstr;

TEST(RunReport, AUnitThatDidNotExistBeforeCountsFromZero) {
  const Report report = measured_report(make_run(), measurement());
  EXPECT_EQ(report.energy, Microjoules{200'000'000});
  EXPECT_EQ(report.active, Microjoules{200'000'000});
  EXPECT_EQ(report.cpu, microseconds(10'000'000));
  EXPECT_EQ(report.duration, std::chrono::seconds(8));
  EXPECT_EQ(report.mean_power, Microwatts{25'000'000});
  EXPECT_EQ(report.peak_power, Microwatts{31'000'000});
  EXPECT_EQ(report.problem, "");
}

TEST(RunReport, AUnitThatExistedBeforeCountsFromItsEnergyThen) {
  Measurement known = measurement();
  known.before.row = unit_row(50'000'000);
  const Report report = measured_report(make_run(), known);
  EXPECT_EQ(report.energy, Microjoules{150'000'000});
  EXPECT_EQ(report.cpu, microseconds(7'500'000));
  ASSERT_EQ(report.zones.size(), 2u);
  EXPECT_EQ(report.zones[0].name, "powercap:package:0");
  EXPECT_EQ(report.zones[0].energy, Microjoules{135'000'000});
  EXPECT_EQ(report.zones[1].energy, Microjoules{15'000'000});
}

TEST(RunReport, IdleEnergyIsThatOfTheTimeOfTheRun) {
  const Report report = measured_report(make_run(), measurement());
  EXPECT_EQ(report.host_idle, Microjoules{80'000'000});     // 8 of the 10 seconds between the samples
  EXPECT_EQ(report.host_active, Microjoules{300'000'000});  // all of them
}

// 50 J of its 200 J were placed on it.
Json row_with_idle() {
  Json row = unit_row(200'000'000);
  row.merge_patch({{"activeMicrojoules", 150'000'000},
                   {"idleMicrojoules", 50'000'000},
                   {"powerMicrowatts", 20'000'000},
                   {"idleMicrowatts", 5'000'000},
                   {"errorMicrojoules", 2'000'000}});
  row["zones"][0]["idleMicrojoules"] = 50'000'000;
  return row;
}

TEST(RunReport, AnActiveRowLacksTheIdleEnergyThatWasPlacedOnIt) {
  const Json row = active_row(row_with_idle());
  EXPECT_EQ(row.at("energyMicrojoules"), 150'000'000);
  EXPECT_EQ(row.at("activeMicrojoules"), 150'000'000);
  EXPECT_EQ(row.at("powerMicrowatts"), 15'000'000);
  EXPECT_EQ(row.at("zones")[0].at("energyMicrojoules"), 130'000'000);
  EXPECT_EQ(row.at("zones")[1].at("energyMicrojoules"), 20'000'000);
  EXPECT_EQ(active_row(unit_row(7)).at("energyMicrojoules"), 7);
}

TEST(RunReport, PlacedIdleEnergyIsShownApartIfItIsIncluded) {
  Measurement known = measurement();
  known.includes_idle = true;
  for (Json* status : {&known.before.status, &known.after.status}) (*status)["idle"] = "equal";
  known.after.row = row_with_idle();
  known.processes = {process_row("cc1plus", kUnit, 140'000'000)};
  const Report report = measured_report(make_run(), known);
  EXPECT_EQ(report.energy, Microjoules{200'000'000});
  EXPECT_EQ(report.active, Microjoules{150'000'000});
  EXPECT_EQ(report.idle, Microjoules{50'000'000});
  EXPECT_EQ(report.other, Microjoules{10'000'000});
  EXPECT_EQ(report.error, std::nullopt) << "that of idle energy is not known";
  EXPECT_EQ(report.problem, "");
  EXPECT_EQ(report_json(report).at("idleMicrojoules"), 50'000'000);
  EXPECT_THAT(report_text(report), HasSubstr("Host's idle: 80.0 J in this time, 50 J of it included\n"));
}

TEST(RunReport, IdleEnergyThatIsPlacedOnNobodyCannotBeIncluded) {
  Measurement known = measurement();
  known.includes_idle = true;
  known.places_idle = false;
  const Report report = measured_report(make_run(), known);
  EXPECT_EQ(report.energy, Microjoules{200'000'000});
  EXPECT_EQ(report.problem, "keplerd allocates no idle energy to workloads (Idle=separate)");
}

TEST(RunReport, TheResolutionIsWhatTheHostUsesInATick) {
  EXPECT_EQ(measured_report(make_run(), measurement()).resolution, Microjoules{400'001});  // 40 W for 10 ms
}

TEST(RunReport, TheResolutionOfCallersWithoutFullAccessIsTheirStep) {
  Measurement known = measurement();
  for (Json* status : {&known.before.status, &known.after.status}) {
    status->erase("accounts");
    (*status)["host"]["energyMicrojoules"] = (*status)["monotonicUsec"];  // 1 W
  }
  EXPECT_EQ(measured_report(make_run(), known).resolution, kPublicStep);
}

TEST(RunReport, WhatIsBelowTheResolutionHasNoPower) {
  const Report report = measured_report(make_run(), measurement(400'000));
  EXPECT_FALSE(is_resolved(report));
  EXPECT_EQ(report.mean_power, std::nullopt);
  EXPECT_EQ(report.peak_power, std::nullopt);
  EXPECT_THAT(report_text(report), HasSubstr("Energy: less than 0.4 J\n"));
}

TEST(RunReport, APeakBelowTheMeanIsThatOfALongerWindow) {
  Measurement known = measurement();
  known.peak = Microwatts{24'999'999};
  EXPECT_EQ(measured_report(make_run(), known).peak_power, std::nullopt);
}

TEST(RunReport, ProgramsAreThoseOfTheUnitAndBelowItByName) {
  Measurement known = measurement();
  known.processes = {process_row("cc1plus", kUnit, 70'000'000),
                     process_row("ld", "/user.slice/run.scope/inner", 30'000'000),
                     process_row("cc1plus", kUnit, 60'000'000),
                     process_row("ld", "/other.scope", 1),
                     process_row("ld", "/user.slice/run.scope2", 1),
                     process_row("make", kUnit, 0)};
  const Report report = measured_report(make_run(), known);
  ASSERT_EQ(report.programs.size(), 2u);
  EXPECT_EQ(report.programs[0].name, "cc1plus");
  EXPECT_EQ(report.programs[0].energy, Microjoules{130'000'000});
  EXPECT_EQ(report.programs[0].cpu, microseconds(6'500'000));
  EXPECT_EQ(report.programs[1].name, "ld");
  EXPECT_EQ(report.other, Microjoules{40'000'000});
}

TEST(RunReport, ProgramsOfAnEarlierUnitOfTheSameNameAreNotItsOwn) {
  Measurement known = measurement();
  Json old = process_row("cc1plus", kUnit, 70'000'000);
  old["state"] = "terminated";
  old["sinceUsec"] = known.before.status["realtimeUsec"].get<std::int64_t>() - 1;
  Json ended = process_row("ld", kUnit, 10'000'000);
  ended["state"] = "terminated";
  ended["sinceUsec"] = known.before.status["realtimeUsec"];
  known.processes = {old, ended};
  const Report report = measured_report(make_run(), known);
  ASSERT_EQ(report.programs.size(), 1u);
  EXPECT_EQ(report.programs[0].name, "ld");
}

// It exists before it is put into the unit, and may be sampled then.
TEST(RunReport, TheCommandIsListedSinceWhenItMayBeKnown) {
  Measurement known = measurement();
  Json command = process_row("make", kUnit, 70'000'000);
  command["state"] = "terminated";
  command["sinceUsec"] = known.before.status["realtimeUsec"].get<std::int64_t>() - 20'000;
  known.processes = {command};
  EXPECT_TRUE(measured_report(make_run(), known).programs.empty());
  known.command = command["pid"];
  ASSERT_EQ(measured_report(make_run(), known).programs.size(), 1u);
}

TEST(RunReport, NamesWhatStillRunsInTheUnitButNotItsOwnProcess) {
  Measurement known = measurement();
  Json ended = process_row("ended", kUnit, 1);
  ended["state"] = "terminated";
  Json own = process_row("keplerctl", kUnit, 1);
  own["pid"] = 77;
  known.holder = 77;
  known.processes = {process_row("sleep", kUnit, 0), process_row("other", "/other.scope", 0), ended, own};
  const Report report = measured_report(make_run(), known);
  EXPECT_EQ(report.still_running, std::vector<std::string>{"sleep (PID 4711)"});
  for (const Part& program : report.programs) EXPECT_NE(program.name, "keplerctl");
}

TEST(RunReport, NothingStillRunsInAUnitThatWasWaitedFor) {
  Measurement known = measurement();
  known.processes = {process_row("zombie", kUnit, 0)};
  known.is_over = true;
  EXPECT_TRUE(measured_report(make_run(), known).still_running.empty());
}

TEST(RunReport, OfAnAttachedRowIsItsDifferenceWithoutProgramsAndError) {
  Measurement known = measurement();
  known.before.row = unit_row(50'000'000);
  known.after.row["errorMicrojoules"] = 2'000'000;
  EXPECT_EQ(report_json(measured_report(make_attached(), known)).dump(),
            R"({"attached":{"kind":"unit","id":"/user.slice/run.scope"},"energyMicrojoules":150000000,)"
            R"("activeMicrojoules":150000000,"meanMicrowatts":15000000,"peakMicrowatts":31000000,)"
            R"("durationUsec":10000000,"cpuUsec":7500000,"hostIdleMicrojoules":100000000,)"
            R"("hostActiveMicrojoules":300000000,)"
            R"("zones":[{"id":"powercap:package:0","energyMicrojoules":135000000},)"
            R"({"id":"powercap:dram:0","energyMicrojoules":15000000}],)"
            R"("resolutionMicrojoules":400001,"source":{"name":"powercap","quality":"measured"}})");
}

TEST(RunReport, AnAttachedRowThatHasEndedIsMarked) {
  Measurement known = measurement();
  known.before.row = unit_row(50'000'000);
  const Report report = measured_report(make_attached(true), known);
  EXPECT_EQ(report_json(report)["attached"]["ended"], true);
  EXPECT_THAT(report_text(report), testing::StartsWith("\n        Attached: unit run.scope, ended\n"));
}

TEST(RunReport, AnAttachedRowThatWasNotShownHasNoEnergyBecauseItHasAPast) {
  const Report report = measured_report(make_attached(), measurement());
  EXPECT_EQ(report.energy, std::nullopt);
  EXPECT_EQ(report.cpu, std::nullopt);
  EXPECT_EQ(report.problem, "keplerd did not show the row at the beginning");
}

TEST(RunReport, AnAttachedRowThatWasDroppedIsIncomplete) {
  Measurement known = measurement();
  known.before.row = unit_row(50'000'000);
  known.lost = true;
  const Report report = measured_report(make_attached(true), known);
  EXPECT_EQ(report.energy, Microjoules{150'000'000});
  EXPECT_EQ(report.problem, "keplerd has dropped the row: what it used at its end is missing");
}

}  // namespace
}  // namespace keplerd::cli::run
