// SPDX-License-Identifier: Apache-2.0
// Processor sensors in /sys/class/hwmon (see energy/hwmon.h): the source "hwmon".
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "energy/energy_source.h"

namespace keplerd {

class HostRoot;

// Opens the source, with the zones that `names` choose. Fails if there are none (ENOENT), or if no chosen
// zone counts into the total.
Result<std::unique_ptr<EnergySource>> open_processor_sensors(const HostRoot& host,
                                                             const std::vector<std::string>& names);

}  // namespace keplerd
