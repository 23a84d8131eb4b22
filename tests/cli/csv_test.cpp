// SPDX-License-Identifier: Apache-2.0
#include "cli/output/csv.h"

#include <gtest/gtest.h>

#include "cli/fake_daemon.h"

namespace keplerd::cli {
namespace {

constexpr const char* kHeader =
    "realtimeUsec,id,name,state,powerMicrowatts,energyMicrojoules,activeMicrojoules,idleMicrojoules,"
    "cpuUsec\n";

TEST(Csv, ARowInIntegers) {
  EXPECT_EQ(csv_rows_header(), kHeader);
  EXPECT_EQ(csv_row_line(measured_status(), unit_rows()[1]),
            "1763697662000000,/system.slice/"
            "ssh.service,ssh.service,running,11500000,7500000000,7500000000,0,90000000\n");
}

TEST(Csv, UnknownValuesAreEmpty) {
  EXPECT_EQ(csv_row_line(Json::object(), {{"id", "a"}, {"powerMicrowatts", nullptr}}), ",a,,,,,,,\n");
}

TEST(Csv, NamesAreQuotedEscapedAndNoFormulas) {
  const auto name = [](const char* text) {
    const std::string line = csv_row_line(Json::object(), {{"name", text}});
    return line.substr(2, line.size() - 2 - 7);
  };
  EXPECT_EQ(name("a,b"), "\"a,b\"");
  EXPECT_EQ(name("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(name("a\nb\x1b"), "a\\x0ab\\x1b");
  EXPECT_EQ(name("=1+1"), "'=1+1");
  EXPECT_EQ(name("@SUM(A1,A2)"), "\"'@SUM(A1,A2)\"");
}

TEST(Csv, OfAListHasEveryRowMostEnergyFirst) {
  const FakeDaemon daemon;
  std::string expected = kHeader;
  for (const Json& row : unit_rows()) expected += csv_row_line(measured_status(), row);
  EXPECT_EQ(run_keplerctl(daemon, {"units", "-o", "csv"}).out, expected);
  EXPECT_EQ(run_keplerctl(daemon, {"units", "--output=csv", "--no-legend", "-n1"}).out,
            csv_row_line(measured_status(), unit_rows()[0]));
}

TEST(Csv, OfMonitorHasOneHeader) {
  Canned canned;
  canned.ticks = {tick_of(measured_status(), {unit_rows()[0]}), tick_of(measured_status(), {unit_rows()[1]})};
  const FakeDaemon daemon(canned);
  const std::string first = csv_row_line(measured_status(), unit_rows()[0]);
  EXPECT_EQ(run_keplerctl(daemon, {"monitor", "units", "-o", "csv", "-n2"}).out,
            kHeader + first + first + csv_row_line(measured_status(), unit_rows()[1]));
  const std::string host = csv_host_line(measured_status());
  EXPECT_EQ(host, "1763697662000000,42300000,12300000,30000000,44280000000,8280000000,36000000000\n");
  EXPECT_EQ(run_keplerctl(daemon, {"monitor", "-o", "csv", "-n2"}).out, csv_host_header() + host + host);
}

TEST(Csv, SaysOnStandardErrorThatNumbersAreInvented) {
  Canned canned;
  canned.statuses = {simulated_status()};
  canned.ticks = {tick_of(simulated_status())};
  const FakeDaemon daemon(canned);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"units"}, {"monitor", "-n1"}, {"monitor", "units", "-n1"}}) {
    std::vector<std::string> arguments = words;
    arguments.push_back("--output=csv");
    EXPECT_EQ(run_keplerctl(daemon, arguments).err,
              "keplerctl: SIMULATED: no meter is read, the numbers are invented\n");
  }
}

}  // namespace
}  // namespace keplerd::cli
