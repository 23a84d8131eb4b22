// SPDX-License-Identifier: Apache-2.0
// The batteries of a laptop as a meter of the whole host (battery_power.h), from /sys/class/power_supply.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "energy/energy_source.h"

namespace keplerd {

class HostRoot;

// The source "battery", with the zone battery:platform:0 if `names` choose it and the host runs on battery
// now; otherwise without a zone. Its power is integrated; nothing is counted while the host does not run on
// battery. It is outdated when that begins or ends.
std::unique_ptr<EnergySource> open_battery(const HostRoot& host, const std::vector<std::string>& names);

// Why there is no such zone, if there is a battery.
std::vector<LeftOut> battery_left_out(const HostRoot& host);

}  // namespace keplerd
