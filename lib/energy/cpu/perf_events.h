// SPDX-License-Identifier: Apache-2.0
// Interprets the energy-related files of a PMU in /sys/bus/event_source/devices. No I/O. Source of the
// facts: the kernel's Documentation/ABI/testing/sysfs-bus-event_source-devices-events and
// arch/x86/events/rapl.c.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "energy/zone.h"

namespace keplerd {

// `perf_event_attr.config` from an event's file: "event=0x02". Nothing if it has any other term, because
// dropping a term would select a different event. (Bits 0 to 7, per the format of the PMU `power`.)
std::optional<std::uint64_t> parse_event_config(std::string_view text);

// Microjoules per count, exactly.
struct CountScale {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;
  bool operator==(const CountScale&) const = default;
};

// From an event's `.scale` (a decimal number of joules per count) and `.unit`. 2.3283064365386962890625e-10
// is 2^-32, and so 15625/2^26 microjoules. Nothing if the unit is not "Joules", or if the number is not
// positive or not a fraction of two 62-bit numbers.
std::optional<CountScale> parse_count_scale(std::string_view scale, std::string_view unit);

// The counter in whole microjoules, rounded down: it never goes back unless `count` does, and nothing is lost
// by reading it more often. Fails if it does not fit.
Result<Microjoules> scale_count(std::uint64_t count, const CountScale& scale);

// What an event of the PMU `power` counts: "energy-pkg" is the zone "package".
struct EnergyEvent {
  std::string_view event;
  std::string_view zone;
  bool in_total = false;
};

// Null if it is not a zone of the host. On AMD (and Hygon) "energy-cores" would cover one single core only.
const EnergyEvent* find_energy_event(std::string_view event, bool amd);

// The location of a CPU of the cpumask.
struct CpuPlace {
  int package = 0;  // physical_package_id
  int die = 0;
  auto operator<=>(const CpuPlace&) const = default;
};

// The index of each place's zones, numbered as in powercap: the package's own number, or, if a package has
// several dies here, the die's ordinal among the dies of all packages.
std::vector<int> zone_indices(const std::vector<CpuPlace>& places);

}  // namespace keplerd
