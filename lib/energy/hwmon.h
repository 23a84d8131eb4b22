// SPDX-License-Identifier: Apache-2.0
// Reads energy and power sensors in directories with hwmon's layout: /sys/class/hwmon, and those written in
// the same layout by keplerd's own processes. hwmon_zones.h defines what a sensor means; the callers
// (cpu/processor_sensors.h and shown_only.h) choose which are read together. Energy in microjoules; power is
// integrated over time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "energy/energy_source.h"
#include "energy/hwmon_zones.h"

namespace keplerd {

class HostRoot;

// Sensors to look for: those of one role in one directory of chips.
struct HwmonQuery {
  HwmonRole role;
  std::string_view directory = {};  // below the host's root; empty: class/hwmon of its sysfs
};

// A directory of chips.
struct HwmonDirectory {
  UniqueFd root;
  std::string path;   // below it
  std::string shown;  // the root's path, for errors
};

// What was found in one directory; an error if it cannot be read.
struct HwmonSensors {
  HwmonDirectory directory;
  Result<std::vector<HwmonZone>> zones;
};

// One element per directory, in the order in which the queries first name them. Sensors of one directory are
// in the order of their chips, whatever their roles.
std::vector<HwmonSensors> find_hwmon_sensors(const HostRoot& host, std::span<const HwmonQuery> queries);

// Opens the source "hwmon" with the found zones that `names` choose, possibly none. A directory that does not
// exist yet is watched for chips like the others (EnergySource::outdated).
std::unique_ptr<EnergySource> open_hwmon_sensors(std::vector<HwmonSensors> found,
                                                 const std::vector<std::string>& names);

// The chips that report energy or power, but that nothing documents as a meter.
std::vector<LeftOut> hwmon_left_out(const HostRoot& host);

}  // namespace keplerd
