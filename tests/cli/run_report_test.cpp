// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/run/report.h"
#include "cli/sample_replies.h"

namespace keplerd::cli::run {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kUnit = "/user.slice/run.scope";

// The host has drawn 400 J in ten seconds, 100 J of them idle.
Json status_at(std::int64_t seconds, bool full = true) {
  Json status = measured_status();
  status["monotonicUsec"] = seconds * 1'000'000;
  status["host"]["energyMicrojoules"] = seconds * 40'000'000;
  status["host"]["activeMicrojoules"] = seconds * 30'000'000;
  status["host"]["idleMicrojoules"] = seconds * 10'000'000;
  if (!full) status.erase("accounts");
  return status;
}

Json unit_row(std::int64_t energy) {
  return {{"id", kUnit},
          {"energyMicrojoules", energy},
          {"activeMicrojoules", energy},
          {"idleMicrojoules", 0},
          {"cpuUsec", energy / 20},
          {"zones",
           {{{"id", "powercap:package:0"}, {"energyMicrojoules", energy - energy / 10}},
            {{"id", "powercap:dram:0"}, {"energyMicrojoules", energy / 10}}}}};
}

Json process_row(const char* comm, const char* unit, std::int64_t energy) {
  return {{"id", "1.2"},
          {"pid", 4711},
          {"comm", comm},
          {"unit", unit},
          {"state", "running"},
          {"energyMicrojoules", energy},
          {"unitMicrojoules", energy},
          {"cpuUsec", energy / 20}};
}

// From second 101 to 109, between samples at seconds 100 and 110.
CommandRun make_run() {
  CommandRun run;
  run.command = {"make", "-j4"};
  run.began = std::chrono::seconds(101);
  run.ended = std::chrono::seconds(109);
  return run;
}

Measurement measurement(std::int64_t energy = 200'000'000) {
  return {{status_at(100), Json()}, {status_at(110), unit_row(energy)}, Microwatts{31'000'000}};
}

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

constexpr const char* kRestarted =
    "keplerd was restarted during the run: what was used until it ran again may be missing";

Measurement interrupted_measurement() {
  Measurement known = measurement();
  known.interrupted = true;
  return known;
}

TEST(RunReport, ARestartOfKeplerdMeanwhileIsNoProblemIfAllWasDivided) {
  const Report report = measured_report(make_run(), interrupted_measurement());
  EXPECT_EQ(report.problem, "");
  EXPECT_EQ(report.energy, Microjoules{200'000'000});
}

TEST(RunReport, ARestartOfKeplerdMeanwhileIsAProblemIfEnergyWasNotDivided) {
  Measurement known = interrupted_measurement();
  known.after.status["accounts"]["unattributed"] = 1;
  const Report report = measured_report(make_run(), known);
  EXPECT_EQ(report.problem, kRestarted);
  EXPECT_EQ(report.energy, Microjoules{200'000'000}) << "the rest is reported";
}

TEST(RunReport, ARestartOfKeplerdMeanwhileIsAProblemIfEnergyWasNotCounted) {
  Measurement known = interrupted_measurement();
  known.after.status["discardedWindows"] = 1;
  EXPECT_EQ(measured_report(make_run(), known).problem, kRestarted);
}

TEST(RunReport, ARestartOfKeplerdMeanwhileIsAProblemForCallersWhoDoNotSeeWhetherAllWasDivided) {
  Measurement known = interrupted_measurement();
  for (Json* status : {&known.before.status, &known.after.status}) status->erase("accounts");
  EXPECT_EQ(measured_report(make_run(), known).problem, kRestarted);
}

TEST(RunReport, ARestartOfKeplerdMeanwhileIsAProblemForARowThatMayHaveBeenStartedAgain) {
  Measurement known = interrupted_measurement();
  known.before.row = unit_row(100'000'000);
  CommandRun run = make_run();
  run.attached = Attached{"unit", kUnit, "unit run.scope"};
  EXPECT_EQ(measured_report(run, known).problem, kRestarted);
}

TEST(RunReport, ACounterThatWentBackIsUnknown) {
  Measurement known = measurement();
  known.before.row = unit_row(300'000'000);
  const Report report = measured_report(make_run(), known);
  EXPECT_EQ(report.energy, std::nullopt);
  EXPECT_EQ(report.cpu, std::nullopt);
}

TEST(RunReport, AnotherInstanceIsAProblemAndNoEnergy) {
  Measurement known = measurement();
  known.after.status["instanceId"] = "fedcba9876543210";
  const Report report = measured_report(make_run(), known);
  EXPECT_EQ(report.energy, std::nullopt);
  EXPECT_EQ(report.problem, "keplerd has lost its totals during the run");
}

TEST(RunReport, NoMeterIsAProblemAndOnlyTheCpuTimeIsKnown) {
  Measurement known = measurement();
  known.after.status["source"] = Json{{"name", "none"}, {"reason", "powercap: no zones"}};
  const Report report = measured_report(make_run(), known);
  EXPECT_EQ(report.energy, std::nullopt);
  EXPECT_EQ(report.cpu, microseconds(10'000'000));
  EXPECT_THAT(report_text(report),
              HasSubstr("          Energy: not measured: no energy meter can be read: powercap: no zones\n"));
}

TEST(RunReport, AUnitThatIsNotShownIsAProblem) {
  Measurement known = measurement();
  known.after.row = Json();
  EXPECT_EQ(measured_report(make_run(), known).problem, "keplerd has no row for the unit of the command");
  known.after.status = status_at(110, false);
  EXPECT_EQ(measured_report(make_run(), known).problem,
            "keplerd does not show the unit of the command to this user");
}

TEST(RunReport, ALastSampleBeforeTheEndIsIncomplete) {
  Measurement known = measurement();
  known.after.status["monotonicUsec"] = 108'500'000;
  const Report report = measured_report(make_run(), known);
  EXPECT_EQ(report.energy, Microjoules{200'000'000});
  EXPECT_THAT(report_text(report),
              HasSubstr("      Incomplete: keplerd took its last sample 500 ms before the command ended\n"));
}

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

CommandRun make_attached(bool ended = false) {
  CommandRun run;
  run.began = std::chrono::seconds(100);
  run.ended = std::chrono::seconds(110);
  run.attached = Attached{"unit", kUnit, "unit run.scope", ended};
  return run;
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
