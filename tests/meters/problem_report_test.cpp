// SPDX-License-Identifier: Apache-2.0
#include "meters/problem_report.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "energy/meters/meter_directories.h"
#include "meters/meter_writer.h"
#include "support/fake_host.h"

namespace keplerd::meters {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ProblemReport, ReportsAProblemOnceWhateverItsNumbers) {
  std::vector<std::string> log;
  const auto add = [&log](const char* what) {
    return [&log, what](const std::string& text) { log.push_back(what + text); };
  };
  ProblemReport report({.write = add("file "), .warn = add("warning "), .inform = add("info ")});
  report.set("");
  EXPECT_THAT(log, IsEmpty());
  report.set("350001 W");
  report.set("350002 W");
  EXPECT_THAT(log, ElementsAre("file 350001 W", "warning 350001 W"));
  log.clear();
  report.set("HTTP status 500");
  report.set("");
  report.set("");
  EXPECT_THAT(log, ElementsAre("file HTTP status 500", "warning HTTP status 500", "file ",
                               "info The meter is read again"));
}

TEST(ProblemReport, IsInTheMeterDirectoryWhereDoctorFindsIt) {
  FakeHost host;
  const std::string directory = host.paths().root + "/run/keplerd-meters/redfish";
  std::filesystem::create_directories(directory);
  const auto left_out = [&host] {
    std::vector<std::string> texts;
    for (const LeftOut& one : meters_left_out(host.open()))
      texts.push_back((one.is_problem ? "!" : "") + one.what + ": " + one.why);
    return texts;
  };
  ASSERT_TRUE(write_problem(directory, "HTTP status\n500"));
  EXPECT_THAT(left_out(), ElementsAre("!meter redfish: HTTP status\\x0a500"));
  EXPECT_EQ(open_meter_directories(host.open(), {})->zones().size(), 0u);
  const Meter meter{
      .name = "platform", .covers = "platform", .quality = "measured", .zone = "platform", .value = 7};
  ASSERT_TRUE(write_meters(directory, {meter}));
  EXPECT_THAT(left_out(), ElementsAre("!meter redfish: HTTP status\\x0a500"));
  const auto source = open_meter_directories(host.open(), {});
  EXPECT_EQ(source->zones().size(), 1u);
  ASSERT_TRUE(write_problem(directory, std::string(10'000, 'x')));
  EXPECT_EQ(meters_left_out(host.open()).at(0).why.size(), 500u);
  ASSERT_TRUE(write_problem(directory, ""));
  EXPECT_THAT(left_out(), IsEmpty());
  EXPECT_FALSE(source->outdated()) << "a problem does not change the zones";
}

}  // namespace
}  // namespace keplerd::meters
