// SPDX-License-Identifier: Apache-2.0
#include "cli/wall.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/fake_daemon.h"
#include "cli/sample_replies.h"

namespace keplerd::cli {
namespace {

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

TEST(Wall, FailsWithoutACalibration) {
  const FakeDaemon daemon;
  for (const std::string verb : {"status", "units", "vms", "containers", "pods", "processes"}) {
    const Outcome outcome = run_keplerctl(daemon, {verb, "--wall"});
    EXPECT_EQ(outcome.status, 1) << verb;
    EXPECT_EQ(outcome.out, "") << verb;
    EXPECT_THAT(outcome.err, HasSubstr("no meter covers the whole host")) << verb;
  }
  EXPECT_EQ(run_keplerctl(daemon, {"zones", "--wall"}).status, 2);
  EXPECT_THAT(run_keplerctl(daemon, {"vms", "--wall", "--output=csv"}).err, HasSubstr("--output=csv"));
  EXPECT_THAT(run_keplerctl(daemon, {"vms", "--wall", "--host=a"}).err, HasSubstr("--host"));
}

}  // namespace
}  // namespace keplerd::cli
