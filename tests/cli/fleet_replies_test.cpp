// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/fleet/lists.h"
#include "cli/fleet/replies.h"
#include "cli/fleet/reports.h"
#include "cli/fleet/statuses.h"
#include "cli/history/output.h"

namespace keplerd::cli::fleet {
namespace {

using testing::HasSubstr;
using testing::Not;
using varlink::Json;

Reply reply_to(const Ended& ended) { return reply_of("web1", "vms", "virtualMachines", ended, {}); }

std::string problem_of(int status, const std::string& errors, Stopped stopped = Stopped::kNo) {
  return reply_to({"", errors, status, stopped}).problem;
}

Reply answer(const std::string& host, Json value) { return {host, std::move(value), ""}; }
Reply failure(const std::string& host) { return {host, {}, "ssh failed"}; }

TEST(FleetReply, IsTheLastLine) {
  const Reply reply = reply_to({"Welcome!\n{\"virtualMachines\":[]}\n\n", "", 0, Stopped::kNo});
  EXPECT_TRUE(reply.answered()) << reply.problem;
  EXPECT_TRUE(reply.value.at("virtualMachines").empty());
}

TEST(FleetReply, IsNotJustAnyText) {
  EXPECT_EQ(reply_to({"Welcome!\n", "", 0, Stopped::kNo}).problem, "its answer is not JSON");
  EXPECT_EQ(reply_to({"", "", 0, Stopped::kNo}).problem, "its answer is not JSON");
  EXPECT_EQ(reply_to({"[1]\n", "", 0, Stopped::kNo}).problem, "its answer is not JSON");
  EXPECT_EQ(reply_to({std::string(100'000, '['), "", 0, Stopped::kNo}).problem, "its answer is not JSON");
  EXPECT_EQ(reply_to({"{\"machines\":[]}\n", "", 0, Stopped::kNo}).problem,
            "its answer has no 'virtualMachines': its keplerctl is older");
}

TEST(FleetReply, ExplainsWhyThereIsNone) {
  EXPECT_EQ(problem_of(255, "Warning: added a key\nssh: connect to host web1 port 22: Connection refused\n"),
            "ssh: connect to host web1 port 22: Connection refused");
  EXPECT_EQ(problem_of(255, ""), "ssh failed");
  EXPECT_EQ(problem_of(127, "bash: line 1: keplerctl: command not found\n"), "there is no keplerctl");
  EXPECT_EQ(problem_of(1, "keplerctl: /run/keplerd/x: no such socket\n"), "/run/keplerd/x: no such socket");
  EXPECT_EQ(problem_of(2, "keplerctl: unknown verb 'vms'\n"),
            "its keplerctl cannot do this; it is probably older: unknown verb 'vms'");
  EXPECT_EQ(problem_of(139, "Segmentation fault\n"),
            "'keplerctl vms' has failed there with status 139: Segmentation fault");
  EXPECT_EQ(problem_of(143, "", Stopped::kTooLong), "no answer within 30s");
  EXPECT_EQ(problem_of(143, "", Stopped::kTooMuch), "its answer is larger than 16 MiB");
}

TEST(FleetReply, ShowsNoMoreThanALineOfAnError) {
  const std::string problem = problem_of(1, "keplerctl: \033[2J\xe2\x80\xae" + std::string(3000, 'x'));
  EXPECT_THAT(problem, testing::StartsWith("\\x1b[2J\\xe2\\x80\\xaexxx"));
  EXPECT_LE(problem.size(), 204u);
}

TEST(FleetRows, NameTheirHostWhateverTheySay) {
  const Json list = Json::array({Json{{"id", "a"}, {"host", "evil"}}, "not a row", 7});
  const auto rows = rows_of(answer("web1", {{"vms", list}}), "vms");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].dump(), R"({"host":"web1","id":"a"})");
}

Json unit(const std::string& id, std::int64_t power, std::int64_t energy) {
  return {{"id", id},
          {"name", id.substr(id.rfind('/') + 1)},
          {"kind", "unit"},
          {"state", "running"},
          {"powerMicrowatts", power},
          {"energyMicrojoules", energy},
          {"ownMicrojoules", energy},
          {"quality", "attributed"}};
}

std::string units_screen(const std::vector<Reply>& replies) {
  return list_screen(list_kind(client::Kind::kUnits), replies, {}, {});
}

TEST(FleetList, CountsNestedRowsOfAHostOnce) {
  const Json rows = Json::array({unit("/user@1.service", 3'000'000, 30'000'000),
                                 unit("/user@1.service/app.scope", 2'000'000, 20'000'000)});
  const std::string screen = units_screen({answer("a", {{"units", rows}}), answer("b", {{"units", rows}})});
  EXPECT_THAT(screen, HasSubstr("4 units on 2 hosts. Total: 6.00 W, 60.00 J.\n"));
}

TEST(FleetList, SaysHowManyHostsAnswered) {
  const Json rows = Json::array({unit("/a.service", 1'000'000, 1'000'000)});
  EXPECT_THAT(units_screen({answer("a", {{"units", rows}}), failure("b")}),
              HasSubstr("1 unit on 1 of 2 hosts."));
}

TEST(FleetList, AddsNothingThatOverflows) {
  const auto most = std::numeric_limits<std::int64_t>::max();
  const Json rows = Json::array({unit("/a.service", most, most)});
  EXPECT_THAT(units_screen({answer("a", {{"units", rows}}), answer("b", {{"units", rows}})}),
              HasSubstr("Total:"));
}

TEST(FleetList, LabelsHostsThatAreNotMeasured) {
  Json simulated = unit("/a.service", 1, 1), unmeasured = simulated;
  simulated["quality"] = "simulated";
  unmeasured.erase("quality");
  const std::string screen = units_screen({answer("a", {{"units", Json::array({simulated})}}),
                                           answer("b", {{"units", Json::array({unmeasured})}}),
                                           answer("c", {{"units", Json::array()}})});
  EXPECT_THAT(screen, HasSubstr("SIMULATED (a): no meter is read, the numbers are invented.\n"));
  EXPECT_THAT(screen, HasSubstr("NOT MEASURED (b): no energy meter can be read;"));
  EXPECT_THAT(screen, Not(HasSubstr("(c)")));
}

TEST(FleetList, IsSortedAndLimitedAsAWhole) {
  Options options;
  options.sort = "name";
  options.limit = 2;
  const auto replies = {
      answer("a", {{"units", Json::array({unit("/c.service", 1, 1), unit("/a.service", 2, 2)})}}),
      answer("b", {{"units", Json::array({unit("/b.service", 3, 3)})}}), failure("c")};
  const ListKind kind = list_kind(client::Kind::kUnits);
  const Json json = list_json(kind, replies, options);
  ASSERT_EQ(json.at("units").size(), 2u);
  EXPECT_EQ(json.at("units")[0].at("id"), "/a.service");
  EXPECT_EQ(json.at("units")[1].at("host"), "b");
  EXPECT_EQ(json.at("failures").dump(), R"([{"host":"c","problem":"ssh failed"}])");
  EXPECT_EQ(
      list_csv(kind, replies, options),
      "host,realtimeUsec,id,name,state,powerMicrowatts,energyMicrojoules,activeMicrojoules,idleMicrojoules,"
      "cpuUsec\na,,/a.service,a.service,running,2,2,,,\nb,,/b.service,b.service,running,3,3,,,\n");
}

// A line of 1.25 x power + 30 W, by which the host draws 50 W.
Json calibrated(Json reply) {
  reply["wall"] = {{"quality", "modelled"}, {"slope", 1.25}, {"powerMicrowatts", 50'000'000}};
  return reply;
}

TEST(FleetWall, RowsAndAllElseAddUpToTheHostsThatAnswered) {
  Json outer = unit("/user@1.service", 4'000'000, 1), inner = unit("/user@1.service/app.scope", 1'000'000, 1);
  outer["wallMicrowatts"] = 5'000'000;
  inner["wallMicrowatts"] = 1'250'000;
  Options options;
  options.wall = true;
  const std::vector<Reply> replies = {answer("a", calibrated({{"units", Json::array({outer, inner})}})),
                                      answer("b", calibrated({{"units", Json::array({outer})}})),
                                      failure("c")};
  const ListKind units = list_kind(client::Kind::kUnits);
  const std::string screen = list_screen(units, replies, options, {});
  EXPECT_THAT(screen, HasSubstr("WALL"));
  EXPECT_THAT(screen, HasSubstr("At the plug (modelled): 10.0 W shown + 90.0 W other = 100 W.\n"));
  EXPECT_EQ(
      list_json(units, replies, options)["wall"].dump(),
      R"({"quality":"modelled","powerMicrowatts":100000000,"rowsMicrowatts":10000000,"otherMicrowatts":90000000})");
  EXPECT_THAT(list_csv(units, replies, options), HasSubstr(",wallMicrowatts\n"));
  const Json host = {{"host", {{"powerMicrowatts", 10'000'000}, {"idleMicrowatts", 2'000'000}}}};
  EXPECT_THAT(status_screen({answer("a", calibrated(host)), failure("b")}, true, {}),
              HasSubstr("At the plug (modelled): 10.0 W active + 40.0 W other = 50.0 W.\n"));
}

TEST(FleetWall, IsNotKnownUnlessEachHostKnowsIt) {
  Options options;
  options.wall = true;
  const Json rows = Json::array({unit("/a.service", 1, 1)});
  for (const Json& other : {Json{{"units", rows}}, Json{{"units", rows}, {"wall", {{"slope", 1e9}}}}}) {
    const std::string screen =
        list_screen(list_kind(client::Kind::kUnits),
                    {answer("a", calibrated({{"units", rows}})), answer("b", other)}, options, {});
    EXPECT_THAT(screen, HasSubstr("At the plug (modelled): not known in the last window.\n"));
  }
}

TEST(FleetStatus, HasTheTotalOfThoseThatAnswered) {
  const Json status = {{"host", {{"powerMicrowatts", 10'000'000}, {"energyMicrojoules", 7'200'000'000}}},
                       {"source", {{"name", "powercap"}, {"quality", "measured"}}}};
  Json unmeasured = status;
  unmeasured["host"] = Json::object();
  unmeasured["source"] = {{"name", "none"}};
  EXPECT_EQ(status_screen({answer("a", status), answer("bb", status), answer("c", unmeasured), failure("d")},
                          false, {}),
            "NOT MEASURED (c): no energy meter can be read; 'keplerctl doctor' shows why.\n"
            "\n"
            "HOST                   POWER  ACTIVE  IDLE   ENERGY  SOURCE\n"
            "a                    10.00 W       -     -  2.00 Wh  powercap, measured\n"
            "bb                   10.00 W       -     -  2.00 Wh  powercap, measured\n"
            "c                          -       -     -        -  none\n"
            "total, 3 of 4 hosts  20.00 W       -     -  4.00 Wh  -\n");
}

Json row(const std::string& name, std::int64_t energy) {
  return {{"id", name}, {"name", name}, {"kind", "vms"}, {"energyMicrojoules", energy}};
}

Json report(std::int64_t idle, Json rows) {
  std::int64_t energy = idle;
  for (const Json& each : rows) energy += each.at("energyMicrojoules").get<std::int64_t>();
  return {{"report",
           {{"fromUsec", 1'795'500'000'000'000},
            {"toUsec", 1'795'503'600'000'000},
            {"unrecordedUsec", 60'000'000},
            {"energyMicrojoules", energy},
            {"accounts", {{"idle", idle}, {"kernel", 0}, {"unattributed", 0}, {"other", 0}}},
            {"rows", std::move(rows)}}}};
}

Json priced(Json reply, const std::string& currency) {
  reply["report"]["costMicro"] = 100;
  reply["report"]["currency"] = currency;
  reply["report"]["accountCosts"] = {{"idle", {{"costMicro", 60}}}};
  for (Json& each : reply["report"]["rows"]) each["costMicro"] = 40;
  return reply;
}

TEST(FleetReport, AddsUpToTheEnergyOfAllHosts) {
  std::vector<Reply> replies = {answer("a", report(500, Json::array({row("web", 100), row("db", 300)}))),
                                answer("b", report(7, Json::array({row("web", 200)}))), failure("c")};
  const Json sum = report_json(replies);
  EXPECT_EQ(sum.at("energyMicrojoules"), 1107);
  EXPECT_EQ(sum.at("accounts").at("idle"), 507);
  std::int64_t parts = 0;
  for (const Json& each : sum.at("rows")) parts += each.at("energyMicrojoules").get<std::int64_t>();
  for (const Json& each : sum.at("accounts")) parts += each.get<std::int64_t>();
  EXPECT_EQ(parts, 1107);
  EXPECT_EQ(sum.at("rows")[0].dump(),
            R"({"host":"a","id":"db","name":"db","kind":"vms","energyMicrojoules":300})");
}

TEST(FleetReport, CountsTheRowsOfAHostThatHidesItsEnergy) {
  Json own = report(0, Json::array({row("mine", 50)}));
  own["report"].erase("energyMicrojoules");
  own["report"].erase("accounts");
  std::vector<Reply> replies = {answer("a", report(500, Json::array())), answer("b", own)};
  EXPECT_EQ(report_json(replies).at("energyMicrojoules"), 550);
}

TEST(FleetReport, AddsCostsOfOneCurrencyOnly) {
  const Json one = report(60, Json::array({row("web", 40)}));
  std::vector<Reply> euros = {answer("a", priced(one, "EUR")), answer("b", priced(one, "EUR"))};
  const Json sum = report_json(euros);
  EXPECT_EQ(sum.at("costMicro"), 200);
  EXPECT_EQ(sum.at("currency"), "EUR");
  EXPECT_EQ(sum.at("accountCosts").at("idle").at("costMicro"), 120);
  std::vector<Reply> mixed = {answer("a", priced(one, "EUR")), answer("b", priced(one, "USD"))};
  EXPECT_FALSE(report_json(mixed).contains("costMicro"));
  std::vector<Reply> partly = {answer("a", priced(one, "EUR")), answer("b", one)};
  EXPECT_FALSE(report_json(partly).contains("currency"));
}

TEST(FleetReport, RefusesImpossibleAmounts) {
  for (const Json& amount : {Json(-1), Json(std::numeric_limits<std::int64_t>::max()),
                             Json(std::numeric_limits<std::uint64_t>::max()), Json(1e300)}) {
    Json evil = report(0, Json::array({row("web", 1)}));
    evil["report"]["rows"][0]["energyMicrojoules"] = amount;
    std::vector<Reply> replies = {answer("a", report(500, Json::array())), answer("b", evil)};
    EXPECT_EQ(report_json(replies).at("energyMicrojoules"), 500) << amount;
    EXPECT_EQ(replies[1].problem, "its report contains impossible amounts");
  }
}

TEST(FleetReport, OfNobodyIsEmpty) {
  std::vector<Reply> replies = {failure("a")};
  EXPECT_EQ(report_json(replies).at("energyMicrojoules"), 0);
}

}  // namespace
}  // namespace keplerd::cli::fleet
