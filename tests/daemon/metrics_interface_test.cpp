// SPDX-License-Identifier: Apache-2.0
// io.systemd.Metrics over a real socket, on a written host.
#include "daemon/publish/metrics_interface.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/interface_host.h"

namespace keplerd {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using varlink::ClientReply;
using varlink::Json;

class MetricsInterface : public InterfaceHost {
 protected:
  MetricsInterface() : InterfaceHost("keplerd-metrics", add_metrics_interface) {
    host.files.add_cgroup("/a.service", 0);
    host.files.add_cgroup("/a.service/group", 0);
    host.files.add_process({.pid = 10, .comm = "one", .start = 77, .cgroup = "/a.service"});
    host.begin();
    host.draw(20'000'000);
    host.files.set_cgroup_usage("/a.service", 100'000);
    host.files.set_process_time(10, 10);
    host.step();
  }

  // All replies, as text; or the error.
  std::vector<std::string> call(const std::string& method, bool more = true) {
    EXPECT_TRUE(client->send("io.systemd.Metrics." + method, Json::object(), more).ok());
    std::vector<std::string> replies;
    while (true) {
      const ClientReply reply = receive();
      if (!reply.error.empty()) return {reply.error};
      replies.push_back(reply.parameters.dump());
      if (!reply.continues) return replies;
    }
  }
};

TEST_F(MetricsInterface, ListsHostAccountsZonesAndUnits) {
  EXPECT_THAT(
      call("List"),
      ElementsAre(
          R"({"name":"org.keplerd.Energy.AccountEnergyMicrojoules","value":10000000,"object":"idle"})",
          R"({"name":"org.keplerd.Energy.AccountEnergyMicrojoules","value":0,"object":"kernel"})",
          R"({"name":"org.keplerd.Energy.AccountEnergyMicrojoules","value":0,"object":"unattributed"})",
          R"({"name":"org.keplerd.Energy.AccountEnergyMicrojoules","value":10000000,"object":"workloads"})",
          R"({"name":"org.keplerd.Energy.HostActiveMicrojoules","value":10000000})",
          R"({"name":"org.keplerd.Energy.HostEnergyMicrojoules","value":20000000})",
          R"({"name":"org.keplerd.Energy.HostIdleMicrojoules","value":10000000})",
          R"({"name":"org.keplerd.Energy.HostPowerMicrowatts","value":20000000})",
          R"({"name":"org.keplerd.Energy.UnitEnergyMicrojoules","value":10000000,"object":"a.service",)"
          R"("fields":{"id":"/a.service"}})",
          R"({"name":"org.keplerd.Energy.ZoneEnergyMicrojoules","value":20000000,"object":"package",)"
          R"("fields":{"id":"powercap:package:0"}})",
          R"({"name":"org.keplerd.Energy.ZoneEnergyMicrojoules","value":0,"object":"dram",)"
          R"("fields":{"id":"powercap:dram:0"}})",
          R"({"name":"org.keplerd.Energy.ZonePowerMicrowatts","value":20000000,"object":"package",)"
          R"("fields":{"id":"powercap:package:0"}})",
          R"({"name":"org.keplerd.Energy.ZonePowerMicrowatts","value":0,"object":"dram",)"
          R"("fields":{"id":"powercap:dram:0"}})"));
}

TEST_F(MetricsInterface, DescribesEachFamilyThatItLists) {
  const auto described = call("Describe");
  EXPECT_EQ(described.size(), 9u);
  EXPECT_THAT(described,
              Contains(R"({"name":"org.keplerd.Energy.HostPowerMicrowatts",)"
                       R"("description":"Power of the host, the mean of the last window","type":"gauge"})"));
  for (const std::string& metric : call("List")) {
    const std::string name = Json::parse(metric).at("name");
    EXPECT_THAT(described, Contains(testing::HasSubstr("\"" + name + "\""))) << name;
  }
}

TEST_F(MetricsInterface, AnUnprivilegedCallerGetsOnlyTheHost) {
  caller = {};
  EXPECT_THAT(call("List"),
              ElementsAre(R"({"name":"org.keplerd.Energy.HostActiveMicrojoules","value":10000000})",
                          R"({"name":"org.keplerd.Energy.HostEnergyMicrojoules","value":20000000})",
                          R"({"name":"org.keplerd.Energy.HostIdleMicrojoules","value":10000000})"));
}

TEST_F(MetricsInterface, IfNothingIsPublicThereIsNoMetric) {
  caller = {};
  access.set_rule(PublicAccess::kNone);
  EXPECT_THAT(call("List"), ElementsAre("io.systemd.Metrics.NoSuchMetric"));
}

TEST_F(MetricsInterface, BothNeedMore) {
  EXPECT_THAT(call("List", false), ElementsAre("org.varlink.service.ExpectedMore"));
  EXPECT_THAT(call("Describe", false), ElementsAre("org.varlink.service.ExpectedMore"));
}

TEST_F(MetricsInterface, UnitsAreLimitedToThoseThatUsedMost) {
  for (std::size_t i = 0; i < kMostUnitMetrics + 5; ++i) {
    host.files.add_cgroup("/u" + std::to_string(i) + ".service", 0);
  }
  host.draw(1'000'000);
  host.step();
  const auto metrics = call("List");
  EXPECT_EQ(
      std::ranges::count_if(metrics, [](const std::string& m) { return m.find("UnitEnergy") != m.npos; }),
      kMostUnitMetrics);
  EXPECT_THAT(metrics, Contains(testing::HasSubstr(R"("object":"a.service")")));
  EXPECT_THAT(metrics, Not(Contains(testing::HasSubstr("/a.service/group"))));
}

}  // namespace
}  // namespace keplerd
