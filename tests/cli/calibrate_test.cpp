// SPDX-License-Identifier: Apache-2.0
// keplerctl calibrate idle: the estimate, the file, and whole command lines against a daemon with canned
// replies.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cli/calibrate/busy_time.h"
#include "cli/calibrate/drop_in.h"
#include "cli/calibrate/idle_estimate.h"
#include "cli/fake_daemon.h"

namespace keplerd::cli {
namespace {

using namespace calibrate;
using testing::HasSubstr;

// Windows on the line of 20 W and 30 W per CPU.
std::vector<QuietWindow> windows_on_a_line(int count, double most_busy) {
  std::vector<QuietWindow> windows;
  for (int i = 0; i < count; ++i) {
    const double busy = most_busy * i / (count - 1);
    windows.push_back({20 + 30 * busy, busy});
  }
  return windows;
}

TEST(IdleEstimate, IsThePowerWithoutAnyCpuTimeAndNotTheMean) {
  const auto idle = estimate_idle(windows_on_a_line(20, 0.2), 8);
  ASSERT_TRUE(idle) << idle.error().message;
  EXPECT_NEAR(idle->watts, 20, 1e-9);
  EXPECT_NEAR(idle->error, 0.9, 1e-6) << "of the 3 W that the load draws";
  EXPECT_NEAR(idle->busy, 0.1, 1e-9);
}

TEST(IdleEstimate, ItsErrorCoversTheNoise) {
  auto windows = windows_on_a_line(60, 0.2);
  for (std::size_t i = 0; i < windows.size(); ++i) windows[i].watts += i % 2 == 0 ? 0.5 : -0.5;
  const auto idle = estimate_idle(windows, 8);
  ASSERT_TRUE(idle) << idle.error().message;
  EXPECT_NEAR(idle->watts, 20, idle->error);
  EXPECT_NEAR(idle->error, std::hypot(0.25, 0.9), 0.01);
}

TEST(IdleEstimate, WithoutLoadItIsTheMean) {
  const std::vector<QuietWindow> windows(30, QuietWindow{21.4, 0.001});
  const auto idle = estimate_idle(windows, 8);
  ASSERT_TRUE(idle) << idle.error().message;
  EXPECT_NEAR(idle->watts, 21.4, 1e-9);
}

TEST(IdleEstimate, WhatASteadyLoadDrawsIsUnknown) {
  EXPECT_EQ(estimate_idle(std::vector<QuietWindow>(30, {21.4, 0.3}), 8).error().message,
            "the load was too steady: 0.30 CPUs were busy all the time");
  auto windows = std::vector<QuietWindow>(30, {21.4, 0.3});
  for (std::size_t i = 0; i < windows.size(); ++i) {  // noise of both, but nothing in common
    windows[i].watts += i % 2 == 0 ? 0.1 : -0.1;
    windows[i].busy += i % 4 < 2 ? 0.005 : -0.005;
  }
  EXPECT_FALSE(estimate_idle(windows, 8));
}

TEST(IdleEstimate, LoadNeverLowersThePower) {
  std::vector<QuietWindow> windows;
  for (int i = 0; i < 20; ++i) windows.push_back({20 - 0.01 * i, 0.01 * i});
  const auto idle = estimate_idle(windows, 8);
  ASSERT_TRUE(idle) << idle.error().message;
  EXPECT_NEAR(idle->watts, 19.905, 1e-9);
}

TEST(IdleEstimate, ABusyHostAnUnsteadyOneAndTooFewSamplesAreErrors) {
  EXPECT_EQ(estimate_idle(windows_on_a_line(20, 1.2), 8).error().message,
            "the host is not idle: its CPUs were 7.5% busy, at most 5% are allowed");
  auto windows = windows_on_a_line(20, 0.2);
  for (std::size_t i = 0; i < windows.size(); ++i) windows[i].watts += i % 2 == 0 ? 5 : -5;
  EXPECT_THAT(estimate_idle(windows, 8).error().message, HasSubstr("the power varied too much"));
  EXPECT_EQ(estimate_idle(windows_on_a_line(9, 0.1), 8).error().message,
            "only 9 samples were taken; at least 10 are needed (--for)");
  EXPECT_EQ(estimate_idle(std::vector<QuietWindow>(20), 8).error().message, "no energy was counted");
}

TEST(BusyTime, IsThatOfTheRootCgroup) {
  EXPECT_EQ(*parse_busy_time("usage_usec 1234567\nuser_usec 1\n"), std::chrono::microseconds(1234567));
  EXPECT_EQ(*parse_busy_time("nr_periods 1\nusage_usec 5"), std::chrono::microseconds(5));
  for (const char* text : {"", "user_usec 1\n", "usage_usec -1\n", "usage_usec 1x\n", "usage_usec \n"})
    EXPECT_FALSE(parse_busy_time(text)) << text;
}

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class Calibrate : public testing::Test {
 protected:
  Calibrate() {
    std::filesystem::create_directories(directory / "cgroup");
    std::ofstream(directory / "cgroup/cpu.stat") << "usage_usec 1000000\n";
  }
  ~Calibrate() override { std::filesystem::remove_all(directory); }

  // A reply a second, in each of which the packages draw 12.5 and 10 J, and the DRAM 3.
  static Canned quiet(int seconds) {
    Canned canned;
    canned.interval = 1'000'000;
    canned.statuses.front()["zones"] = Json::array();
    for (const char* id : {"powercap:package:0", "powercap:package:1", "powercap:dram:0"})
      canned.statuses.front()["zones"].push_back({{"id", id}, {"model", {{"state", "base"}}}});
    for (int i = 0; i <= seconds; ++i) {
      Json status = canned.statuses.front();
      status["monotonicUsec"] = 5'000'000'000 + i * 1'000'000;
      canned.ticks.push_back(
          tick_of(status, {{{"id", "powercap:package:0"}, {"energyMicrojoules", i * 12'500'000}},
                           {{"id", "powercap:package:1"}, {"energyMicrojoules", i * 10'000'000}},
                           {{"id", "powercap:dram:0"}, {"energyMicrojoules", i * 3'000'000}}}));
    }
    return canned;
  }
  Outcome run(const FakeDaemon& daemon, std::vector<std::string> options) {
    std::vector<std::string> arguments = {"calibrate", "idle",
                                          "--cgroupfs=" + (directory / "cgroup").string(),
                                          "--output-file=" + file.string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_keplerctl(daemon, arguments);
  }

  const std::filesystem::path directory =
      std::filesystem::temp_directory_path() / ("keplerd-calibrate-" + std::to_string(getpid()));
  const std::filesystem::path file = directory / "keplerd.conf.d/10-idle-power.conf";
};

TEST_F(Calibrate, WritesTheIdlePowerOfAllProcessorsAndUndoesIt) {
  const FakeDaemon daemon(quiet(20));
  const Outcome outcome = run(daemon, {"--for=20s"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "Idle power of the processors: 22.5 W +-0 W (20 samples, 0.00% of the CPU time used)\n");
  EXPECT_EQ(outcome.err, "Measuring for 20.0 s; leave the host alone\nWritten to " + file.string() +
                             "; 'keplerctl calibrate idle --undo' removes it\n");
  EXPECT_THAT(text_of(file), testing::EndsWith("[Attribution]\nIdlePower=22.500\n"));
  struct stat status {};
  EXPECT_EQ(stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
  EXPECT_EQ(run(daemon, {"--undo"}).status, 0);
  EXPECT_FALSE(std::filesystem::exists(file));
  const Outcome again = run(daemon, {"--undo"});
  EXPECT_EQ(again.status, 1);
  EXPECT_EQ(again.err, "keplerctl: " + file.string() + ": No such file or directory\n");
}

TEST_F(Calibrate, ADryRunOnlyMeasures) {
  const FakeDaemon daemon(quiet(20));
  const Outcome outcome = run(daemon, {"--for=20s", "--dry-run", "--json=short"});
  EXPECT_EQ(outcome.out, R"({"idleMicrowatts":22500000,"idleErrorMicrowatts":0,"samples":20,"busyCpus":0.0})"
                         "\n");
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(Calibrate, AnEarlierFileStaysIfNothingCouldBeMeasured) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << "before";
  const Outcome outcome = run(FakeDaemon(quiet(5)), {"--for=5s"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err,
              testing::EndsWith("keplerctl: not calibrated: only 5 samples were taken; at least 10 are "
                                "needed (--for)\n"));
  EXPECT_EQ(text_of(file), "before");
}

TEST_F(Calibrate, WithoutFullAccessOrAModelItIsRefused) {
  Canned canned = quiet(20);
  canned.statuses.front().erase("accounts");
  EXPECT_EQ(run(FakeDaemon(canned), {}).err,
            "keplerctl: only root and the members of the group keplerd may measure the idle power\n");
  canned = quiet(20);
  canned.statuses.front().erase("zones");
  EXPECT_THAT(run(FakeDaemon(canned), {}).err, HasSubstr("does not separate idle from active power"));
}

}  // namespace
}  // namespace keplerd::cli
