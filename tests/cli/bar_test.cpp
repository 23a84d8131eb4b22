// SPDX-License-Identifier: Apache-2.0
#include "cli/output/bar.h"

#include <cstdlib>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "cli/fake_daemon.h"

namespace keplerd::cli {
namespace {

using testing::HasSubstr;

class StatusBar : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
  }
};

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(Json::parse(line));
  return lines;
}

Canned two_ticks() {
  Canned canned;
  canned.ticks = {tick_of(measured_status(), unit_rows()), tick_of(simulated_status())};
  return canned;
}

TEST_F(StatusBar, HasALineATickForWaybar) {
  const FakeDaemon daemon(two_ticks());
  const Outcome outcome = run_keplerctl(daemon, {"monitor", "-o", "waybar", "-n2"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].at("text"), "42.3 W");
  EXPECT_EQ(lines[0].at("class"), "measured");
  EXPECT_EQ(lines[0].at("tooltip"),
            "Host 42.3 W (powercap, measured): 12.3 W active, 30.0 W idle\n12.3 Wh since " +
                lines[0].at("tooltip").get<std::string>().substr(75));
  EXPECT_EQ(lines[1].at("text"), "42.3 W (simulated)");
  EXPECT_EQ(lines[1].at("class"), "simulated");
}

TEST_F(StatusBar, IsPlainTextForI3blocks) {
  const FakeDaemon daemon(two_ticks());
  EXPECT_EQ(run_keplerctl(daemon, {"monitor", "-o", "i3blocks", "-n2"}).out, "42.3 W\n42.3 W (simulated)\n");
}

TEST_F(StatusBar, ShowsOneWorkload) {
  Json row = unit_rows()[0];
  const std::string id = row.at("id");
  Canned canned = two_ticks();
  canned.lists["units"] = {row};
  Json changed = row;
  changed["powerMicrowatts"] = 1'500'000;
  canned.ticks = {tick_of(measured_status(), {row}), tick_of(measured_status(), {changed}),
                  tick_of(measured_status(), {}, {id})};
  const FakeDaemon daemon(canned);
  const Outcome outcome = run_keplerctl(daemon, {"monitor", "-o", "i3blocks", "-n3", "--of=" + id});
  EXPECT_THAT(outcome.out, testing::EndsWith("\n1.50 W\n-\n")) << outcome.err;
}

TEST_F(StatusBar, ShowsTheSessionOfTheCaller) {
  Json slice = unit_rows()[0];
  slice["id"] = "/user.slice/user-" + std::to_string(getuid()) + ".slice";
  slice["powerMicrowatts"] = 2'500'000;
  Canned canned;
  canned.ticks = {tick_of(measured_status(), {slice})};
  const FakeDaemon daemon(canned);
  EXPECT_EQ(run_keplerctl(daemon, {"monitor", "-o", "i3blocks", "-n1", "--of=session"}).out, "2.50 W\n");
}

TEST_F(StatusBar, FailsForWhatThereIsNot) {
  const FakeDaemon daemon(two_ticks());
  const Outcome outcome = run_keplerctl(daemon, {"monitor", "-o", "waybar", "--of=nothing"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.err, HasSubstr("is called 'nothing'"));
}

// The clock of the program is the real one: two lines are two attempts, 250 ms apart.
TEST_F(StatusBar, WaitsForKeplerdFromTheBeginning) {
  const Outcome outcome = run_keplerctl({"monitor", "-o", "waybar", "-n2", "--varlink=/nonexistent"});
  EXPECT_EQ(outcome.status, 0);
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].at("text"), "-");
  EXPECT_EQ(lines[0].at("class"), "unavailable");
  EXPECT_THAT(lines[0].at("tooltip"), HasSubstr("/nonexistent"));
}

TEST_F(StatusBar, ShowsAnOutage) {
  Canned first = two_ticks();
  first.ticks = {tick_of(measured_status())};
  first.then_gone = true;
  const FakeDaemon daemon({first, two_ticks()});
  EXPECT_EQ(run_keplerctl(daemon, {"monitor", "-o", "i3blocks", "-n3"}).out, "42.3 W\n-\n42.3 W\n");
}

TEST_F(StatusBar, TextsAreMarkupForWaybar) {
  const std::string line = bar_line(BarFormat::kWaybar, {"1 W", "<b>&\"\n\u202e", "measured"});
  EXPECT_EQ(line, "{\"text\":\"1 W\",\"tooltip\":\"&lt;b&gt;&amp;\\\"\\n\\u202e\",\"class\":\"measured\"}\n");
}

TEST_F(StatusBar, IsForMonitorOnly) {
  EXPECT_EQ(run_keplerctl({"vms", "-o", "waybar"}).err,
            "keplerctl: --output: waybar is available for monitor only\n");
  EXPECT_EQ(run_keplerctl({"monitor", "vms", "-o", "i3blocks"}).err,
            "keplerctl: --output: i3blocks shows the host, or what --of names, not all vms\n");
  EXPECT_EQ(run_keplerctl({"monitor", "--of=x"}).err,
            "keplerctl: --of requires --output=waybar or --output=i3blocks\n");
}

}  // namespace
}  // namespace keplerd::cli
