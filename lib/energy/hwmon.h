// SPDX-License-Identifier: Apache-2.0
// Reads energy and power sensors in directories of hwmon's form: /sys/class/hwmon, and what processes of
// keplerd's own write like it. What a sensor means is in hwmon_zones.h; which of them are read together is
// said by those who call this: cpu/processor_sensors.h and shown_only.h. Energy in microjoules; power is
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
  std::string shown;  // where the root is, for errors
};

// What was found in one directory; an error where it cannot be read.
struct HwmonSensors {
  HwmonDirectory directory;
  Result<std::vector<HwmonZone>> zones;
};

// One element a directory, in the order in which the queries name them first. Sensors of one directory are in
// the order of their chips, whatever their roles.
std::vector<HwmonSensors> find_hwmon_sensors(const HostRoot& host, std::span<const HwmonQuery> queries);

// The source "hwmon" of the zones found that `names` choose, which may be none. A directory that is not there
// yet is watched for chips like the others (EnergySource::outdated).
std::unique_ptr<EnergySource> open_hwmon_sensors(std::vector<HwmonSensors> found,
                                                 const std::vector<std::string>& names);

// The chips that tell energy or power, and that nothing documents as a meter.
std::vector<LeftOut> hwmon_left_out(const HostRoot& host);

}  // namespace keplerd
