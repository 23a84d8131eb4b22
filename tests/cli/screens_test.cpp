// SPDX-License-Identifier: Apache-2.0
#include "cli/screens.h"

#include <cstdlib>
#include <limits>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/sample_replies.h"

namespace keplerd::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class Screens : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
  }
};

std::string list_text(std::string_view kind, const std::vector<Json>& rows, const Options& options = {},
                      const Json& status = measured_status()) {
  return list_screen({*client::find_kind(kind), status, options, {.header = options.legend}}, rows);
}

TEST_F(Screens, SourceLineNamesSourceQualityAndPower) {
  EXPECT_EQ(source_line(measured_status(), false),
            "Host 42.3 W (powercap, measured): 12.3 W active, 30.0 W idle");
}

TEST_F(Screens, SimulatedNumbersAreLabelledInFront) {
  EXPECT_EQ(source_line(simulated_status(), false),
            "SIMULATED: no meter is read, the numbers are invented. "
            "Host 42.3 W (simulated): 12.3 W active, 30.0 W idle");
  EXPECT_TRUE(source_line(simulated_status(), true).starts_with("\033[1;33mSIMULATED\033[0m: no meter"));
}

TEST_F(Screens, WithoutASourceOneLineSaysWhereTheReasonIs) {
  EXPECT_EQ(source_line(unmeasured_status(), false),
            "NOT MEASURED: no energy meter can be read; 'keplerctl doctor' shows why.");
}

TEST_F(Screens, OnlyMeasuredNumbersNeedNoWarning) {
  Json status = measured_status();
  EXPECT_EQ(source_warning(status), std::nullopt);
  status["source"]["quality"] = "modelled";
  EXPECT_EQ(source_warning(status), std::nullopt);
  status["source"]["quality"] = "estimated";
  EXPECT_EQ(source_warning(status),
            "ESTIMATED: no meter is read, the numbers are estimated from the CPU load");
  status["source"]["reason"] = "typical of some processor";
  EXPECT_EQ(source_warning(status),
            "ESTIMATED: no meter is read, the numbers are estimated from the CPU load and the typical power "
            "of such "
            "processors, and may be off by 40 % or more");
  status["source"].erase("reason");
  EXPECT_EQ(source_warning(Json::object()),
            "NOT MEASURED: no energy meter can be read; 'keplerctl doctor' shows why");
}

TEST_F(Screens, ListsAreOrderedByPowerThenEnergyUnlessAnOrderIsRequested) {
  auto rows = process_rows();
  for (Json& row : rows) row["powerMicrowatts"] = 7;
  rows[0]["energyMicrojoules"] = 1;
  rows[1]["energyMicrojoules"] = 2;
  rows.push_back(rows[0]);
  rows[2]["id"] = rows[2]["name"] = "most";
  rows[2]["powerMicrowatts"] = 8;
  Options options;
  options.legend = false;
  const auto names = [&] {
    std::string text = list_text("processes", rows, options), out;
    for (const char* name : {"most", "stray", "sshd"}) out += std::to_string(text.find(name)) + " ";
    std::istringstream places(out);
    int most = 0, stray = 0, sshd = 0;
    places >> most >> stray >> sshd;
    return std::pair(most < stray, stray < sshd);
  };
  EXPECT_EQ(names(), std::pair(true, true));
  options.sort = "name";  // as the daemon has sent them
  EXPECT_EQ(names(), std::pair(false, false));
}

TEST_F(Screens, ProcessesEndWithALineThatAddsUpToTheHost) {
  const std::string text = list_text("processes", process_rows());
  EXPECT_THAT(text, EndsWith("\nHost, active: 11.50 W shown + 0.80 W other = 12.30 W; "
                             "2.08 Wh shown + 0.22 Wh other = 2.30 Wh.\n"));
  Options options;
  options.limit = 1;
  auto rows = process_rows();
  rows[1]["powerMicrowatts"] = 300'000;
  EXPECT_THAT(list_text("processes", rows, options), HasSubstr("11.50 W shown + 0.80 W other = 12.30 W;"));
  EXPECT_THAT(list_text("processes", rows), HasSubstr("11.80 W shown + 0.50 W other = 12.30 W;"));
}

TEST_F(Screens, ContainersAndPodsEndWithALineThatAddsUpToTheHost) {
  // `build` is in `cache`, `api` in a pod.
  EXPECT_THAT(list_text("containers", container_rows()),
              EndsWith("\nHost, active: 4.20 W shown + 8.10 W other = 12.30 W; "
                       "1.20 Wh shown + 1.10 Wh other = 2.30 Wh.\n"));
  EXPECT_THAT(list_text("pods", pod_rows()),
              EndsWith("\nHost, active: 0.21 W shown + 12.09 W other = 12.30 W; "
                       "0.21 Wh shown + 2.09 Wh other = 2.30 Wh.\n"));
  auto rows = container_rows();
  rows[0]["state"] = "terminated";
  EXPECT_THAT(list_text("containers", rows), HasSubstr("1.70 W shown + 10.60 W other = 12.30 W;"))
      << "what is in one that is not shown counts for itself";
  EXPECT_THAT(list_text("containers", {}), Not(HasSubstr("shown +")));
  EXPECT_THAT(list_text("units", unit_rows()), Not(HasSubstr("shown +")));
}

TEST_F(Screens, IdlePowerThatWasPlacedOnRowsIsNoPartOfTheActiveSum) {
  auto rows = container_rows();
  rows[0]["energyMicrojoules"] = 39'600'000'000;
  rows[0]["idleMicrojoules"] = 36'000'000'000;
  rows[0]["powerMicrowatts"] = 34'000'000;
  rows[0]["idleMicrowatts"] = 30'000'000;
  rows[1]["idleMicrowatts"] = 1'000'000;  // a part of that
  EXPECT_THAT(list_text("containers", rows),
              EndsWith("\nHost, active: 4.20 W shown + 8.10 W other = 12.30 W; "
                       "1.20 Wh shown + 1.10 Wh other = 2.30 Wh.\n"));
}

TEST_F(Screens, ASumThatCannotBeIsNotShown) {
  auto rows = process_rows();
  rows[0]["powerMicrowatts"] = 12'300'001;
  EXPECT_THAT(list_text("processes", rows), Not(HasSubstr("W shown")));
  Json status = measured_status();
  status["host"].erase("activeMicrowatts");
  EXPECT_THAT(list_text("processes", process_rows(), {}, status), HasSubstr("Host, active: 2.08 Wh shown"));
  EXPECT_THAT(list_text("processes", process_rows(), {}, public_status()), Not(HasSubstr("shown +")));
  rows[0]["powerMicrowatts"] = std::numeric_limits<std::int64_t>::max();
  rows[1]["powerMicrowatts"] = 1;
  EXPECT_THAT(list_text("processes", rows), Not(HasSubstr("W shown")));
}

TEST_F(Screens, ALimitAppliesToVisibleRows) {
  Options options;
  options.limit = 1;
  options.legend = false;
  EXPECT_EQ(list_text("units", unit_rows(), options),
            "11.50 W  2.08 Wh  16.94%  2.08 Wh  90.00 s  /system.slice/ssh.service\n");
}

TEST_F(Screens, AListHasErrorsWhereAnyIsKnown) {
  auto rows = process_rows();
  rows[0].merge_patch({{"activeMicrojoules", 20'000'000}, {"errorMicrojoules", 1'800'000}});
  const std::string list = list_text("processes", rows);
  EXPECT_THAT(list, HasSubstr("ENERGY  +-   SHARE"));
  EXPECT_THAT(list, HasSubstr("Wh  9%  ")) << list;
  EXPECT_THAT(list, HasSubstr("Wh   -  ")) << list;
  EXPECT_THAT(list_text("processes", process_rows()), Not(HasSubstr("+-")));
}

TEST_F(Screens, AZoneThatFailsSaysWhy) {
  auto rows = zone_rows();
  rows[1]["problem"] = "energy_uj: Input/output error";
  Options options;
  options.legend = false;
  EXPECT_EQ(list_text("zones", rows, options),
            "42.30 W  12.30 W  30.00 W  12.30 Wh  measured  yes  powercap:package:0  -\n"
            "      -        -        -  <0.01 Wh  measured  no   powercap:core:0     energy_uj: Input/output "
            "error\n");
}

TEST_F(Screens, EverySimulatedListIsLabelled) {
  for (const client::KindInfo& kind : client::kKinds) {
    EXPECT_TRUE(list_text(kind.plural, {}, {}, simulated_status()).starts_with("SIMULATED: ")) << kind.plural;
  }
  EXPECT_TRUE(status_screen(simulated_status(), {}).starts_with("SIMULATED: "));
}

TEST_F(Screens, AnEmptyListHasNoTable) {
  EXPECT_EQ(list_text("units", {}, {}, unmeasured_status()),
            "NOT MEASURED: no energy meter can be read; 'keplerctl doctor' shows why.\n"
            "\n"
            "No units are known: run 'keplerctl doctor' for the reason.\n");
  Json restricted = measured_status();
  restricted.erase("accounts");
  EXPECT_THAT(list_text("units", {}, {}, restricted), HasSubstr("\n0 units. Host: "));
}

TEST_F(Screens, AForgedNameCannotWriteToTheTerminal) {
  auto rows = process_rows();
  rows[0]["name"] = "\x1b]0;owned\x07";
  rows[0]["unit"] = "/a\nb";
  rows.resize(1);
  Options options;
  options.legend = false;
  EXPECT_EQ(list_text("processes", rows, options),
            "11.50 W  2.08 Wh  16.94%  89.00 s  812  \\x1b]0;owned\\x07  /a\\x0ab\n");
}

TEST_F(Screens, ThatAccessIsLimitedIsSaidFirst) {
  EXPECT_EQ(list_text("zones", {}, {}, public_status()),
            "Host 42.3 W (powercap, measured): 12.3 W active, 30.0 W idle\n" + std::string(kPublicView) +
                "\n\n0 zones. Host: 12.30 Wh.\n");
}

TEST_F(Screens, StatusWithoutTheAccountsHasNoTableOfThem) {
  const std::string text = status_screen(public_status(), {});
  EXPECT_THAT(text, EndsWith("idle separate\n"));
  EXPECT_THAT(text, HasSubstr("idle\n" + std::string(kPublicView) + "\n\n"));
}

TEST_F(Screens, StatusShowsTheCostOfKeplerdItself) {
  Json status = measured_status();
  status["daemonWindowCpuUsec"] = 3412;
  status["daemonMemoryBytes"] = 2'726'298;
  EXPECT_THAT(status_screen(status, {}), HasSubstr("    Overhead: 0.34 % of a CPU, 2.6 MiB\n"));
  status["daemonMicrowatts"] = 12'100;
  status["daemonMicrojoules"] = 3'420'000;
  EXPECT_THAT(status_screen(status, {}),
              HasSubstr("    Overhead: 0.34 % of a CPU, 2.6 MiB, 12.1 mW, 3.42 J since keplerd started\n"));
  status["windowUsec"] = 0;
  EXPECT_THAT(status_screen(status, {}), HasSubstr("    Overhead: 2.6 MiB, 12.1 mW"));
}

TEST_F(Screens, StatusShowsSamplingOnDemandAndDiscardedWindows) {
  Json status = measured_status();
  status["intervalUsec"] = 0;
  status["discardedWindows"] = 3;
  const std::string text = status_screen(status, {});
  EXPECT_NE(text.find("04:01:02 UTC, on demand, over 1.00 s\n"), std::string::npos);
  EXPECT_NE(text.find("   Discarded: 3 windows of a zone (see the journal)\n"), std::string::npos);
}

TEST_F(Screens, ARowIsAListOfItsProperties) {
  EXPECT_EQ(row_screen(unit_rows()[1], {}),
            "              Id: /system.slice/ssh.service\n"
            "            Name: ssh.service\n"
            "            Kind: unit\n"
            "           State: running\n"
            "          Energy: 2.08 Wh\n"
            "   Active energy: 2.08 Wh\n"
            "     Idle energy: 0 J\n"
            "           Power: 11.5 W\n"
            "        CPU time: 1min 30s\n"
            "         Quality: attributed\n"
            "           Since: Fri 2025-11-21 03:01:02 UTC\n"
            "          Parent: /system.slice\n"
            "      Own energy: 2.08 Wh\n"
            "  Ended or moved: 1.00 mJ\n"
            "\n"
            " POWER   ENERGY  ZONE\n"
            "11.0 W  1.94 Wh  powercap:package:0\n"
            "     -    500 J  powercap:dram:0\n");
}

TEST_F(Screens, ARowOfANewerDaemonIsShownByItsUnits) {
  const Json row = Json::parse(R"({"id": "x", "inTotal": false, "lossPercent": 7, "waitUsec": 350,
                                   "lostMicrojoules": 2000000, "tags": ["a"], "nothing": null})");
  EXPECT_EQ(row_screen(row, {}),
            "              Id: x\n"
            " In host's total: no\n"
            "     lossPercent: 7%\n"
            "        waitUsec: 350 us\n"
            " lostMicrojoules: 2.00 J\n"
            "            tags: [\"a\"]\n");
}

TEST_F(Screens, TheActiveEnergyOfARowHasItsError) {
  const Json row = Json::parse(R"({"activeMicrojoules": 20000000, "errorMicrojoules": 1800000,
                                   "errorPercent": 5})");
  EXPECT_EQ(row_screen(row, {}), "   Active energy: 20.0 J +-9%\n");
}

TEST_F(Screens, StatusShowsWhatWasLearnedOfEachZone) {
  Json status = Json::object();
  status["zones"] = Json::parse(R"([{"id": "powercap:package:0", "model": {"state": "base",
                                     "idleMicrowatts": 21300000, "idleErrorMicrowatts": 800000}},
                                    {"id": "powercap:dram:0", "model": {"state": "learning"}}])");
  const std::string screen = status_screen(status, {});
  EXPECT_NE(screen.find("Model: powercap:package:0 base, idle 21.3 W +-800 mW\n"), std::string::npos)
      << screen;
  EXPECT_NE(screen.find("Model: powercap:dram:0 learning\n"), std::string::npos) << screen;
}

}  // namespace
}  // namespace keplerd::cli
