// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/run/report.h"
#include "cli/run_measurements.h"

namespace keplerd::cli::run {
namespace {

using testing::HasSubstr;

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

}  // namespace
}  // namespace keplerd::cli::run
