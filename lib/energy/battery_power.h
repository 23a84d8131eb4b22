// SPDX-License-Identifier: Apache-2.0
// What the batteries of a laptop report about the power of the whole host, which they supply while they are
// discharged. Pure. Source of the facts: the kernel's Documentation/ABI/testing/sysfs-class-power and
// Documentation/power/power_supply_class.rst.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace keplerd {

// The files of a directory in /sys/class/power_supply; empty if there is no such file.
struct PowerSupply {
  std::string name;             // "BAT0"
  std::string type;             // "Battery", "Mains", "USB", ...
  std::string scope;            // "Device" if it supplies something else than the host, such as a mouse
  std::string present, online;  // "0" or "1"
  std::string status;           // of a battery: "Discharging", "Charging", "Full", ...
  std::string power, current, voltage;  // power_now in uW, current_now in uA, voltage_now in uV
};

bool is_battery_of_host(const PowerSupply& supply);

// The power of the host: that of all batteries that are discharging. Fails if there are none, if something
// else supplies the host, too, or if a battery does not report its power. Some firmware reports discharging
// as a negative value.
Result<Microwatts> battery_power(const std::vector<PowerSupply>& supplies);

}  // namespace keplerd
