// SPDX-License-Identifier: Apache-2.0
// The management controller of this host, as its reader needs it.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "meters/ipmi/sensors.h"

namespace keplerd::ipmi {

class Controller {
 public:
  virtual ~Controller() = default;

  // Errors: see parse_dcmi_power(). All calls may take minutes.
  virtual Result<Microwatts> dcmi_power() = 0;
  // The sensors in watts.
  virtual Result<std::vector<PowerSensor>> power_sensors() = 0;
  // Unset: it has no value at this moment.
  virtual Result<std::optional<Microwatts>> read_sensor(const PowerSensor& sensor) = 0;
  // Opens the device again: after an error, replies to old requests may be pending.
  virtual void reopen() = 0;
};

}  // namespace keplerd::ipmi
