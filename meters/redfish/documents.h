// SPDX-License-Identifier: Apache-2.0
// The documents of a Redfish service, as far as they lead to the power of its chassis: DMTF's DSP0266 (the
// protocol) and DSP8010 (the schemas ServiceRoot, ChassisCollection, Chassis, Power, PowerSubsystem,
// PowerSupply, PowerSupplyMetrics, EnvironmentMetrics and Sensor). Pure. Nothing in them is trusted: paths
// are of the service itself, and numbers are checked.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace keplerd::redfish {

// Where to begin; it needs no authentication.
inline constexpr char kServiceRoot[] = "/redfish/v1/";

// The path of a document: below /redfish/, of ordinary characters, and without "..".
bool is_document_path(std::string_view path);

Result<std::string> chassis_of_service(std::string_view service_root);

// One page of a collection.
struct Page {
  std::vector<std::string> members;
  std::optional<std::string> next;
};
Result<Page> parse_page(std::string_view collection);

struct Chassis {
  std::string path, id;
  std::string type;                   // "RackMount", "Blade", ...; may be empty
  std::optional<std::string> inside;  // the path of the chassis around it
  std::optional<std::string> environment, power, sensors, power_subsystem;
  std::vector<std::string> systems;  // paths of the computer systems in it
};
Result<Chassis> parse_chassis(std::string_view text);

// Power values; unset: the document has none at this moment (null).
using Power = std::optional<Microwatts>;

// PowerWatts of EnvironmentMetrics.
Result<Power> environment_power(std::string_view text);

// PowerConsumedWatts of Power, from its first PowerControl that is about the whole chassis: some services
// have others for processors and memory.
Result<Power> control_power(std::string_view text);

// Reading of a Sensor in watts.
Result<Power> sensor_power(std::string_view text);

// InputPowerWatts of PowerSupplyMetrics: at the plug.
Result<Power> supply_power(std::string_view text);

// From PowerSubsystem to its power supplies, and from a power supply to its metrics, where there are any.
Result<std::optional<std::string>> supplies_of(std::string_view power_subsystem);
Result<std::optional<std::string>> metrics_of(std::string_view power_supply);

}  // namespace keplerd::redfish
