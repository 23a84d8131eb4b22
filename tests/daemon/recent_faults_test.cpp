// SPDX-License-Identifier: Apache-2.0
#include "daemon/recent_faults.h"

#include <gtest/gtest.h>

#include "daemon/meter_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> problems_of(const Report& report) {
  std::vector<std::string> found;
  for (const Problem& problem : report.problems)
    found.push_back(std::string(problem_kind_name(problem.kind)) + ": " + problem.what);
  return found;
}

using Texts = std::vector<std::string>;

TEST(RecentFaults, AWindowThatIsNotCountedIsAProblemForAnHour) {
  MeterHost host;
  host.draw(50'000'000'000);
  host.begin();
  EXPECT_EQ(problems_of(host.step()), Texts{});
  host.draw(-40'000'000'000);
  EXPECT_EQ(
      problems_of(host.step()),
      Texts{"windows: the energy of a window was not counted: powercap:package:0: the counter was reset"});
  for (int minutes = 1; minutes <= 59; ++minutes) host.step(1min);
  host.draw(-5'000'000'000);
  const Texts again = {
      "windows: the energy of 2 windows was not counted, the last one of powercap:package:0: the counter was "
      "reset"};
  const Report& second = host.step(1s);
  EXPECT_EQ(problems_of(second), again);
  const Realtime since = second.problems[0].since;
  for (int minutes = 1; minutes <= 60; ++minutes) EXPECT_EQ(problems_of(host.step(1min)), again) << minutes;
  EXPECT_EQ(host.meter().report()->problems[0].since, since);
  EXPECT_EQ(problems_of(host.step(1s)), Texts{});
}

TEST(RecentFaults, ASuspendIsNone) {
  MeterHost host;
  host.begin();
  host.draw(1'000'000);
  host.now.boottime += 1h;
  host.now.realtime += 1h;
  const Report& report = host.step();
  EXPECT_EQ(report.discarded_windows, 2U);
  EXPECT_EQ(problems_of(report), Texts{});
}

TEST(RecentFaults, AStepOfTheTimeOfDayIsOneForAnHour) {
  MeterHost host;
  host.begin();
  host.now.realtime += 999ms;  // since the last one
  EXPECT_EQ(problems_of(host.step()), Texts{});
  host.now.realtime += 90s;
  EXPECT_EQ(problems_of(host.step()), Texts{"clock: the time of day was set forward by 90 s"});
  host.now.realtime -= 2s;
  const Texts twice = {"clock: the time of day was set 2 times, the last time back by 2 s"};
  EXPECT_EQ(problems_of(host.step()), twice);
  for (int minutes = 1; minutes <= 60; ++minutes) EXPECT_EQ(problems_of(host.step(1min)), twice) << minutes;
  EXPECT_EQ(problems_of(host.step(1s)), Texts{});
}

}  // namespace
}  // namespace keplerd
