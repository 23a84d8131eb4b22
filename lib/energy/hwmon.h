// SPDX-License-Identifier: Apache-2.0
// Energy and power sensors of /sys/class/hwmon whose meaning is documented (see hwmon_zones.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "energy/energy_source.h"

namespace keplerd {

class HostRoot;

// The processors' sensors, with the zones that `names` choose. Fails where there are none (ENOENT) and where
// nothing chosen counts into the total.
Result<std::unique_ptr<EnergySource>> open_hwmon(const HostRoot& host, const std::vector<std::string>& names);

// The chips that tell energy or power, and that nothing documents as a meter.
std::vector<LeftOut> hwmon_left_out(const HostRoot& host);

// What is told beside whatever meter the host has: platform meters, rails, graphics cards (NVIDIA's by way of
// keplerd-nvml, which writes them to run/keplerd-nvml of the host's root). None of it is in
// the total, and none is divided. Null where there is nothing.
std::unique_ptr<EnergySource> open_shown_only(const HostRoot& host, const std::vector<std::string>& names);

}  // namespace keplerd
