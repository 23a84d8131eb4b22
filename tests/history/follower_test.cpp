// SPDX-License-Identifier: Apache-2.0
#include "history/follower.h"

#include <map>

#include <gmock/gmock.h>

#include "client/followed_keplerd.h"

namespace keplerd::history {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using varlink::Json;

Json reply(int sequence, Json rows = Json::array()) {
  return {{"accounts", {{"idle", 1}, {"kernel", 2}, {"workloads", 3}, {"unattributed", 4}}},
          {"earlier", {{"energyMicrojoules", 5}, {"accounts", {{"idle", 5}}}}},
          {"sequence", sequence},
          {"realtimeUsec", 1'000'000},
          {"instanceId", "i"},
          {"rows", std::move(rows)}};
}
Json row(const std::string& id) {
  return {{"id", id},
          {"name", "name of " + id},
          {"sinceUsec", 7},
          {"activeMicrojoules", 20},
          {"idleMicrojoules", 3},
          {"earlierMicrojoules", 12},
          {"earlierIdleMicrojoules", 2},
          {"ownerUid", 1000}};
}

class HistoryFollower : public client::FollowedKeplerd {
 protected:
  HistoryFollower() : FollowedKeplerd("keplerd-history-follower") {
    answer = [this](const Json& parameters) {
      return varlink::Reply{replies.at(parameters.at("kind")), true};
    };
    serve();
  }
  void follow() {
    follower_.emplace(
        loop, Follower::Target{path, std::chrono::minutes(1), std::chrono::milliseconds(1)},
        [this](Reading reading) { readings.push_back(std::move(reading)); },
        [this](bool is_up, const std::string& reason) { changes.push_back(is_up ? "up" : reason); });
    EXPECT_TRUE(follower_->start());
    run_until([this] { return !changes.empty(); });
  }

  std::map<std::string, Json> replies = {{"units", reply(3)},
                                         {"vms", reply(3)},
                                         {"containers", reply(3)},
                                         {"pods", reply(3)},
                                         {"zones", reply(3)}};
  std::vector<Reading> readings;
  std::vector<std::string> changes;

 private:
  std::optional<Follower> follower_;
};

TEST_F(HistoryFollower, MakesAReadingWhenAllKindsAreOfOneSample) {
  replies["units"] = reply(3, {row("/a.service")});
  replies["vms"] = reply(3, {row("web")});
  follow();
  EXPECT_THAT(calls, SizeIs(5));
  EXPECT_THAT(calls[0], HasSubstr(R"("aligned":true)"));
  ASSERT_THAT(readings, SizeIs(1));
  const Reading& reading = readings[0];
  EXPECT_EQ(reading.time, Time(1'000'000));
  EXPECT_EQ(reading.instance, "i");
  EXPECT_EQ(reading.now, (Accounts{{1}, {2}, {3}, {4}}));
  EXPECT_EQ(reading.earlier, (Accounts{.idle = {5}}));
  ASSERT_THAT(reading.workloads, SizeIs(2));
  const WorkloadReading& web = reading.workloads[1];
  EXPECT_EQ(web.key, (WorkloadKey{Kind::kVms, "web", 1000}));
  EXPECT_EQ(web.name, "name of web");
  EXPECT_EQ(web.since, Time(7));
  EXPECT_EQ(web.now, (Amounts{{20}, {3}}));
  EXPECT_EQ(web.earlier, (Amounts{{10}, {2}}));
}

TEST_F(HistoryFollower, MakesNoneOfDifferentSamples) {
  replies["pods"] = reply(4);
  follow();
  EXPECT_THAT(changes, SizeIs(1));
  EXPECT_THAT(readings, IsEmpty());
}

TEST_F(HistoryFollower, RequestsAllAgainWhenTheyStayOfDifferentSamples) {
  replies["pods"] = reply(4);
  follow();
  for (auto& [kind, one] : replies) one = reply(5, {row(kind)});
  run_until([this] { return !readings.empty(); });
  ASSERT_THAT(readings, SizeIs(1));
  EXPECT_THAT(readings[0].workloads, SizeIs(4)) << "zones of another kind are not recorded";
  EXPECT_THAT(calls, SizeIs(10)) << "each kind once more";
}

TEST_F(HistoryFollower, MakesNoneOfHalfASample) {
  replies["units"]["partial"] = true;
  follow();
  EXPECT_THAT(readings, IsEmpty());
}

TEST_F(HistoryFollower, MakesNoneOfWhatIsShownToEveryone) {
  for (auto& [kind, one] : replies) one.erase("accounts");
  follow();
  EXPECT_THAT(readings, IsEmpty());
}

TEST(ParseWorkload, LeavesOutWhatHasNoId) {
  EXPECT_FALSE(parse_workload(Kind::kVms, {{"name", "x"}}));
  EXPECT_FALSE(parse_workload(Kind::kVms, {{"id", 1}}));
  EXPECT_FALSE(parse_workload(Kind::kVms, {{"id", ""}}));
}

TEST(HistoryZone, IsRecordedIfItCoversThePlatform) {
  const auto is_recorded = [](const varlink::Json& zone) {
    return parse_workload(Kind::kZones, zone).has_value();
  };
  EXPECT_TRUE(is_recorded({{"id", "plug:wall:0"}, {"name", "wall"}, {"covers", "platform"}}));
  EXPECT_TRUE(is_recorded({{"id", "acpi:platform:0"}, {"name", "platform"}, {"inTotal", false}}));
  EXPECT_TRUE(is_recorded({{"id", "powercap:psys:0"}, {"name", "psys"}}));
  EXPECT_FALSE(is_recorded({{"id", "platform:rest:0"}, {"name", "rest"}, {"covers", "other"}}));
  EXPECT_FALSE(is_recorded({{"id", "powercap:package:0"}, {"name", "package"}, {"inTotal", true}}));
  EXPECT_FALSE(is_recorded({{"id", "scmi:platform:0"}, {"covers", "platform"}, {"inTotal", true}}))
      << "it is the energy of the host already";
  const auto zone = parse_workload(Kind::kZones, {{"id", "acpi:platform:0"},
                                                  {"name", "platform"},
                                                  {"energyMicrojoules", 70},
                                                  {"idleMicrojoules", 20},
                                                  {"earlierMicrojoules", 30}});
  EXPECT_EQ(zone->now, (Amounts{{70}, {0}}));
  EXPECT_EQ(zone->earlier, (Amounts{{30}, {0}}));
}

TEST(HistoryWorkload, HasTheProjectThatOpenStackStates) {
  const auto project = [](const varlink::Json& metadata) {
    return parse_workload(Kind::kVms, {{"id", "uuid"}, {"metadata", metadata}})->project;
  };
  EXPECT_EQ(project({{"openstack.project", "shop"}, {"openstack.projectId", "p1"}, {"os", "linux"}}),
            (Project{"p1", "shop"}));
  EXPECT_EQ(project({{"openstack.project", "shop"}}), (Project{"shop", "shop"}));
  EXPECT_EQ(project("none"), Project());
}

}  // namespace
}  // namespace keplerd::history
