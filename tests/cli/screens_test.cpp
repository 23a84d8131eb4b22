// SPDX-License-Identifier: Apache-2.0
#include "cli/screens.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/sample_replies.h"

namespace keplerd::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

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

TEST_F(Screens, WithoutASourceTheReasonIsShown) {
  EXPECT_EQ(
      source_line(unmeasured_status(), false),
      "NOT MEASURED: powercap: no zones in /sys/class/powercap; run 'keplerctl doctor' for details. Host - "
      "(none)");
}

TEST_F(Screens, OnlyMeasuredNumbersNeedNoWarning) {
  Json status = measured_status();
  EXPECT_EQ(source_warning(status), std::nullopt);
  status["source"]["quality"] = "modelled";
  EXPECT_EQ(source_warning(status), std::nullopt);
  status["source"]["quality"] = "estimated";
  EXPECT_EQ(source_warning(status),
            "ESTIMATED: no meter is read, the numbers are estimated from the CPU load");
  EXPECT_EQ(source_warning(Json::object()), "NOT MEASURED: no meter; run 'keplerctl doctor' for details");
}

TEST_F(Screens, UnitsHideWhatHasEnded) {
  EXPECT_EQ(list_text("units", unit_rows()),
            "Host 42.3 W (powercap, measured): 12.3 W active, 30.0 W idle\n"
            "\n"
            " POWER   ENERGY  SHARE      OWN       CPU  UNIT\n"
            "12.0 W  2.22 Wh  18.1%      0 J   2h 5min  /system.slice\n"
            "11.5 W  2.08 Wh  16.9%  2.08 Wh  1min 30s  /system.slice/ssh.service\n"
            "\n"
            "2 of 3 units, 1 terminated not shown (--all shows them). "
            "Host: 12.3 Wh = 10.0 Wh idle + 120 J kernel + 2.27 Wh workloads + 0 J unattributed.\n");
}

TEST_F(Screens, AllShowsTheStateToo) {
  Options options;
  options.all = true;
  EXPECT_EQ(list_text("units", unit_rows(), options),
            "Host 42.3 W (powercap, measured): 12.3 W active, 30.0 W idle\n"
            "\n"
            " POWER   ENERGY  SHARE      OWN       CPU  STATE       UNIT\n"
            "12.0 W  2.22 Wh  18.1%      0 J   2h 5min  running     /system.slice\n"
            "11.5 W  2.08 Wh  16.9%  2.08 Wh  1min 30s  running     /system.slice/ssh.service\n"
            "     -    500 J  1.13%    500 J   1.00 ms  terminated  /system.slice/old.service\n"
            "\n"
            "3 units. Host: 12.3 Wh = 10.0 Wh idle + 120 J kernel + 2.27 Wh workloads + 0 J unattributed.\n");
}

TEST_F(Screens, ALimitAppliesToVisibleRows) {
  Options options;
  options.limit = 1;
  options.legend = false;
  EXPECT_EQ(list_text("units", unit_rows(), options),
            "12.0 W  2.22 Wh  18.1%  0 J  2h 5min  /system.slice\n");
}

TEST_F(Screens, ProcessesShowPidAndUnit) {
  EXPECT_EQ(
      list_text("processes", process_rows()),
      "Host 42.3 W (powercap, measured): 12.3 W active, 30.0 W idle\n"
      "\n"
      " POWER   ENERGY  SHARE       CPU  PID  NAME   UNIT\n"
      "11.5 W  2.08 Wh  16.9%  1min 29s  812  sshd   /system.slice/ssh.service\n"
      "     -      0 J     0%       0 s    9  stray  -\n"
      "\n"
      "2 processes. Host: 12.3 Wh = 10.0 Wh idle + 120 J kernel + 2.27 Wh workloads + 0 J unattributed.\n");
}

TEST_F(Screens, ZonesShowWhatIsInTheTotal) {
  Options options;
  options.legend = true;
  EXPECT_EQ(list_text("zones", zone_rows(), options),
            "Host 42.3 W (powercap, measured): 12.3 W active, 30.0 W idle\n"
            "\n"
            " POWER  ACTIVE    IDLE   ENERGY  QUALITY   TOTAL  ZONE\n"
            "42.3 W  12.3 W  30.0 W  12.3 Wh  measured  yes    powercap:package:0\n"
            "     -       -       -   1.00 J  measured  no     powercap:core:0\n"
            "\n"
            "2 zones. Host: 12.3 Wh = 10.0 Wh idle + 120 J kernel + 2.27 Wh workloads + 0 J unattributed.\n");
}

TEST_F(Screens, AZoneThatFailsSaysWhy) {
  auto rows = zone_rows();
  rows[1]["problem"] = "energy_uj: Input/output error";
  Options options;
  options.legend = false;
  EXPECT_EQ(
      list_text("zones", rows, options),
      "42.3 W  12.3 W  30.0 W  12.3 Wh  measured  yes  powercap:package:0  -\n"
      "     -       -       -   1.00 J  measured  no   powercap:core:0     energy_uj: Input/output error\n");
}

TEST_F(Screens, EverySimulatedListIsLabelled) {
  for (const client::KindInfo& kind : client::kKinds) {
    EXPECT_TRUE(list_text(kind.plural, {}, {}, simulated_status()).starts_with("SIMULATED: ")) << kind.plural;
  }
  EXPECT_TRUE(status_screen(simulated_status(), true, false).starts_with("SIMULATED: "));
}

TEST_F(Screens, AnEmptyListHasNoTable) {
  EXPECT_EQ(
      list_text("units", {}, {}, unmeasured_status()),
      "NOT MEASURED: powercap: no zones in /sys/class/powercap; run 'keplerctl doctor' for details. Host - "
      "(none)\n"
      "\n"
      "0 units. Host: 0 J = 0 J idle + 0 J kernel + 0 J workloads + 0 J unattributed.\n");
}

TEST_F(Screens, AForgedNameCannotWriteToTheTerminal) {
  auto rows = process_rows();
  rows[0]["name"] = "\x1b]0;owned\x07";
  rows[0]["unit"] = "/a\nb";
  rows.resize(1);
  Options options;
  options.legend = false;
  EXPECT_EQ(list_text("processes", rows, options),
            "11.5 W  2.08 Wh  16.9%  1min 29s  812  \\x1b]0;owned\\x07  /a\\x0ab\n");
}

TEST_F(Screens, TheFooterSaysThatAccessIsLimited) {
  EXPECT_EQ(list_text("zones", {}, {}, public_status()),
            "Host 42.3 W (powercap, measured): 12.3 W active, 30.0 W idle\n"
            "\n"
            "0 zones. Host: 12.3 Wh.\n"
            "Only public values are shown: root and the group keplerd see the rest.\n");
}

TEST_F(Screens, StatusWithoutTheAccountsHasNoTableOfThem) {
  const std::string text = status_screen(public_status(), true, false);
  EXPECT_THAT(text, EndsWith("idle separate\n"
                             "\n"
                             "Only public values are shown: root and the group keplerd see the rest.\n"));
}

TEST_F(Screens, StatusShowsTheWholeHost) {
  EXPECT_EQ(status_screen(measured_status(), true, false),
            "Host 42.3 W (powercap, measured): 12.3 W active, 30.0 W idle\n"
            "\n"
            "      Source: powercap, measured\n"
            "       Power: 42.3 W\n"
            "      Energy: 12.3 Wh (2.30 Wh active, 10.0 Wh idle)\n"
            "       Since: Fri 2025-11-21 03:01:02 UTC\n"
            "     Sampled: Fri 2025-11-21 04:01:02 UTC, every 1.00 s, over 1.00 s\n"
            "       Rules: split usage-ratio, share cpu-time, idle separate\n"
            "\n"
            " ENERGY  SHARE  ACCOUNT       DESCRIPTION\n"
            "10.0 Wh  81.3%  idle          nothing ran\n"
            "  120 J  0.27%  kernel        kernel threads and interrupts\n"
            "2.27 Wh  18.4%  workloads     units and processes\n"
            "    0 J     0%  unattributed  not attributable to any process\n"
            "12.3 Wh      -  host          total\n");
}

TEST_F(Screens, StatusShowsTheCostOfKeplerdItself) {
  Json status = measured_status();
  status["daemonWindowCpuUsec"] = 3412;
  status["daemonMemoryBytes"] = 2'726'298;
  EXPECT_THAT(status_screen(status, true, false), HasSubstr("      Itself: 0.34 % of a CPU, 2.6 MiB\n"));
  status["daemonMicrowatts"] = 12'100;
  status["daemonMicrojoules"] = 3'420'000;
  EXPECT_THAT(status_screen(status, true, false),
              HasSubstr("      Itself: 0.34 % of a CPU, 2.6 MiB, 12.1 mW, 3.42 J since it started\n"));
  status["windowUsec"] = 0;
  EXPECT_THAT(status_screen(status, true, false), HasSubstr("      Itself: 2.6 MiB, 12.1 mW"));
}

TEST_F(Screens, StatusWithoutAMeterShowsNoPower) {
  EXPECT_EQ(status_screen(unmeasured_status(), false, false),
            "      Source: none\n"
            "      Reason: powercap: no zones in /sys/class/powercap\n"
            "       Power: -\n"
            "      Energy: 0 J (0 J active, 0 J idle)\n"
            "       Since: Fri 2025-11-21 03:01:02 UTC\n"
            "     Sampled: Fri 2025-11-21 04:01:02 UTC, every 1.00 s, over 1.00 s\n"
            "       Rules: split usage-ratio, share cpu-time, idle separate\n"
            "\n"
            "ENERGY  SHARE  ACCOUNT       DESCRIPTION\n"
            "   0 J      -  idle          nothing ran\n"
            "   0 J      -  kernel        kernel threads and interrupts\n"
            "   0 J      -  workloads     units and processes\n"
            "   0 J      -  unattributed  not attributable to any process\n"
            "   0 J      -  host          total\n");
}

TEST_F(Screens, StatusShowsSamplingOnDemandAndDiscardedWindows) {
  Json status = measured_status();
  status["intervalUsec"] = 0;
  status["discardedWindows"] = 3;
  const std::string text = status_screen(status, true, false);
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
  const Json row = Json::parse(R"({"id": "x", "inTotal": false, "errorPercent": 7, "waitUsec": 350,
                                   "lostMicrojoules": 2000000, "tags": ["a"], "nothing": null})");
  EXPECT_EQ(row_screen(row, {}),
            "              Id: x\n"
            " In host's total: no\n"
            "           Error: 7%\n"
            "        waitUsec: 350 us\n"
            " lostMicrojoules: 2.00 J\n"
            "            tags: [\"a\"]\n");
}

}  // namespace
}  // namespace keplerd::cli
