// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meters/redfish/discovery.h"
#include "meters/redfish_service.h"

namespace keplerd::redfish {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RedfishDiscovery : public testing::Test {
 protected:
  // The chassis with their power in watts, or the error.
  std::vector<std::string> found(const std::vector<std::string>& chosen = {}) {
    const Fetch fetch = service.fetch();
    const auto chassis = find_chassis(fetch, chosen);
    if (!chassis) return {chassis.error().message};
    std::vector<std::string> texts;
    for (const PoweredChassis& one : *chassis) {
      const auto power = read_power(fetch, one.source);
      texts.push_back(one.id + " " + (power && *power ? std::to_string((*power)->value / 1'000'000) : "?"));
    }
    return texts;
  }

  Service service;
};

TEST_F(RedfishDiscovery, TakesTheOldPowerDocument) {
  service.add_power("1", "344");
  EXPECT_THAT(found(), ElementsAre("1 344"));
}

TEST_F(RedfishDiscovery, PrefersTheEnvironmentMetrics) {
  service.add_power("1", "344",
                    Service::link("EnvironmentMetrics", "/redfish/v1/Chassis/1/EnvironmentMetrics"));
  service.documents["/redfish/v1/Chassis/1/EnvironmentMetrics"] = R"({"PowerWatts": {"Reading": 345.6}})";
  EXPECT_THAT(found(), ElementsAre("1 345"));
  service.documents["/redfish/v1/Chassis/1/EnvironmentMetrics"] =
      R"({"TemperatureCelsius": {"Reading": 39}})";
  EXPECT_THAT(found(), ElementsAre("1 344"));
  service.documents.erase("/redfish/v1/Chassis/1/EnvironmentMetrics");
  EXPECT_THAT(found(), ElementsAre("1 344")) << "a link that leads nowhere";
}

TEST_F(RedfishDiscovery, TakesTheSensorOfTheTotal) {
  service.add_chassis("chassis", Service::link("Sensors", "/redfish/v1/Chassis/chassis/Sensors"));
  const std::string sensors = "/redfish/v1/Chassis/chassis/Sensors/";
  service.documents["/redfish/v1/Chassis/chassis/Sensors"] =
      R"({"Members": [{"@odata.id": ")" + sensors +
      R"(fan0"}], "Members@odata.nextLink": "/redfish/v1/Sensors2"})";
  service.documents["/redfish/v1/Sensors2"] =
      Service::collection({sensors + "power_cpu0", sensors + "power_total_power"});
  service.documents[sensors + "power_total_power"] =
      R"({"ReadingType": "Power", "ReadingUnits": "W", "Reading": 150.2})";
  service.documents[sensors + "power_cpu0"] =
      R"({"ReadingType": "Power", "ReadingUnits": "W", "Reading": 80})";
  EXPECT_THAT(found(), ElementsAre("chassis 150"));
}

TEST_F(RedfishDiscovery, AddsUpThePowerSupplies) {
  service.add_chassis("1", Service::link("PowerSubsystem", "/redfish/v1/Chassis/1/PowerSubsystem"));
  const std::string subsystem = "/redfish/v1/Chassis/1/PowerSubsystem";
  service.documents[subsystem] = R"({"PowerSupplies": {"@odata.id": ")" + subsystem + R"(/PowerSupplies"}})";
  const std::string bay = subsystem + "/PowerSupplies/Bay";
  service.documents[subsystem + "/PowerSupplies"] = Service::collection({bay + "1", bay + "2"});
  for (const char* const number : {"1", "2"}) {
    service.documents[bay + number] = R"({"Metrics": {"@odata.id": ")" + bay + number + R"(/Metrics"}})";
    service.documents[bay + number + "/Metrics"] = R"({"InputPowerWatts": {"Reading": 120.5}})";
  }
  EXPECT_THAT(found(), ElementsAre("1 241"));
  service.documents[bay + "2/Metrics"] = R"({"InputPowerWatts": {"Reading": null}})";
  EXPECT_THAT(found(), ElementsAre("no chassis of the service has a power reading"))
      << "half of it is not it";
}

TEST_F(RedfishDiscovery, SeveralChassisMakeUpTheHost) {
  service.add_power("node", "300");
  service.add_power("drives", "90", "", "StorageEnclosure");
  service.add_chassis("backplane", "");
  EXPECT_THAT(found(), ElementsAre("node 300", "drives 90"));
}

TEST_F(RedfishDiscovery, WhatIsInsideAnotherOneIsCountedOnce) {
  service.add_power("1", "300");
  service.add_power("sled", "200", Service::contained_by("/redfish/v1/Chassis/1/"));
  service.add_chassis("tray", Service::contained_by("/redfish/v1/Chassis/1"));
  service.add_power("inner", "100", Service::contained_by("/redfish/v1/Chassis/tray"));
  service.add_power("GPU_1", "70", "", "Module");
  EXPECT_THAT(found(), ElementsAre("1 300"));
}

TEST_F(RedfishDiscovery, ALoopOfContainersEnds) {
  service.add_chassis("a", Service::contained_by("/redfish/v1/Chassis/b"));
  service.add_chassis("b", Service::contained_by("/redfish/v1/Chassis/a"));
  service.add_power("c", "100", Service::contained_by("/redfish/v1/Chassis/a"));
  EXPECT_THAT(found(), ElementsAre("c 100"));
}

TEST_F(RedfishDiscovery, NothingIsCountedTwice) {
  service.add_power("1", "300");
  service.chassis.push_back("/redfish/v1/Chassis/1/");
  service.documents["/redfish/v1/Chassis/1/"] = service.documents["/redfish/v1/Chassis/1"];
  service.add_chassis("2", Service::link("Power", "/redfish/v1/Chassis/1/Power"));
  EXPECT_THAT(found(), ElementsAre("1 300"));
}

TEST_F(RedfishDiscovery, AServiceOfSeveralComputersNeedsAChoice) {
  service.add_power("Blade1", "300", Service::computer("/redfish/v1/Systems/1"), "Blade");
  service.add_power("Blade2", "200", Service::computer("/redfish/v1/Systems/2"), "Blade");
  EXPECT_THAT(found(),
              ElementsAre("the service manages 2 computer systems (set Chassis= to that of this host)"));
  EXPECT_THAT(found({"Blade2"}), ElementsAre("Blade2 200"));
  EXPECT_THAT(found({"Blade3"}), ElementsAre("the service has no chassis 'Blade3' (it has: Blade1, Blade2)"));
}

TEST_F(RedfishDiscovery, ARackCountsIfItIsChosen) {
  service.add_power("Rack1", "9000", "", "Rack");
  service.add_power("1U", "300", Service::contained_by("/redfish/v1/Chassis/Rack1"));
  EXPECT_THAT(found(), ElementsAre("1U 300"));
  EXPECT_THAT(found({"Rack1"}), ElementsAre("Rack1 9000"));
}

TEST_F(RedfishDiscovery, EndsWithAServiceThatDoesNot) {
  service.add_chassis("1", Service::link("Sensors", "/redfish/v1/Sensors"));
  service.documents["/redfish/v1/Sensors"] =
      R"({"Members": [], "Members@odata.nextLink": "/redfish/v1/Sensors"})";
  EXPECT_THAT(found(), ElementsAre("no chassis of the service has a power reading"));
  EXPECT_LT(service.requests.size(), 50u);
  std::vector<std::string> many;
  for (int i = 0; i < 100; ++i) many.push_back("/redfish/v1/Chassis/" + std::to_string(i));
  service.documents["/redfish/v1/Chassis"] = Service::collection(many);
  EXPECT_THAT(found(), ElementsAre("/redfish/v1/Chassis has more than 64 members"));
}

TEST_F(RedfishDiscovery, AnErrorIsNotAChassisWithoutPower) {
  service.add_power("1", "300");
  service.failure = Error{.message = "HTTP status 500", .code = EIO};
  EXPECT_THAT(found(), ElementsAre("HTTP status 500"));
}

}  // namespace
}  // namespace keplerd::redfish
