// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/fake_daemon.h"
#include "cli/program.h"

namespace keplerd::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Monitor : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
  }
};

Json status_of(std::int64_t sequence) {
  Json status = measured_status();
  status["sequence"] = sequence;
  return status;
}

TEST_F(Monitor, OffATerminalATableIsShownOnce) {
  Canned canned;
  canned.ticks = {tick_of(status_of(1), unit_rows()), tick_of(status_of(2))};
  const FakeDaemon daemon(canned);
  const Outcome outcome = run_keplerctl(daemon, {"monitor", "units"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, run_keplerctl(daemon, {"units"}).out);
}

TEST_F(Monitor, TheHostIsALineATick) {
  Canned canned;
  canned.ticks = {tick_of(status_of(1)), tick_of(status_of(2)), tick_of(status_of(3))};
  const FakeDaemon daemon(canned);
  const Outcome outcome = run_keplerctl(daemon, {"monitor", "--count=2"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out,
            "Host 42.3 W (powercap, measured): 12.3 W active, 30.0 W idle\n"
            "\n"
            "   POWER    ACTIVE      IDLE    ENERGY  QUALITY     TIME\n"
            "  42.3 W    12.3 W    30.0 W   12.3 Wh  measured    Fri 2025-11-21 04:01:02 UTC\n"
            "  42.3 W    12.3 W    30.0 W   12.3 Wh  measured    Fri 2025-11-21 04:01:02 UTC\n");
}

TEST_F(Monitor, EveryLineOfASimulatedHostSaysSo) {
  Canned canned;
  canned.ticks = {tick_of(simulated_status()), tick_of(simulated_status())};
  const FakeDaemon daemon(canned);
  const Outcome outcome = run_keplerctl(daemon, {"monitor", "-n2", "--no-legend"});
  const std::string line =
      "  42.3 W    12.3 W    30.0 W   12.3 Wh  SIMULATED   Fri 2025-11-21 04:01:02 UTC\n";
  EXPECT_EQ(outcome.out, line + line);
  EXPECT_EQ(outcome.err, "keplerctl: SIMULATED: no meter is read, the numbers are invented\n");
}

TEST_F(Monitor, ShowsAChangeOfTheSource) {
  Canned canned;
  canned.ticks = {tick_of(unmeasured_status()), tick_of(measured_status())};
  const FakeDaemon daemon(canned);
  const Outcome outcome = run_keplerctl(daemon, {"monitor", "-n2"});
  EXPECT_THAT(outcome.out, StartsWith("NOT MEASURED: "));
  EXPECT_THAT(outcome.out, HasSubstr("\nHost 42.3 W (powercap, measured)"));
}

TEST_F(Monitor, JsonOfAKindIsTheCompleteListEachTick) {
  const auto rows = unit_rows();
  Json changed = rows[0];
  changed["energyMicrojoules"] = kBeyondDouble;
  Canned canned;
  canned.ticks = {tick_of(status_of(1), {rows[0], rows[1]}), tick_of(status_of(2), {changed}),
                  tick_of(status_of(3), {rows[2]}, {"/system.slice/ssh.service"})};
  const FakeDaemon daemon(canned);
  const Outcome outcome = run_keplerctl(daemon, {"monitor", "units", "--json=short", "-n3"});
  EXPECT_EQ(outcome.status, 0);
  const auto text = [](std::vector<Json> list) {
    return "\x1e" + Json({{"units", std::move(list)}}).dump() + "\n";
  };
  EXPECT_EQ(outcome.out, text({rows[0], rows[1]}) + text({changed, rows[1]}) + text({changed, rows[2]}));
}

TEST_F(Monitor, OutputChoosesHowJsonIsSeparated) {
  Canned canned;
  canned.ticks = {tick_of(status_of(1), {unit_rows()[0]}), tick_of(status_of(2))};
  const FakeDaemon daemon(canned);
  const std::string line = Json({{"units", Json::array({unit_rows()[0]})}}).dump() + "\n";
  const auto output = [&](const char* format) {
    return run_keplerctl(daemon, {"monitor", "units", "-n2", "-o", format}).out;
  };
  EXPECT_EQ(output("json"), line + line);
  EXPECT_EQ(output("json-seq"), "\x1e" + line + "\x1e" + line);
  EXPECT_EQ(output("json-short"), output("json-seq"));
  EXPECT_EQ(run_keplerctl(daemon, {"units", "-ojson-seq", "-n1"}).out, "\x1e" + line);
  EXPECT_EQ(run_keplerctl(daemon, {"units", "-ojson", "-n1"}).out, line);
}

TEST_F(Monitor, ADumbTerminalIsNotCleared) {
  Canned canned;
  canned.ticks = {tick_of(status_of(1), unit_rows())};
  const FakeDaemon daemon(canned);
  Terminal terminal;
  terminal.is_terminal = terminal.dumb = true;
  std::ostringstream out, err;
  run_program({"monitor", "units", "-n1", "--varlink=" + daemon.address()}, terminal, out, err);
  EXPECT_THAT(out.str(), StartsWith("Host 42.3 W"));
}

TEST_F(Monitor, TheIntervalGoesToTheDaemon) {
  Canned canned;
  canned.ticks = {tick_of(status_of(1))};
  canned.interval = 2'500'000;
  const FakeDaemon daemon(canned);
  EXPECT_EQ(run_keplerctl(daemon, {"monitor", "--interval=2.5s"}).status, 0);
  const Outcome other = run_keplerctl(daemon, {"monitor", "--interval=2s"});
  EXPECT_EQ(other.status, 1);
  EXPECT_EQ(other.err, "keplerctl: keplerd does not accept the parameter 'intervalUsec'\n");
}

TEST_F(Monitor, SortsAndLimitsWhatItHasMerged) {
  const auto rows = unit_rows();
  Canned canned;
  canned.ticks = {tick_of(status_of(1), rows)};
  const FakeDaemon daemon(canned);
  const Outcome outcome =
      run_keplerctl(daemon, {"monitor", "units", "-j", "-n1", "--sort=name", "--limit=2"});
  EXPECT_EQ(outcome.out, "\x1e" + Json({{"units", Json::array({rows[2], rows[1]})}}).dump() + "\n");
}

TEST_F(Monitor, ATickInSeveralRepliesIsOne) {
  const auto rows = unit_rows();
  Canned canned;
  canned.ticks = {tick_of(status_of(1), {rows[0]}), tick_of(status_of(1), {rows[1]}),
                  tick_of(status_of(2), {rows[2]})};
  canned.ticks[0]["partial"] = true;
  canned.ticks[1]["partial"] = false;
  const FakeDaemon daemon(canned);
  const Outcome outcome = run_keplerctl(daemon, {"monitor", "units", "-j", "-n1"});
  EXPECT_EQ(outcome.out, "\x1e" + Json({{"units", Json::array({rows[0], rows[1]})}}).dump() + "\n");
}

TEST_F(Monitor, JsonOfTheHostIsTheStatus) {
  Canned canned;
  canned.statuses = {status_of(1), status_of(2)};
  canned.ticks = {tick_of(status_of(1)), tick_of(status_of(2))};
  const FakeDaemon daemon(canned);
  const Outcome outcome = run_keplerctl(daemon, {"monitor", "--json=short", "-n2"});
  EXPECT_EQ(outcome.status, 0);
  const auto text = [](Json status) {
    status["source"]["reason"] = Json();
    return "\x1e" + status.dump() + "\n";
  };
  EXPECT_EQ(outcome.out, text(status_of(1)) + text(status_of(2)));
}

TEST_F(Monitor, OneSampleIsWrittenOnce) {
  Canned canned;
  canned.statuses = {status_of(2), status_of(2), status_of(3)};
  canned.ticks = {tick_of(status_of(1)), tick_of(status_of(2)), tick_of(status_of(3))};
  const FakeDaemon daemon(canned);
  const Outcome outcome = run_keplerctl(daemon, {"monitor", "--json=short", "-n2"});
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\x1e'), 2);
  EXPECT_THAT(outcome.out, HasSubstr("\"sequence\":2,"));
  EXPECT_THAT(outcome.out, HasSubstr("\"sequence\":3,"));
}

TEST_F(Monitor, JsonGoesOnUntilTheDaemonEnds) {
  Canned canned;
  canned.ticks = {tick_of(status_of(1), unit_rows()), tick_of(status_of(2)), tick_of(status_of(3))};
  const FakeDaemon daemon(canned);
  const Outcome outcome = run_keplerctl(daemon, {"monitor", "units", "-j"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\x1e'), 3);
  EXPECT_EQ(outcome.err, "keplerctl: keplerd answered with the error org.example.Ended\n");
}

TEST_F(Monitor, OnATerminalATableFitsTheScreen) {
  std::vector<Json> rows;
  for (int i = 0; i < 50; ++i) {
    rows.push_back(unit_rows()[1]);
    rows.back()["id"] = "/" + std::to_string(100 + i);
  }
  Canned canned;
  canned.ticks = {tick_of(status_of(1), rows)};
  const FakeDaemon daemon(canned);
  Terminal terminal;
  terminal.is_terminal = true;
  terminal.height = 24;
  terminal.width = 200;
  std::ostringstream out, err;
  run_program({"monitor", "units", "-n1", "--varlink=" + daemon.address()}, terminal, out, err);
  const std::string screen = out.str();
  EXPECT_THAT(screen, StartsWith("\033[H\033[2JHost 42.3 W"));
  EXPECT_THAT(screen, HasSubstr("\n18 of 50 units. Host"));
  EXPECT_LE(std::count(screen.begin(), screen.end(), '\n'), 23);
}

}  // namespace
}  // namespace keplerd::cli
