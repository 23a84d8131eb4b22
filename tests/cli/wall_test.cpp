// SPDX-License-Identifier: Apache-2.0
#include "cli/wall.h"

#include <random>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/fake_daemon.h"
#include "cli/sample_replies.h"

namespace keplerd::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Json calibrated(double slope = 1.25) {
  Json status = measured_status();
  status["platform"] = {{"id", "ipmi:psu:0"}, {"quality", "modelled"}, {"powerMicrowatts", 85'000'000}};
  status["wall"] = {{"slope", slope},
                    {"offsetMicrowatts", 30'000'000},
                    {"errorPercent", 3.2},
                    {"samples", 60},
                    {"powerMicrowatts", 82'875'000}};
  return status;
}

Json row(std::int64_t power, std::int64_t idle = 0) {
  return {{"id", "a"}, {"powerMicrowatts", power}, {"idleMicrowatts", idle}};
}

TEST(Wall, IsTheActivePowerTimesTheSlopeRoundedDown) {
  const Wall wall = *Wall::of(calibrated());
  EXPECT_EQ(wall.power(row(10'000'000)), 12'500'000);
  EXPECT_EQ(wall.power(row(10'000'000, 4'000'000)), 7'500'000);
  EXPECT_EQ(wall.power(row(3)), 3);
  EXPECT_EQ(wall.power(Json{{"id", "a"}}), std::nullopt) << "its power is not known";
  Json changed = row(4);
  wall.add_to(changed);
  EXPECT_EQ(changed["wallMicrowatts"], 5);
}

TEST(Wall, IncludesWhatGraphicsCardsDrawBecauseOfTheRow) {
  const Wall wall = *Wall::of(calibrated());
  Json with_card = row(10'000'000);
  with_card["zones"] = Json::parse(R"([
    {"name": "package", "powerMicrowatts": 10000000},
    {"name": "gpu", "powerMicrowatts": 20000000, "idleMicrowatts": 4000000}, {"name": "gpu", "powerMicrowatts": 4},
    {"name": "gpu-memory", "powerMicrowatts": 7000000}])");
  EXPECT_EQ(wall.power(with_card), 12'500'000 + 20'000'005)
      << "whole cards, without what was placed on the row";
  with_card["zones"][1]["powerMicrowatts"] = 2'000'000'000'000'000;
  EXPECT_EQ(wall.power(with_card), 12'500'005) << "a power that no card has is not known";
}

TEST(Wall, RowsAndAllElseAddUpToThePlatformExactly) {
  std::mt19937 random(7);
  std::uniform_int_distribution<std::int64_t> watts(0, 3'000'000);
  for (int i = 0; i < 200; ++i) {
    const Wall wall = *Wall::of(calibrated(0.8 + i * 0.011));
    std::vector<Json> rows;
    std::int64_t sum = 0;
    for (int k = 0; k < 20; ++k) {
      rows.push_back(row(watts(random)));
      sum += *wall.power(rows.back());
    }
    wall.add_to(rows);
    const auto sums = wall.sums(rows, client::Kind::kProcesses);
    ASSERT_TRUE(sums);
    EXPECT_EQ(sums->rows, sum);
    EXPECT_EQ(sums->rows + sums->other, 82'875'000);
    EXPECT_EQ(sums->platform, 82'875'000);
  }
}

TEST(Wall, CountsARowInsideAnotherOnce) {
  const auto unit = [](const char* id, std::int64_t power) {
    return Json{{"id", id}, {"kind", "unit"}, {"ownMicrojoules", 1}, {"powerMicrowatts", power}};
  };
  const Wall wall = *Wall::of(calibrated());
  std::vector<Json> rows = {unit("/a.slice/b.service/x", 4), unit("/a.slice/b.service", 8),
                            unit("/a.slice/b.service.d", 16), unit("/c.service", 20)};
  wall.add_to(rows);
  EXPECT_EQ(wall.sums(rows, client::Kind::kUnits)->rows, 10 + 20 + 25);
}

TEST(Wall, IsRefusedWithTheReason) {
  Json status = calibrated();
  status.erase("wall");
  EXPECT_THAT(Wall::of(status).error().message, HasSubstr("still learning"));
  status.erase("platform");
  EXPECT_THAT(Wall::of(status).error().message, HasSubstr("keplerd-meters(7)"));
  status.erase("accounts");
  EXPECT_THAT(Wall::of(status).error().message, HasSubstr("group keplerd"));
}

TEST(Wall, DoesNotTrustADaemonsNumbers) {
  for (const char* json :
       {R"({"slope": -1})", R"({"slope": 1e300})", R"({"slope": "1"})", R"({})", R"([])", R"(7)"}) {
    Json status = calibrated();
    status["wall"] = Json::parse(json);
    EXPECT_FALSE(Wall::of(status)) << json;
  }
  Json status = calibrated();
  status["wall"]["powerMicrowatts"] = INT64_MIN;
  EXPECT_EQ(Wall::of(status)->sums({row(1)}, client::Kind::kVms), std::nullopt);
  EXPECT_EQ(Wall::of(calibrated())->power(row(INT64_MAX)), std::nullopt);
}

TEST(Wall, ListsHaveAColumnAndALastLineThatAddsUp) {
  Canned canned;
  canned.statuses = {calibrated()};
  const FakeDaemon daemon(canned);
  const Outcome vms = run_keplerctl(daemon, {"vms", "--wall"});
  EXPECT_EQ(vms.status, 0);
  EXPECT_THAT(vms.out, HasSubstr("WALL"));
  EXPECT_THAT(vms.out, HasSubstr("At the plug (modelled): 14.4 W shown + 68.5 W other = 82.9 W."));
  const Outcome plain = run_keplerctl(daemon, {"vms"});
  EXPECT_THAT(plain.out, testing::Not(HasSubstr("WALL")));
}

TEST(Wall, JsonHasKeysOfItsOwnAndSaysThatTheyAreModelled) {
  Canned canned;
  canned.statuses = {calibrated()};
  const FakeDaemon daemon(canned);
  const Json vms = Json::parse(run_keplerctl(daemon, {"--json=short", "vms", "--wall"}).out);
  EXPECT_EQ(vms["wall"]["quality"], "modelled");
  EXPECT_EQ(
      vms["wall"]["rowsMicrowatts"].get<std::int64_t>() + vms["wall"]["otherMicrowatts"].get<std::int64_t>(),
      82'875'000);
  EXPECT_TRUE(vms["virtualMachines"][0].contains("wallMicrowatts"));
  const Json status = Json::parse(run_keplerctl(daemon, {"--json=short", "status", "--wall"}).out);
  EXPECT_EQ(status["wall"]["quality"], "modelled");
  EXPECT_EQ(status["wall"]["samples"], 60);
  EXPECT_EQ(status["wall"]["rowsMicrowatts"], 15'375'000) << "1.25 x 12.3 W";
}

TEST(Wall, CsvHasAColumnAtTheEnd) {
  Canned canned;
  canned.statuses = {calibrated()};
  const FakeDaemon daemon(canned);
  const std::string with = run_keplerctl(daemon, {"vms", "--wall", "--output=csv"}).out;
  const std::string without = run_keplerctl(daemon, {"vms", "--output=csv"}).out;
  const Json vms =
      Json::parse(run_keplerctl(daemon, {"--json=short", "vms", "--wall"}).out)["virtualMachines"];
  std::istringstream lines(with), shorter(without);
  std::string line, same;
  ASSERT_TRUE(std::getline(lines, line) && std::getline(shorter, same));
  EXPECT_EQ(line, same + ",wallMicrowatts");
  for (const Json& vm : vms) {
    ASSERT_TRUE(std::getline(lines, line) && std::getline(shorter, same));
    EXPECT_EQ(line, same + "," + (vm.contains("wallMicrowatts") ? vm["wallMicrowatts"].dump() : ""));
  }
}

TEST(Wall, OfApplicationsAddUpToTheSlice) {
  Canned canned;
  canned.statuses = {calibrated()};
  const std::string slice = "/user.slice/user-1000.slice", manager = slice + "/user@1000.service/app.slice/";
  const auto unit = [](std::string id, std::int64_t power) {
    return Json{{"id", id},           {"kind", "unit"},           {"name", id},
                {"state", "running"}, {"powerMicrowatts", power}, {"energyMicrojoules", power},
                {"ownerUid", 1000}};
  };
  canned.lists["units"] = {unit(slice, 10'000'001), unit(manager + "app-firefox-1.scope", 3'000'001),
                           unit(manager + "app-firefox-2.scope", 1'000'001)};
  const FakeDaemon daemon(canned);
  const Json reply = Json::parse(run_keplerctl(daemon, {"--json=short", "apps", "--wall"}).out);
  std::int64_t sum = 0;
  for (const Json& app : reply["apps"]) sum += app["wallMicrowatts"].get<std::int64_t>();
  EXPECT_EQ(sum, 12'500'001) << "1.25 x the slice, rounded down";
  EXPECT_EQ(reply["wall"]["rowsMicrowatts"], sum);
  EXPECT_THAT(run_keplerctl(daemon, {"apps", "--wall"}).out,
              AllOf(HasSubstr("WALL"), HasSubstr("At the plug (modelled)")));
}

TEST(Wall, OfTheLargestConsumersIsShownWithoutAVerb) {
  Canned canned;
  canned.statuses = {calibrated()};
  const FakeDaemon daemon(canned);
  EXPECT_THAT(run_keplerctl(daemon, {"--wall"}).out,
              AllOf(HasSubstr("POWER     WALL"),
                    HasSubstr("At the plug (modelled): 15.4 W active + 67.5 W other = 82.9 W.")));
  EXPECT_THAT(run_keplerctl(daemon, {}).out, testing::Not(HasSubstr("WALL")));
}

TEST(Wall, IsFollowed) {
  Canned canned;
  Json learning = calibrated();
  learning.erase("wall");
  canned.ticks = {tick_of(calibrated(), vm_rows(), {}), tick_of(learning, {}, {})};
  const FakeDaemon daemon(canned);
  EXPECT_THAT(run_keplerctl(daemon, {"monitor", "vms", "--wall"}).out,
              HasSubstr("At the plug (modelled): 14.4 W shown + 68.5 W other = 82.9 W."));
  EXPECT_THAT(run_keplerctl(daemon, {"monitor", "vms", "--wall", "-n1", "-o", "csv"}).out,
              HasSubstr(",wallMicrowatts\n"));
  const Outcome two = run_keplerctl(daemon, {"monitor", "vms", "--wall", "-n2", "-o", "json"});
  std::istringstream lines(two.out);
  std::string first, second;
  ASSERT_TRUE(std::getline(lines, first) && std::getline(lines, second)) << two.err;
  EXPECT_THAT(first, HasSubstr("\"rowsMicrowatts\""));
  EXPECT_THAT(second, testing::Not(HasSubstr("allMicrowatts"))) << "it is learning again";
}

TEST(Wall, FailsWithoutACalibration) {
  Canned canned;
  canned.ticks = {tick_of(measured_status(), vm_rows(), {})};
  const FakeDaemon daemon(canned);
  EXPECT_THAT(run_keplerctl(daemon, {"--wall"}).err, HasSubstr("no meter covers the whole host"));
  const Outcome followed = run_keplerctl(daemon, {"monitor", "vms", "--wall"});
  EXPECT_EQ(followed.status, 1);
  EXPECT_THAT(followed.err, HasSubstr("no meter covers the whole host"));
  for (const std::string verb : {"status", "units", "vms", "containers", "pods", "processes", "apps"}) {
    const Outcome outcome = run_keplerctl(daemon, {verb, "--wall"});
    EXPECT_EQ(outcome.status, 1) << verb;
    EXPECT_EQ(outcome.out, "") << verb;
    EXPECT_THAT(outcome.err, HasSubstr("no meter covers the whole host")) << verb;
  }
  EXPECT_EQ(run_keplerctl(daemon, {"zones", "--wall"}).status, 2);
  EXPECT_THAT(run_keplerctl(daemon, {"--wall", "zones"}).err, HasSubstr("--wall is not available for zones"));
  EXPECT_THAT(run_keplerctl(daemon, {"monitor", "--wall"}).err, HasSubstr("--wall requires a KIND"));
  EXPECT_EQ(run_keplerctl(daemon, {"vms", "--wall", "--output=csv"}).out, "");
}

}  // namespace
}  // namespace keplerd::cli
