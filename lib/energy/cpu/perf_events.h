// SPDX-License-Identifier: Apache-2.0
// What the files of a PMU in /sys/bus/event_source/devices mean, as far as energy is concerned. No I/O.
// Source of the facts: the kernel's Documentation/ABI/testing/sysfs-bus-event_source-devices-events and
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

// `perf_event_attr.config` of an event's file: "event=0x02". Nothing where it has any other term, because a
// term that is left out makes another event of it. (Bits 0 to 7, as the format of the PMU `power` has it.)
std::optional<std::uint64_t> parse_event_config(std::string_view text);

// A list of CPUs as cpumask has it: "0,24-25". Nothing where it is something else, or names CPUs above 65535.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

// How many microjoules one count is, exactly.
struct CountScale {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;
  bool operator==(const CountScale&) const = default;
};

// From an event's `.scale` (a decimal number, of joules a count) and `.unit`. 2.3283064365386962890625e-10 is
// 2^-32, and so 15625/2^26 microjoules. Nothing where the unit is not "Joules", or where the number is not
// positive or no fraction of two 62-bit numbers.
std::optional<CountScale> parse_count_scale(std::string_view scale, std::string_view unit);

// The counter in whole microjoules, rounded down: it never goes back where `count` does not, and nothing is
// lost by reading it more often. Fails where it does not fit.
Result<Microjoules> scale_count(std::uint64_t count, const CountScale& scale);

// What an event of the PMU `power` counts: "energy-pkg" is the zone "package".
struct EnergyEvent {
  std::string_view event;
  std::string_view zone;
  bool in_total = false;
};

// Null for what is no zone of the host. On AMD (and Hygon) "energy-cores" would be that of one single core.
const EnergyEvent* find_energy_event(std::string_view event, bool amd);

// Where a CPU of the cpumask is.
struct CpuPlace {
  int package = 0;  // physical_package_id
  int die = 0;
  auto operator<=>(const CpuPlace&) const = default;
};

// The index of each place's zones, as powercap has it: the package's own number; where a package has several
// dies here, the die's ordinal among the dies of all packages.
std::vector<int> zone_indices(const std::vector<CpuPlace>& places);

}  // namespace keplerd
