// SPDX-License-Identifier: Apache-2.0
// Meters shown in addition to the host's meter: those of the whole platform (ACPI's, batteries) and of rails
// of its board, graphics cards, and what other programs read (meters/meter_directories.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "energy/energy_source.h"
#include "energy/meters/meter_directories.h"

namespace keplerd {

class HostRoot;

// Opens those that `names` choose. None of them is in the total or divided. Null if there are none.
std::unique_ptr<EnergySource> open_shown_only(const HostRoot& host, const std::vector<std::string>& names,
                                              BootClock clock = boot_time);

}  // namespace keplerd
