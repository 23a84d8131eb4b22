// SPDX-License-Identifier: Apache-2.0
// Interprets the directories of /sys/class/powercap: which counters there are, how they are named, and which
// of them make up the host's total. No I/O. Source of the facts: the kernel's
// Documentation/power/powercap/powercap.rst and drivers/powercap/intel_rapl_common.c.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "energy/cpu/processor.h"
#include "energy/zone.h"

namespace keplerd {

// One directory of the class, with the texts of its files; missing or unreadable files are empty.
struct PowercapDirectory {
  std::string name;                 // "intel-rapl:0:1"
  std::string zone;                 // `name`: "package-0"
  std::string range;                // `max_energy_range_uj`
  std::vector<std::string> limits;  // `constraint_*_power_limit_uw`, `constraint_*_max_power_uw`
};

// The kernel names a directory after its parent ("intel-rapl:0:1" lies in "intel-rapl:0"), and a top-level
// one after its control type. Empty for a control type itself.
std::string_view powercap_parent(std::string_view directory);

// "intel-rapl-mmio" of "intel-rapl-mmio:0:1".
std::string_view powercap_control_type(std::string_view directory);

// A zone of RAPL, by MSR or TPMI ("intel-rapl") or by MMIO ("intel-rapl-mmio"). Excludes control types, and
// dtpm, whose figures come from a model.
bool is_rapl_zone(std::string_view directory);

// The package and the die of "package-1" or "package-1-die-0"; die is -1 if the name has none.
struct PackageName {
  int package = 0;
  int die = -1;
  auto operator<=>(const PackageName&) const = default;
};
std::optional<PackageName> parse_package_name(std::string_view name);

struct PowercapZone {
  Zone zone;
  std::string directory;      // the directory of its counter
  bool counts_power = false;  // `power_uw`, integrated, instead of `energy_uj`
};

// The RAPL zones, each once, those that count into the total first. The rules:
// - A package is "package" with its own number; where packages have several dies, each die is a "package"
//   with its ordinal among the dies of all packages. Zones inside take their own name and the index of their
//   package.
// - "psys" overlaps everything and only serves for comparison.
// - A zone offered by several drivers, or several times by one, is used once: intel-rapl before
//   intel-rapl-mmio, then the lowest directory.
// - AMD (and Hygon): "core" counts one single core and is not a zone of the host; the others are modelled.
// `left_out`: null, or where to append the zones that are not used.
std::vector<PowercapZone> powercap_zones(const std::vector<PowercapDirectory>& directories,
                                         const Processor& processor,
                                         std::vector<LeftOut>* left_out = nullptr);

// Parses the text of `energy_uj`. Fails if it is not a number, negative, or does not fit.
Result<Microjoules> parse_energy_counter(std::string_view text);

}  // namespace keplerd
