// SPDX-License-Identifier: Apache-2.0
// An energy zone: one counter of the host's hardware (or what stands in for it), e.g. a processor package.
#pragma once

#include <string>
#include <string_view>

#include "base/units.h"

namespace keplerd {

// How a number came to be. A workload's share of a zone is never better than `attributed`.
enum class Quality {
  kMeasured,    // a hardware energy counter
  kModelled,    // integrated power, or counters that are themselves a model (AMD's)
  kAttributed,  // a workload's share of a measured or modelled zone
  kEstimated,   // a power curve over utilisation
  kSimulated,   // invented; only ever by explicit request
};
std::string_view quality_name(Quality quality);  // "measured", "modelled", ...

// The quality of a workload's share of zones of quality `zone`: at best attributed.
constexpr Quality share_quality(Quality zone) { return zone < Quality::kAttributed ? Quality::kAttributed : zone; }

struct Zone {
  std::string id;            // "SOURCE:NAME:INDEX", e.g. "powercap:dram:1"; stable across reboots
  std::string name;          // "package", "dram", "core", "uncore", "psys"
  int index = 0;             // of the package; where packages have several dies, of the die among all dies
  Quality quality = Quality::kMeasured;
  bool in_total = false;     // counts into the host's total: packages, and the DRAM outside them
  Microjoules range;         // the counter goes back to 0 after this value; 0: it does not wrap, or nobody knows
  Microwatts largest_limit;  // the zone's largest non-zero power limit; 0: it has none
};

}  // namespace keplerd
