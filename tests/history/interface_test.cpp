// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "history/interface_host.h"
#include "history/request/readers.h"

namespace keplerd::history {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using varlink::Json;

TEST_F(HistoryInterface, GetStatusIsTheStateOfTheRecording) {
  EXPECT_EQ(call("GetStatus", Json::object()).parameters, Json::object());
  record();
  keplerd = "no such socket";
  EXPECT_EQ(call("GetStatus", Json::object()).parameters, (Json{{"recordedSinceUsec", kNoon.count()},
                                                                {"lastReadingUsec", now.count()},
                                                                {"keplerd", "no such socket"}}));
}

TEST_F(HistoryInterface, QueryReturnsEachSpanOfTheHost) {
  record();
  const auto replies = query(period(kNoon + 5min, now, {{"kind", "host"}, {"step", "hour"}}));
  ASSERT_EQ(replies.size(), 3u);
  EXPECT_EQ(replies[1],
            (Json{{"fromUsec", (kNoon + 1h).count()},
                  {"toUsec", (kNoon + 2h).count()},
                  {"recordedUsec", Time(1h).count()},
                  {"energyMicrojoules", 66'250},
                  {"accounts", {{"idle", 60'000}, {"kernel", 0}, {"workloads", 6'250}, {"unattributed", 0}}},
                  {"rows", Json::array()}}));
}

TEST_F(HistoryInterface, QueryReturnsAWorkloadByItsIdOrName) {
  record();
  for (const char* const id : {"uuid", "web"}) {
    const auto replies = query(period(kNoon, now, {{"kind", "vms"}, {"id", id}, {"step", "day"}}));
    ASSERT_EQ(replies.size(), 1u);
    ASSERT_EQ(replies[0].at("rows").size(), 1u);
    EXPECT_EQ(replies[0].at("rows")[0], (Json{{"id", "uuid"},
                                              {"name", "web"},
                                              {"kind", "vms"},
                                              {"ownerUid", 1000},
                                              {"energyMicrojoules", 750},
                                              {"activeMicrojoules", 600},
                                              {"idleMicrojoules", 150}}));
  }
}

TEST_F(HistoryInterface, ASpanInWhichNothingIsRecordedIsEmpty) {
  record();
  const auto replies = query(period(kNoon - 1h, kNoon, {{"kind", "units"}, {"step", "hour"}}));
  EXPECT_EQ(replies[0].at("recordedUsec"), 0);
  EXPECT_THAT(ids(replies[0]), IsEmpty());
}

TEST_F(HistoryInterface, ReportsAddUpExactly) {
  record();
  for (const char* const by : {"unit", "slice", "user", "vm", "container", "pod"}) {
    const Json reply = call("Report", period(kNoon + 65min, now - 5min, {{"by", by}})).parameters;
    std::int64_t sum = 0;
    for (const Json& row : reply.at("rows")) sum += row.at("energyMicrojoules").get<std::int64_t>();
    for (const Json& account : reply.at("accounts")) sum += account.get<std::int64_t>();
    EXPECT_EQ(sum, reply.at("energyMicrojoules")) << by;
    EXPECT_EQ(reply.at("recordedUsec"), Time(110min).count());
    EXPECT_EQ(reply.at("unrecordedUsec"), 0);
  }
  const Json by_user = call("Report", period(kNoon, now, {{"by", "user"}})).parameters;
  EXPECT_THAT(ids(by_user), ElementsAre("0", "1000"));
  EXPECT_EQ(by_user.at("accounts"),
            (Json{{"idle", 180'000}, {"kernel", 0}, {"unattributed", 0}, {"other", 0}}));
}

TEST_F(HistoryInterface, AReportNamesTheTimeThatIsNotRecorded) {
  record();
  const Json reply = call("Report", period(kNoon - 2h, now + 24h, {{"by", "vm"}})).parameters;
  EXPECT_EQ(reply.at("unrecordedUsec"), Time(2h).count()) << "before the first reading; not the future";
}

TEST_F(HistoryInterface, OthersSeeTheirOwnWorkloadsAndNothingOfTheHost) {
  record();
  viewer = {.user = 1000};
  const auto replies = query(period(kNoon, now, {{"kind", "units"}, {"step", "day"}}));
  EXPECT_THAT(ids(replies[0]), ElementsAre("/user.slice/user-1000.slice/x.service"));
  EXPECT_FALSE(replies[0].contains("accounts"));
  EXPECT_FALSE(replies[0].contains("energyMicrojoules"));
  const Json report = call("Report", period(kNoon, now, {{"by", "unit"}})).parameters;
  EXPECT_THAT(ids(report), ElementsAre("/user.slice/user-1000.slice/x.service"));
  EXPECT_FALSE(report.contains("accounts"));
  EXPECT_FALSE(report.contains("energyMicrojoules"));

  viewer = {.user = 1001};
  EXPECT_THAT(ids(query(period(kNoon, now, {{"kind", "vms"}, {"step", "day"}}))[0]), IsEmpty());
  EXPECT_EQ(call("Query", period(kNoon, now, {{"kind", "host"}, {"step", "day"}}), true).error,
            "org.varlink.service.PermissionDenied");
  EXPECT_EQ(call("Query", period(kNoon, now, {{"kind", "vms"}, {"id", "uuid"}, {"step", "day"}}), true).error,
            "org.keplerd.History.NoSuchWorkload")
      << "not even that there is one";
}

TEST_F(HistoryInterface, ANameOfTwoIsAmbiguous) {
  workload(Kind::kVms, "uuid-2").name = "web";
  record();
  const auto reply =
      call("Query", period(kNoon, now, {{"kind", "vms"}, {"id", "web"}, {"step", "day"}}), true);
  EXPECT_EQ(reply.error, "org.keplerd.History.AmbiguousName");
  EXPECT_EQ(reply.parameters, (Json{{"name", "web"}, {"ids", {"uuid", "uuid-2"}}}));
}

TEST_F(HistoryInterface, ReportsByProjectWhatVirtualMachinesBelongTo) {
  workload(Kind::kVms, "uuid-2", 0).name = "shop-1";
  workload(Kind::kVms, "uuid-3", 0).name = "blog-1";
  workload(Kind::kVms, "uuid-3", 0).project = {"p1", "press"};
  project = *ProjectPattern::parse("%p-*");
  record();
  now += 1min;
  workload(Kind::kVms, "uuid-2", 0).now.active += Microjoules{70};
  workload(Kind::kVms, "uuid-3", 0).now.active += Microjoules{30};
  accounts.workloads += Microjoules{100};
  read();
  const Json report = call("Report", period(kNoon, now + 1s, {{"by", "project"}})).parameters;
  EXPECT_THAT(ids(report), ElementsAre("shop", "p1"));
  EXPECT_EQ(report.at("rows")[0].at("energyMicrojoules"), 70);
  EXPECT_EQ(report.at("rows")[0].at("kind"), "project");
  EXPECT_FALSE(report.at("rows")[0].contains("name")) << "of the pattern, it is the id";
  EXPECT_EQ(report.at("rows")[1].at("name"), "press");
  std::int64_t sum = 100;
  for (const auto& [name, energy] : report.at("accounts").items()) sum += energy.get<std::int64_t>();
  EXPECT_EQ(sum, report.at("energyMicrojoules"));
  project.reset();
  EXPECT_THAT(ids(call("Report", period(kNoon, now + 1s, {{"by", "project"}})).parameters),
              ElementsAre("p1"));
}

TEST_F(HistoryInterface, TheMeterOfThePlatformIsShownBesideTheEnergyOfTheHost) {
  for (const auto& [id, energy] : {std::pair("acpi:platform:0", 90), std::pair("plug:wall:0", 120)})
    workload(Kind::kZones, id, std::nullopt).now.active += Microjoules{energy};
  read();
  run(5);
  for (const auto& [id, energy] : {std::pair("acpi:platform:0", 9000), std::pair("plug:wall:0", 12'000)})
    workload(Kind::kZones, id, std::nullopt).now.active += Microjoules{energy};
  run(5);
  for (const Json& reply : {call("Report", period(kNoon, now, {{"by", "unit"}})).parameters,
                            query(period(kNoon, now, {{"kind", "host"}, {"step", "hour"}}))[0]}) {
    EXPECT_EQ(reply.at("energyMicrojoules"), 11'000) << "it is not part of that";
    EXPECT_EQ(reply.at("platformMicrojoules"), 12'000) << "the one that counted most";
    EXPECT_EQ(reply.at("platformMeter"), "plug:wall:0");
  }
  viewer = {.user = 1000};
  EXPECT_FALSE(
      call("Report", period(kNoon, now, {{"by", "unit"}})).parameters.contains("platformMicrojoules"));
  EXPECT_THAT(ids(query(period(kNoon, now, {{"kind", "zones"}, {"step", "day"}}))[0]), IsEmpty());
}

TEST_F(HistoryInterface, ARequestSeesTheDatabaseAsItWas) {
  record();
  Readers readers(path, [] {});
  const auto reader = readers.lend(std::nullopt);
  const Span all{kNoon - 24h, kNoon + 240h};
  PeriodSum sum(reader->database(), {.period = all});
  sum.step();
  const Microjoules before = summary(all).accounts.energy();
  run(24 * 60);
  recorder->flush();
  while (sum.step()) {
  }
  EXPECT_GT(summary(all).accounts.energy(), before);
  EXPECT_EQ(sum.summary().accounts.energy(), before);
  Microjoules units;
  for (const PeriodSum::Sum& one : sum.workloads()) units += one.amounts.energy();
  EXPECT_GE(units, sum.summary().accounts.workloads) << "and virtual machines";
}

TEST_F(HistoryInterface, OfAUserWithoutFullAccessOneRequestIsComputedAtATime) {
  record();
  Readers readers(path, [this] { ++returned; });
  auto first = readers.lend(1000);
  ASSERT_TRUE(first);
  EXPECT_FALSE(readers.lend(1000));
  auto other = readers.lend(1001);
  EXPECT_TRUE(other) << "others do not wait for it";
  std::vector<std::unique_ptr<Readers::Reader>> lent;
  for (uid_t user = 2000; auto reader = readers.lend(user); ++user) lent.push_back(std::move(reader));
  EXPECT_EQ(lent.size(), 6u) << "there are eight for users";
  EXPECT_TRUE(readers.lend(std::nullopt)) << "and some for callers with full access";
  first.reset();
  EXPECT_EQ(returned, 2);
  EXPECT_TRUE(readers.lend(1000));
}

TEST_F(HistoryInterface, ARequestThatWaitsForAReaderIsAnsweredWhenOneIsReturned) {
  record();
  viewer = {.user = 1000};
  std::vector<varlink::Client> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(*varlink::Client::connect(directory / "socket"));
    EXPECT_TRUE(clients.back().send("org.keplerd.History.Report", period(kNoon, now, {{"by", "unit"}})));
  }
  for (varlink::Client& client : clients) {
    auto reply = client.receive(0ms);
    for (int turn = 0; !reply && turn < 1000; ++turn) {
      sd_event_run(loop_, 10'000);
      reply = client.receive(0ms);
    }
    ASSERT_TRUE(reply);
    EXPECT_THAT(ids(reply->parameters), ElementsAre("/user.slice/user-1000.slice/x.service"));
  }
}

TEST_F(HistoryInterface, ListsBudgetsForCallersWithFullAccess) {
  budgets = {{*parse_budget("18mJ/day vm web"), *parse_budget("1J/month user nobody-of-this-name")},
             {},
             [](const Budget&, const std::string&) {}};
  recorder->on_written([this](Time time) { budgets.check(recorder->store(), time); });
  record();
  const auto reply = call("ListBudgets", Json::object()).parameters.at("budgets");
  ASSERT_EQ(reply.size(), 2u);
  EXPECT_EQ(reply[0].at("budget"), "18mJ/day vm web");
  EXPECT_EQ(reply[0].at("subject"), "vm web");
  EXPECT_EQ(reply[0].at("limitMicrojoules"), 18'000);
  EXPECT_EQ(reply[0].at("usedMicrojoules"), energy(span_of(Step::kDay, now), Kind::kVms).at("uuid"));
  EXPECT_EQ(reply[0].at("fromUsec"), span_of(Step::kDay, now).start.count());
  EXPECT_FALSE(reply[0].contains("problem"));
  EXPECT_EQ(reply[1].at("problem"), "there is no such user");
  EXPECT_FALSE(reply[1].contains("usedMicrojoules"));
  viewer = {.user = 1000};
  EXPECT_EQ(call("ListBudgets", Json::object()).error, "org.varlink.service.PermissionDenied");
}

TEST_F(HistoryInterface, RefusesWhatIsNoPeriodKindOrStep) {
  const auto bad = [&](const char* method, Json parameters) {
    const auto reply = call(method, std::move(parameters), method == std::string("Query"));
    EXPECT_EQ(reply.error, "org.varlink.service.InvalidParameter");
    return reply.parameters.value("parameter", "");
  };
  EXPECT_EQ(bad("Report", {{"by", "vm"}}), "fromUsec");
  EXPECT_EQ(bad("Report", {{"by", "vm"}, {"fromUsec", -1}, {"toUsec", 5}}), "fromUsec");
  EXPECT_EQ(bad("Report", {{"by", "vm"}, {"fromUsec", 5}, {"toUsec", 5}}), "toUsec");
  EXPECT_EQ(bad("Report", {{"by", "vm"}, {"fromUsec", INT64_MAX - 1}, {"toUsec", INT64_MAX}}), "fromUsec");
  EXPECT_EQ(bad("Report", period(kNoon, now + 1s, {{"by", "zone"}})), "by");
  EXPECT_EQ(bad("Query", period(kNoon, now + 1s, {{"kind", "processes"}, {"step", "day"}})), "kind");
  EXPECT_EQ(bad("Query", period(kNoon, now + 1s, {{"kind", "host"}, {"step", "year"}})), "step");
  EXPECT_EQ(bad("Query", period(Time(0), now, {{"kind", "host"}, {"step", "5min"}})), "step")
      << "too many spans";
  EXPECT_EQ(bad("Query", period(Time(0), Time(INT64_MAX), {{"kind", "host"}, {"step", "hour"}})), "step");
  EXPECT_EQ(call("Query", period(kNoon, now + 1s, {{"kind", "host"}, {"step", "day"}})).error,
            "org.varlink.service.ExpectedMore");
}

}  // namespace
}  // namespace keplerd::history
