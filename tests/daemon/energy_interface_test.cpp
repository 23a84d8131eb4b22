// SPDX-License-Identifier: Apache-2.0
// org.keplerd.Energy over a real socket, on a written host.
#include "daemon/publish/energy_interface.h"

#include <set>

#include <gtest/gtest.h>
#include <poll.h>

#include "daemon/interface_host.h"

namespace keplerd {
namespace {

using varlink::ClientReply;
using varlink::Json;

class EnergyInterface : public InterfaceHost {
 protected:
  EnergyInterface() : InterfaceHost("keplerd-interface", add_energy_interface) {
    host.files.add_cgroup("/user.slice/a.scope", 0);
    host.files.add_cgroup("/b.slice/a.scope", 0);
    host.files.add_cgroup("/c.service", 0);
    host.files.add_process({.pid = 10, .comm = "one", .start = 77, .cgroup = "/c.service"});
    host.files.add_process({.pid = 11, .comm = "two", .start = 78});
    host.begin();
    host.draw(20'000'000);
    host.files.set_cgroup_usage("/c.service", 100'000);
    host.files.set_process_time(10, 10);
    host.files.set_process_time(11, 10);
    host.step();
  }

  ClientReply call(const std::string& method, Json parameters = Json::object()) {
    EXPECT_TRUE(client->send("org.keplerd.Energy." + method, std::move(parameters)).ok());
    return receive();
  }
  std::vector<Json> list(Json parameters) {
    EXPECT_TRUE(client->send("org.keplerd.Energy.List", std::move(parameters), true).ok());
    std::vector<Json> rows;
    while (true) {
      const ClientReply reply = receive();
      EXPECT_EQ(reply.error, "");
      if (reply.parameters.contains("row")) rows.push_back(reply.parameters.at("row"));
      if (!reply.continues) return rows;
    }
  }
};

TEST_F(EnergyInterface, StatusHasHostAccountsSourceAndSettings) {
  const Json status = call("GetStatus").parameters;
  EXPECT_EQ(status.at("host").dump(),
            R"({"energyMicrojoules":20000000,"activeMicrojoules":10000000,"idleMicrojoules":10000000,)"
            R"("powerMicrowatts":20000000,"activeMicrowatts":10000000,"idleMicrowatts":10000000,)"
            R"("windowCpuUsec":1000000,"windowBusyUsec":500000})");
  EXPECT_EQ(status.at("accounts").dump(),
            R"({"idle":10000000,"kernel":0,"workloads":10000000,"unattributed":0})");
  EXPECT_EQ(status.at("source").dump(), R"({"name":"powercap","quality":"measured"})");
  EXPECT_EQ(status.at("split"), "usage-ratio");
  EXPECT_EQ(status.at("share"), "cpu-time");
  EXPECT_EQ(status.at("idle"), "separate");
  EXPECT_EQ(status.at("intervalUsec"), 1'000'000);
  EXPECT_EQ(status.at("windowUsec"), 1'000'000);
  EXPECT_EQ(asked, 1);
}

TEST_F(EnergyInterface, StatusListsTheMetersTriedAndWhyTheyWereNotUsed) {
  const Json status = call("GetStatus").parameters;
  const Json& meters = status.at("meters");
  ASSERT_EQ(meters.size(), 2u) << "those that are worse than the one in use are not tried";
  EXPECT_EQ(meters[0].at("name"), "perf");
  EXPECT_EQ(meters[0].at("inUse"), false);
  EXPECT_EQ(meters[0].at("usable"), false);
  EXPECT_EQ(meters[0].at("fix"), "modprobe rapl");
  EXPECT_TRUE(
      meters[0].at("reason").get<std::string>().ends_with("power/cpumask: No such file or directory"));
  EXPECT_EQ(meters[1].dump(), R"({"name":"powercap","inUse":true,"usable":true,)"
                              R"("zones":["powercap:package:0","powercap:dram:0"]})");
  EXPECT_EQ(status.at("groupsLeftOut"), 0);
  EXPECT_EQ(status.at("missedEnds"), 0);
  EXPECT_EQ(status.at("processesLeftOut"), 0);
}

TEST_F(EnergyInterface, RowsHaveTheFieldsOfTheirKind) {
  EXPECT_EQ(
      call("Get", {{"kind", "units"}, {"id", "/c.service"}}).parameters.at("row").dump(),
      R"({"id":"/c.service","name":"c.service","kind":"unit","state":"running","energyMicrojoules":5000000,)"
      R"("activeMicrojoules":5000000,"idleMicrojoules":0,"powerMicrowatts":5000000,"cpuUsec":100000,"zones":[)"
      R"({"id":"powercap:package:0","name":"package","index":0,"energyMicrojoules":5000000,"powerMicrowatts":5000000},)"
      R"({"id":"powercap:dram:0","name":"dram","index":0,"energyMicrojoules":0,"powerMicrowatts":0}],)"
      R"("quality":"attributed","sinceUsec":1700000000000000,"ownerUid":0,"ownMicrojoules":5000000,"otherMicrojoules":0})");
  const Json process = call("Get", {{"kind", "processes"}, {"id", "10.77"}}).parameters.at("row");
  EXPECT_EQ(process.at("pid"), 10);
  EXPECT_EQ(process.at("comm"), "one");
  EXPECT_EQ(process.at("unit"), "/c.service");
  EXPECT_EQ(process.at("unitMicrojoules"), 5'000'000);
  EXPECT_FALSE(call("Get", {{"kind", "processes"}, {"id", "11.78"}}).parameters.at("row").contains("unit"));
  const Json zone = call("Get", {{"kind", "zones"}, {"id", "powercap:dram:0"}}).parameters.at("row");
  EXPECT_EQ(zone.at("inTotal"), true);
  EXPECT_EQ(zone.at("quality"), "measured");
}

TEST_F(EnergyInterface, AnIdMayBeANameThatOnlyOneHas) {
  EXPECT_EQ(call("Get", {{"kind", "unit"}, {"id", "c.service"}}).parameters.at("row").at("id"), "/c.service");
  const ClientReply ambiguous = call("Get", {{"kind", "units"}, {"id", "a.scope"}});
  EXPECT_EQ(ambiguous.error, "org.keplerd.Energy.AmbiguousName");
  EXPECT_EQ(ambiguous.parameters.dump(),
            R"({"name":"a.scope","ids":["/b.slice/a.scope","/user.slice/a.scope"]})");
}

TEST_F(EnergyInterface, AMissingRowIsTheErrorOfItsKind) {
  EXPECT_EQ(call("Get", {{"kind", "units"}, {"id", "/x"}}).error, "org.keplerd.Energy.NoSuchUnit");
  EXPECT_EQ(call("Get", {{"kind", "processes"}, {"id", "10.1"}}).error, "org.keplerd.Energy.NoSuchProcess");
  EXPECT_EQ(call("Get", {{"kind", "zones"}, {"id", "x"}}).error, "org.keplerd.Energy.NoSuchZone");
}

TEST_F(EnergyInterface, ListSortsAndLimits) {
  EXPECT_EQ(list({{"kind", "units"}}).size(), 5u);
  EXPECT_EQ(list({{"kind", "units"}}).front().at("id"), "/c.service") << "most energy first";
  const auto by_name = list({{"kind", "units"}, {"sort", "name"}, {"limit", 2}});
  ASSERT_EQ(by_name.size(), 2u);
  EXPECT_EQ(by_name[0].at("name"), "a.scope");
  EXPECT_TRUE(list({{"kind", "processes"}, {"limit", 0}}).empty());
  EXPECT_EQ(list({{"kind", "zones"}, {"limit", nullptr}}).size(), 2u);
}

TEST_F(EnergyInterface, BadParametersAreNamed) {
  const auto expect_bad = [&](const std::string& method, Json parameters, bool more,
                              const std::string& name) {
    ASSERT_TRUE(client->send("org.keplerd.Energy." + method, parameters, more).ok());
    const ClientReply reply = receive();
    EXPECT_EQ(reply.error, "org.varlink.service.InvalidParameter") << parameters;
    EXPECT_EQ(reply.parameters.value("parameter", ""), name) << parameters;
  };
  expect_bad("List", Json::object(), true, "kind");
  expect_bad("List", {{"kind", "nonsense"}}, true, "kind");
  expect_bad("List", {{"kind", 7}}, true, "kind");
  expect_bad("List", {{"kind", "units"}, {"limit", -1}}, true, "limit");
  expect_bad("List", {{"kind", "units"}, {"limit", "3"}}, true, "limit");
  expect_bad("List", {{"kind", "units"}, {"limit", 1.5}}, true, "limit");
  expect_bad("List", {{"kind", "units"}, {"sort", "colour"}}, true, "sort");
  expect_bad("Get", {{"kind", "units"}}, false, "id");
  expect_bad("Get", {{"id", "x"}}, false, "kind");
  expect_bad("Monitor", {{"kind", "x"}}, true, "kind");
  expect_bad("Monitor", {{"intervalUsec", -5}}, true, "intervalUsec");
  expect_bad("Monitor", {{"intervalUsec", 999'999}, {"aligned", true}}, true, "intervalUsec");
  expect_bad("Monitor", {{"aligned", 1}}, true, "aligned");
  expect_bad("Monitor", {{"public", "yes"}}, true, "public");
  expect_bad("Measure", {{"id", "/c.service"}}, true, "kind");
  expect_bad("Measure", {{"kind", "units"}}, true, "id");
  expect_bad("Measure", {{"kind", "units"}, {"id", std::string(4097, 'a')}}, true, "id");
  expect_bad("Measure", {{"kind", "units"}, {"id", "/x"}, {"intervalUsec", "1"}}, true, "intervalUsec");
  expect_bad("Record", {{"intervalUsec", -5}}, true, "intervalUsec");
  expect_bad("Record", {{"anonymize", 1}}, true, "anonymize");
}

TEST_F(EnergyInterface, StreamsNeedMore) {
  EXPECT_EQ(call("List", {{"kind", "units"}}).error, "org.varlink.service.ExpectedMore");
  EXPECT_EQ(call("Monitor").error, "org.varlink.service.ExpectedMore");
  EXPECT_EQ(call("Measure", {{"kind", "units"}, {"id", "/x"}}).error, "org.varlink.service.ExpectedMore");
  EXPECT_EQ(call("Record").error, "org.varlink.service.ExpectedMore");
}

TEST_F(EnergyInterface, MeasureTakesAUnitThatIsNotThereYetAndNoOtherRow) {
  const auto measure = [&](const Json& parameters) {
    EXPECT_TRUE(client->send("org.keplerd.Energy.Measure", parameters, true).ok());
    return receive();
  };
  EXPECT_EQ(measure({{"kind", "vms"}, {"id", "x"}}).error, "org.keplerd.Energy.NoSuchVirtualMachine");
  EXPECT_EQ(measure({{"kind", "units"}, {"id", "a.scope"}}).error, "org.keplerd.Energy.AmbiguousName");
  const ClientReply reply = measure({{"kind", "units"}, {"id", "/run.scope"}});
  EXPECT_TRUE(reply.continues);
  EXPECT_FALSE(reply.parameters.contains("row"));
  host.files.add_cgroup("/run.scope", 0);
  host.step();
  (*server)->wake();
  EXPECT_EQ(receive().parameters.at("row").at("id"), "/run.scope");
}

TEST_F(EnergyInterface, MonitorGoesOnWithEachReport) {
  ASSERT_TRUE(client->send("org.keplerd.Energy.Monitor", {{"kind", "zones"}}, true).ok());
  EXPECT_EQ(receive().parameters.at("sequence"), 2);
  host.draw(1'000'000);
  host.step();
  (*server)->wake();
  const ClientReply next = receive();
  EXPECT_EQ(next.parameters.at("sequence"), 3);
  EXPECT_TRUE(next.continues);
}

TEST_F(EnergyInterface, AnUnprivilegedCallerGetsNoAccountsAndNoParts) {
  caller = {};
  access.set_rule(PublicAccess::kAll);
  const Json status = call("GetStatus").parameters;
  EXPECT_EQ(status.at("host").dump(),
            R"({"energyMicrojoules":20000000,"activeMicrojoules":10000000,"idleMicrojoules":10000000})");
  EXPECT_FALSE(status.contains("accounts"));
  EXPECT_FALSE(status.contains("outsideOtherMicrojoules"));
  EXPECT_FALSE(status.contains("outsideContainersMicrojoules"));
  const Json unit = call("Get", {{"kind", "units"}, {"id", "/c.service"}}).parameters.at("row");
  EXPECT_EQ(unit.at("energyMicrojoules"), 5'000'000);
  EXPECT_FALSE(unit.contains("zones"));
  ASSERT_TRUE(client->send("org.keplerd.Energy.Monitor", {{"kind", "units"}}, true).ok());
  EXPECT_FALSE(receive().parameters.contains("accounts"));
}

TEST_F(EnergyInterface, PublicTrueYieldsThePublicViewAndNoMore) {
  ASSERT_TRUE(client->send("org.keplerd.Energy.Monitor", {{"kind", "units"}, {"public", true}}, true).ok());
  const Json reply = receive().parameters;
  EXPECT_TRUE(reply.at("rows").empty());
  EXPECT_FALSE(reply.contains("accounts"));
  EXPECT_EQ(reply.at("discardedWindows"), 0);
  EXPECT_EQ(reply.at("missedEnds"), 0);
  EXPECT_GT(reply.at("daemonCpuUsec"), 0);
}

TEST_F(EnergyInterface, ReportsTheCostOfKeplerdItself) {
  const Json first = call("GetStatus").parameters;
  EXPECT_GT(first.at("daemonMemoryBytes"), 0);
  EXPECT_FALSE(first.contains("daemonMicrojoules")) << "it is no process of a written host";
  host.step();
  const Json second = call("GetStatus").parameters;
  const auto used =
      second.at("daemonCpuUsec").get<std::int64_t>() - first.at("daemonCpuUsec").get<std::int64_t>();
  const auto cut_off = used - second.at("daemonWindowCpuUsec").get<std::int64_t>();  // of a microsecond
  EXPECT_TRUE(cut_off == 0 || cut_off == 1) << cut_off;
}

TEST_F(EnergyInterface, ThePublicViewMayBeEmptyForEveryCaller) {
  access.set_rule(PublicAccess::kNone);
  ASSERT_TRUE(client->send("org.keplerd.Energy.Monitor", {{"public", true}}, true).ok());
  EXPECT_EQ(receive().error, "org.varlink.service.PermissionDenied");
}

TEST_F(EnergyInterface, WhatACallerMayNotSeeDoesNotExistForIt) {
  caller = {};
  EXPECT_EQ(call("Get", {{"kind", "units"}, {"id", "/c.service"}}).error, "org.keplerd.Energy.NoSuchUnit");
  EXPECT_EQ(call("Get", {{"kind", "units"}, {"id", "a.scope"}}).error, "org.keplerd.Energy.NoSuchUnit")
      << "not even that several have this name";
  EXPECT_EQ(call("Get", {{"kind", "processes"}, {"id", "10.77"}}).error, "org.keplerd.Energy.NoSuchProcess");
  EXPECT_EQ(call("Get", {{"kind", "zones"}, {"id", "powercap:dram:0"}}).error,
            "org.keplerd.Energy.NoSuchZone");
  for (const char* kind : {"units", "vms", "containers", "pods", "processes", "zones"})
    EXPECT_TRUE(list({{"kind", kind}}).empty()) << kind;
}

TEST_F(EnergyInterface, IfNothingIsPublicAnUnprivilegedCallerIsRefused) {
  caller = {};
  access.set_rule(PublicAccess::kNone);
  constexpr char kDenied[] = "org.varlink.service.PermissionDenied";
  EXPECT_EQ(call("GetStatus").error, kDenied);
  EXPECT_EQ(call("Get", {{"kind", "units"}, {"id", "/c.service"}}).error, kDenied);
  for (const char* method : {"List", "Monitor"}) {
    ASSERT_TRUE(client->send(std::string("org.keplerd.Energy.") + method, {{"kind", "units"}}, true).ok());
    EXPECT_EQ(receive().error, kDenied) << method;
  }
}

TEST_F(EnergyInterface, AStreamEndsWhenItsReaderMaySeeNothingAnyMore) {
  caller = {};
  ASSERT_TRUE(client->send("org.keplerd.Energy.Monitor", Json::object(), true).ok());
  EXPECT_EQ(receive().error, "");
  access.set_rule(PublicAccess::kNone);
  (*server)->wake();
  EXPECT_EQ(receive().error, "org.varlink.service.PermissionDenied");
}

TEST_F(EnergyInterface, NumbersAbove2To53StayExact) {
  host.files.set_energy("intel-rapl:0", 0);
  Ledger ledger("instance", Realtime(1));
  LedgerState state = ledger.state(Realtime(1));
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;
  state.zones.push_back({.id = "powercap:package:0",
                         .name = "package",
                         .index = 0,
                         .quality = Quality::kMeasured,
                         .in_total = true,
                         .energy = {odd},
                         .idle = {odd},
                         .kernel = {},
                         .unattributed = {},
                         .since = Realtime(1)});
  const auto parsed = parse_state(format_state(state));
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  host.begin({}, Ledger(*parsed, "new"));
  EXPECT_EQ(call("GetStatus").parameters.at("host").at("energyMicrojoules").get<std::int64_t>(), odd);
}

TEST_F(EnergyInterface, HostileNamesAreEscaped) {
  host.files.add_cgroup("/evil\n\x1b[2J\xff.service", 0);
  host.step();
  const auto rows = list({{"kind", "units"}, {"sort", "id"}});
  EXPECT_TRUE(std::ranges::any_of(
      rows, [](const Json& row) { return row.at("id") == R"(/evil\x0a\x1b[2J\xff.service)"; }));
}

TEST_F(EnergyInterface, RecordSendsTheTraceOfEachSample) {
  ASSERT_TRUE(client->send("org.keplerd.Energy.Record", Json::object(), true).ok());
  ASSERT_FALSE(client->receive(std::chrono::milliseconds(0)).ok());
  while (!recorder().is_active()) sd_event_run(loop, 10'000);
  host.step();
  recorder().take(host.meter().last_sample(), host.meter().zones(), *host.meter().report());
  (*server)->wake();
  const ClientReply reply = receive();
  EXPECT_TRUE(reply.continues);
  const std::string text = reply.parameters.at("text");
  EXPECT_TRUE(text.starts_with(R"({"trace":"org.keplerd.Trace1","begins":true,)")) << text;
  EXPECT_NE(text.find(R"("/c.service":100000)"), text.npos) << text;
  EXPECT_TRUE(text.ends_with("}\n"));
}

TEST_F(EnergyInterface, AnAnonymizedTraceNamesNoWorkloadAndNoHost) {
  ASSERT_TRUE(client->send("org.keplerd.Energy.Record", {{"anonymize", true}}, true).ok());
  while (!recorder().is_active()) sd_event_run(loop, 10'000);
  host.step();
  recorder().take(host.meter().last_sample(), host.meter().zones(), *host.meter().report());
  (*server)->wake();
  const std::string text = receive().parameters.at("text");
  EXPECT_NE(text.find(R"("anonymized":true)"), text.npos) << text;
  EXPECT_EQ(text.find(R"("host":)"), text.npos) << text;
  EXPECT_EQ(text.find("/c.service"), text.npos) << text;
  EXPECT_NE(text.find(".service\":100000"), text.npos) << text;
}

TEST_F(EnergyInterface, RecordNeedsFullAccessWhateverIsPublic) {
  caller = {};
  access.set_rule(PublicAccess::kAll);
  ASSERT_TRUE(client->send("org.keplerd.Energy.Record", Json::object(), true).ok());
  EXPECT_EQ(receive().error, "org.varlink.service.PermissionDenied");
  EXPECT_FALSE(recorder().is_active());
}

TEST_F(EnergyInterface, MoreRecordingsThanThereIsRoomForAreRefused) {
  std::vector<std::shared_ptr<Recording>> recordings;
  for (int i = 0; i < 4; ++i) recordings.push_back(recorder().start({}));
  ASSERT_TRUE(client->send("org.keplerd.Energy.Record", Json::object(), true).ok());
  EXPECT_EQ(receive().error, "org.keplerd.Energy.TooManyRecordings");
}

}  // namespace
}  // namespace keplerd
