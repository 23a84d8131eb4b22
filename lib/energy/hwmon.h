// SPDX-License-Identifier: Apache-2.0
// Reads the energy and power sensors of /sys/class/hwmon. hwmon_zones.h defines what a sensor means; the
// callers (cpu/processor_sensors.h and shown_only.h) choose which are read together. Energy in microjoules;
// power is integrated over time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "energy/energy_source.h"
#include "energy/hwmon_zones.h"

namespace keplerd {

class HostRoot;

// The directory of the chips.
struct HwmonDirectory {
  UniqueFd root;
  std::string path;   // below it
  std::string shown;  // the root's path, for errors
};

// What was found there; an error if it cannot be read.
struct HwmonSensors {
  HwmonDirectory directory;
  Result<std::vector<HwmonZone>> zones;
};

// The sensors with one of these roles, in the order of their chips.
HwmonSensors find_hwmon_sensors(const HostRoot& host, const std::vector<HwmonRole>& roles);

// Opens the source "hwmon" with the found zones that `names` choose, possibly none. Chips that come later
// make it outdated.
std::unique_ptr<EnergySource> open_hwmon_sensors(HwmonSensors found, const std::vector<std::string>& names);

// The chips that report energy or power, but that nothing documents as a meter.
std::vector<LeftOut> hwmon_left_out(const HostRoot& host);

}  // namespace keplerd
