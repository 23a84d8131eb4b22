// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meters/redfish/documents.h"

namespace keplerd::redfish {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string microwatts(const Result<Power>& power) {
  if (!power) return power.error().message;
  return *power ? std::to_string((*power)->value) : "none";
}

TEST(RedfishDocuments, APathIsOneOfTheService) {
  EXPECT_TRUE(is_document_path("/redfish/v1/Chassis/System.Embedded.1/Power"));
  EXPECT_TRUE(is_document_path("/redfish/v1/Chassis(1)/Sensors?$skip=50"));
  for (const char* path :
       {"", "/", "/etc", "//evil.example/redfish/", "https://evil.example/redfish/", "/redfish/../x",
        "/redfish//x", "/redfish/a b", "/redfish/a\nHost: x", "/redfish/v1/Power#/PowerControl/0"})
    EXPECT_FALSE(is_document_path(path)) << path;
  EXPECT_FALSE(is_document_path("/redfish/" + std::string(300, 'a')));
}

TEST(RedfishDocuments, TheServiceLeadsToItsChassis) {
  EXPECT_EQ(*chassis_of_service(R"({"Chassis": {"@odata.id": "/redfish/v1/Chassis"}})"),
            "/redfish/v1/Chassis");
  EXPECT_EQ(chassis_of_service("{}").error().message, "the service has no chassis");
  EXPECT_EQ(chassis_of_service(R"({"Chassis": {"@odata.id": "http://x/"}})").error().message,
            "the service has no chassis");
  EXPECT_THAT(chassis_of_service(R"({"Chassis": {"@odata.)").error().message,
              HasSubstr("not a complete JSON object"));
}

TEST(RedfishDocuments, ACollectionMayHaveSeveralPages) {
  const auto page =
      parse_page(R"({"Members": [{"@odata.id": "/redfish/v1/Chassis/1"}, {"@odata.id": "/etc"}, 7],
                                   "Members@odata.nextLink": "/redfish/v1/Chassis?$skip=1"})");
  ASSERT_TRUE(page);
  EXPECT_THAT(page->members, ElementsAre("/redfish/v1/Chassis/1"));
  EXPECT_EQ(page->next, "/redfish/v1/Chassis?$skip=1");
  EXPECT_FALSE(parse_page("[]"));
  EXPECT_FALSE(parse_page(R"({"Members": {}})"));
}

TEST(RedfishDocuments, AChassisHasItsLinks) {
  const auto chassis = parse_chassis(R"({
    "@odata.id": "/redfish/v1/Chassis/1U", "Id": "1U\n", "ChassisType": "RackMount",
    "EnvironmentMetrics": {"@odata.id": "/redfish/v1/Chassis/1U/EnvironmentMetrics"},
    "Power": {"@odata.id": "/redfish/v1/Chassis/1U/Power"},
    "Sensors": {"@odata.id": "/redfish/v1/Chassis/1U/Sensors"},
    "PowerSubsystem": {"@odata.id": "/redfish/v1/Chassis/1U/PowerSubsystem"},
    "Links": {"ContainedBy": {"@odata.id": "/redfish/v1/Chassis/Rack"},
              "ComputerSystems": [{"@odata.id": "/redfish/v1/Systems/437XR1138R2"}]}})");
  ASSERT_TRUE(chassis) << chassis.error().message;
  EXPECT_EQ(chassis->id, "1U\\x0a");
  EXPECT_EQ(chassis->type, "RackMount");
  EXPECT_EQ(chassis->environment, "/redfish/v1/Chassis/1U/EnvironmentMetrics");
  EXPECT_EQ(chassis->power, "/redfish/v1/Chassis/1U/Power");
  EXPECT_EQ(chassis->sensors, "/redfish/v1/Chassis/1U/Sensors");
  EXPECT_EQ(chassis->power_subsystem, "/redfish/v1/Chassis/1U/PowerSubsystem");
  EXPECT_EQ(chassis->inside, "/redfish/v1/Chassis/Rack");
  EXPECT_THAT(chassis->systems, ElementsAre("/redfish/v1/Systems/437XR1138R2"));
  EXPECT_FALSE(parse_chassis("{}"));
}

TEST(RedfishDocuments, PowerIsInWatts) {
  EXPECT_EQ(microwatts(environment_power(R"({"PowerWatts": {"DataSourceUri": "/x", "Reading": 374.25}})")),
            "374250000");
  EXPECT_EQ(microwatts(environment_power(R"({"PowerWatts": {"Reading": null}})")), "none");
  EXPECT_EQ(microwatts(environment_power("{}")), "none");
  EXPECT_EQ(microwatts(supply_power(R"({"InputPowerWatts": {"Reading": 120}})")), "120000000");
  EXPECT_EQ(microwatts(control_power(R"({"PowerControl": [{"PowerConsumedWatts": 344}]})")), "344000000");
  EXPECT_EQ(microwatts(control_power(R"({"PowerControl": [{"PowerConsumedWatts": null}]})")), "none");
  EXPECT_EQ(microwatts(control_power(R"({"PowerControl": []})")), "none");
}

TEST(RedfishDocuments, ThePowerOfAPartIsNotThatOfTheChassis) {
  EXPECT_EQ(microwatts(control_power(R"({"PowerControl": [
    {"Name": "CPU Sub-system Power", "PhysicalContext": "CPU", "PowerConsumedWatts": 40},
    {"Name": "Server Power Control", "PhysicalContext": "Chassis", "PowerConsumedWatts": 210},
    {"Name": "Memory Sub-system Power", "PhysicalContext": "Memory", "PowerConsumedWatts": 12}]})")),
            "210000000");
}

TEST(RedfishDocuments, ASensorCountsIfItIsOneOfPower) {
  EXPECT_EQ(microwatts(sensor_power(R"({"ReadingType": "Power", "ReadingUnits": "W", "Reading": 98.5})")),
            "98500000");
  EXPECT_EQ(microwatts(sensor_power(R"({"ReadingType": "Power", "Reading": 98.5})")), "98500000");
  EXPECT_EQ(microwatts(sensor_power(R"({"ReadingType": "Power", "ReadingUnits": "mW", "Reading": 98.5})")),
            "none");
  EXPECT_EQ(microwatts(sensor_power(R"({"ReadingType": "Temperature", "Reading": 98.5})")), "none");
}

TEST(RedfishDocuments, WhatIsNoPowerIsAnError) {
  EXPECT_EQ(microwatts(environment_power(R"({"PowerWatts": {"Reading": "350"}})")),
            "PowerWatts is not a number");
  EXPECT_EQ(microwatts(environment_power(R"({"PowerWatts": {"Reading": -1}})")),
            "PowerWatts is -1 (expected watts)");
  EXPECT_THAT(microwatts(environment_power(R"({"PowerWatts": {"Reading": 1e300}})")),
              HasSubstr("(expected watts)"));
  EXPECT_THAT(microwatts(environment_power(R"({"PowerWatts": {"Reading": 1e999}})")),
              HasSubstr("not a complete JSON object"));
  EXPECT_THAT(microwatts(control_power(R"({"PowerControl": [{"PowerConsumedWatts": 344)")),
              HasSubstr("not a complete JSON object"));
  EXPECT_THAT(microwatts(control_power("<html>")), HasSubstr("not a complete JSON object"));
}

TEST(RedfishDocuments, WhatLiesTooDeepIsLeftOut) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(microwatts(environment_power(R"({"x": )" + deep + R"(, "PowerWatts": {"Reading": 5}})")),
            "5000000");
}

TEST(RedfishDocuments, ThePowerSuppliesHaveMetrics) {
  EXPECT_EQ(**supplies_of(R"({"PowerSupplies": {"@odata.id": "/redfish/v1/P"}})"), "/redfish/v1/P");
  EXPECT_EQ(**metrics_of(R"({"Metrics": {"@odata.id": "/redfish/v1/M"}})"), "/redfish/v1/M");
  EXPECT_FALSE(metrics_of("{}")->has_value());
}

}  // namespace
}  // namespace keplerd::redfish
