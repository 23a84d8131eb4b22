// SPDX-License-Identifier: Apache-2.0
// Against a keplerd on the same loop.
#include "exporter/follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/followed_keplerd.h"
#include "exporter/sample_replies.h"

namespace keplerd::exporter {
namespace {

using namespace std::chrono_literals;
using client::Kind;

class FollowerTest : public client::FollowedKeplerd {
 protected:
  FollowerTest() : FollowedKeplerd("keplerd-follower") {
    answer = [this](const Json& parameters) { return varlink::Reply{reply_to(parameters.at("kind")), true}; };
    serve();
    follower.emplace(
        client::Streams::Plan{
            path, {{Kind::kZones, true}, {Kind::kUnits, true}, {Kind::kProcesses, true}}, 5s, "the test"},
        1, Follower::Means{loop, [this] { return now; }, [this] { ++arrivals; }});
    EXPECT_TRUE(follower->start().ok());
  }

  Json reply_to(const std::string& kind) const {
    if (kind == "processes") return reply_of(rows, common());
    if (kind == "units") return reply_of(Json::array(), common());
    Json zone = zone_row("package");
    zone["activeMicrojoules"] = active;
    Json fields = common();
    fields["host"] = {{"activeMicrojoules", active}, {"activeMicrowatts", 100}};
    if (has_power) fields["host"]["powerMicrowatts"] = 100;
    return reply_of({zone}, fields);
  }
  Json common() const { return {{"instanceId", instance}}; }

  void arrive() {
    run_until([this] { return !follower->is_waiting(); });
  }
  // What follows at once from what has arrived; much shorter than the longest wait.
  void run_a_little() {
    for (int turn = 0; turn < 10; ++turn) sd_event_run(loop, 1000);
  }
  // As after eleven minutes without a scrape.
  void leave_unused() {
    now += 11min;
    follower->close_if_unused();
    run_until([this] { return open == 0; });
  }
  std::int64_t others() const { return follower->processes().others()->all.energy.value; }

  std::optional<Follower> follower;
  Nanoseconds now = 5h;
  int arrivals = 0;
  std::int64_t active = 1000;
  bool has_power = true;
  std::string instance = "x";
  Json rows = {process_row(1, 700), process_row(2, 200)};
};

TEST_F(FollowerTest, FollowsWhileItIsScraped) {
  arrive();
  for (int i = 0; i < 100; ++i) {
    now += 9min;
    follower->close_if_unused();
    ASSERT_TRUE(follower->is_following());
    follower->scrape();
    ASSERT_FALSE(follower->is_waiting());
  }
  EXPECT_EQ(open, 3);
}

TEST_F(FollowerTest, ClosesItsStreamsAfterTheLastScrapeAndStaysReady) {
  arrive();
  EXPECT_TRUE(follower->is_up());
  leave_unused();
  EXPECT_FALSE(follower->is_following());
  EXPECT_TRUE(follower->is_up());
  EXPECT_FALSE(follower->is_waiting());
  EXPECT_FALSE(follower->snapshot().host()) << "old numbers are not shown";
}

TEST_F(FollowerTest, TheNextScrapeWaitsForAllKindsAndAPower) {
  arrive();
  leave_unused();
  EXPECT_EQ(std::exchange(arrivals, 0), 1);
  active = 5000;
  follower->scrape();
  follower->scrape();
  EXPECT_TRUE(follower->is_waiting());
  EXPECT_TRUE(follower->is_up()) << "it is ready all the time";
  arrive();
  EXPECT_EQ(arrivals, 1);
  EXPECT_TRUE(follower->is_up());
  EXPECT_EQ(follower->snapshot().host()->active.energy.value, 5000);
  EXPECT_TRUE(follower->snapshot().host()->all.power);
  EXPECT_NE(follower->processes().others(), nullptr);
  EXPECT_EQ(open, 3);
}

TEST_F(FollowerTest, WithoutAPowerItGoesOnWaiting) {
  arrive();
  leave_unused();
  has_power = false;
  follower->scrape();
  run_until([this] { return follower->snapshot().has(Kind::kProcesses); });
  run_a_little();
  EXPECT_TRUE(follower->is_waiting());
}

// 1 is shown, and so is the end of 3; the others get the rest.
TEST_F(FollowerTest, WhatWasUsedInThePauseIsInTheRowsOrTheOthers) {
  arrive();
  EXPECT_EQ(others(), 0);
  leave_unused();
  EXPECT_EQ(follower->processes().others(), nullptr);
  EXPECT_TRUE(follower->processes().chosen().empty());
  active += 400;
  rows = {process_row(1, 1000), process_row(3, 60, {{"state", "terminated"}})};
  follower->scrape();
  arrive();
  ASSERT_EQ(follower->processes().chosen().size(), 1u);
  EXPECT_EQ(follower->processes().chosen()[0]->all.energy.value, 1000);
  EXPECT_EQ(others(), 100) << "400 of the host, of which 300 are of the process shown";
  EXPECT_EQ(follower->processes().others()->zones.at("package").energy.value, 100);
  EXPECT_EQ(follower->snapshot().processes().count("2.100"), 0u) << "it is gone";
  EXPECT_FALSE(follower->snapshot().processes().at("3.100").running);
}

TEST_F(FollowerTest, WithTotalsThatWereResetInThePauseTheOthersGoOnFromThere) {
  arrive();
  leave_unused();
  active += 400;
  follower->scrape();
  arrive();
  EXPECT_EQ(others(), 400);
  leave_unused();
  instance = "y", active = 50, rows = {process_row(1, 10)};
  follower->scrape();
  arrive();
  EXPECT_EQ(others(), 400) << "it does not go back";
  leave_unused();
  active = 80;
  follower->scrape();
  arrive();
  EXPECT_EQ(others(), 430) << "and counts what is used since";
}

TEST_F(FollowerTest, IfKeplerdDoesNotAnswerAfterThePauseTheScrapeDoesNotWait) {
  arrive();
  leave_unused();
  server.reset();
  follower->scrape();
  arrive();
  EXPECT_FALSE(follower->is_up());
  EXPECT_FALSE(follower->snapshot().host());
  active += 400;
  serve();
  run_until([this] { return follower->is_up(); });
  run_until([this] { return follower->processes().others() != nullptr; });
  EXPECT_EQ(others(), 400) << "no row was lost: none had been sent";
}

// keplerd answers again, and of some kinds nothing has come yet.
TEST_F(FollowerTest, AScrapeWhileStreamsAreOpenedAgainWaitsForAllKindsButForNoPower) {
  arrive();
  leave_unused();
  follower->scrape();
  arrive();
  arrivals = 0;
  server.reset();
  run_until([this] { return !follower->is_up(); });
  follower->scrape();
  EXPECT_FALSE(follower->is_waiting()) << "nothing is on its way";
  held_back = {"units", "processes"}, has_power = false;
  serve();
  run_until([this] { return open == 3 && follower->snapshot().has(Kind::kZones); });
  EXPECT_FALSE(follower->is_waiting()) << "nobody has asked";
  follower->scrape();
  EXPECT_TRUE(follower->is_waiting()) << "else series were missing";
  EXPECT_FALSE(follower->is_up()) << "some streams have not answered yet";
  release("units");
  run_until([this] { return follower->snapshot().has(Kind::kUnits); });
  run_a_little();
  EXPECT_TRUE(follower->is_waiting());
  release("processes");
  run_until([this] { return follower->snapshot().has(Kind::kProcesses); });
  run_a_little();
  EXPECT_FALSE(follower->is_waiting());
  EXPECT_EQ(arrivals, 1);
  EXPECT_TRUE(follower->is_up());
  EXPECT_NE(follower->processes().others(), nullptr);
  follower->scrape();
  EXPECT_FALSE(follower->is_waiting());
}

TEST_F(FollowerTest, IfKeplerdIsLostAgainTheScrapeDoesNotWait) {
  arrive();
  server.reset();
  run_until([this] { return !follower->is_up(); });
  held_back = {"processes"};
  serve();
  run_until([this] { return open == 3 && follower->snapshot().has(Kind::kUnits); });
  follower->scrape();
  EXPECT_TRUE(follower->is_waiting());
  server.reset();
  arrive();
  EXPECT_FALSE(follower->is_up());
  EXPECT_FALSE(follower->snapshot().host());
}

TEST_F(FollowerTest, WhatIsDeniedIsNotWaitedFor) {
  answer = [this](const Json& parameters) -> client::Answered {
    if (parameters.at("kind") == "units") return varlink::Failure{"org.varlink.service.PermissionDenied", {}};
    return varlink::Reply{reply_to(parameters.at("kind")), true};
  };
  arrive();
  EXPECT_TRUE(follower->is_up());
  EXPECT_FALSE(follower->snapshot().has(Kind::kUnits));
  follower->scrape();
  EXPECT_FALSE(follower->is_waiting());
}

}  // namespace
}  // namespace keplerd::exporter
