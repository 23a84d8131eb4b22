// SPDX-License-Identifier: Apache-2.0
// Which of a management controller's power sensors are the power of the whole host. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace keplerd::ipmi {

// A sensor in watts, from the controller's sensor data records.
struct PowerSensor {
  std::string name;         // "Pwr Consumption", "PS1 Input Power"
  std::uint8_t entity = 0;  // what it measures: IPMI 2.0, table 43-13, "Entity ID Codes"
  std::vector<std::uint8_t> record;
};

// The one of the total; without one, the input of all power supplies, which adds up; or none. Sensors of the
// processors, of memory, of fans and of outputs are parts of it.
std::vector<PowerSensor> sensors_of_host(const std::vector<PowerSensor>& all);

}  // namespace keplerd::ipmi
