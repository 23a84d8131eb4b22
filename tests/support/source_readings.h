// SPDX-License-Identifier: Apache-2.0
// The readings of an energy source, in a short form for comparisons.
#pragma once

#include <cstdint>
#include <vector>

#include "energy/energy_source.h"

namespace keplerd {

// The counters in microjoules; -1 for an error.
inline std::vector<std::int64_t> read_all(EnergySource& source, Nanoseconds now = {}) {
  ZoneReadings readings;
  source.read(now, readings);
  std::vector<std::int64_t> energies;
  for (const auto& reading : readings) energies.push_back(reading ? reading->value : -1);
  return energies;
}

}  // namespace keplerd
