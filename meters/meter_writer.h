// SPDX-License-Identifier: Apache-2.0
// Writes meter directories (lib/energy/meters/meter_files.h, keplerd-meters(7)): what a program that reads a
// meter for keplerd needs. Each file is replaced atomically.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace keplerd::meters {

struct Meter {
  std::string name;  // of its directory, a single component: "0000:65:00.0"
  std::string covers, quality;
  std::string zone;            // the zone's name: "gpu"
  bool counts_energy = false;  // else power
  std::int64_t value = 0;      // microjoules or microwatts
  std::int64_t boottime = 0;   // when it was read: CLOCK_BOOTTIME in microseconds
  std::string device = {};     // of a graphics card: its PCI address; empty: none
};

// CLOCK_BOOTTIME in microseconds.
std::int64_t boot_microseconds();

// Waits; it ends with the process only.
void pause(Nanoseconds span);

// Writes them below `directory`, and removes the directories of all others.
Result<Done> write_meters(const std::string& directory, const std::vector<Meter>& meters);

// Why the meters below `directory` cannot be read, for `keplerctl doctor`; empty: they can. One line.
Result<Done> write_problem(const std::string& directory, const std::string& problem);

}  // namespace keplerd::meters
