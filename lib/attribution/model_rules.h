// SPDX-License-Identifier: Apache-2.0
// How energy is divided: what [Attribution] of keplerd.conf(5) sets, as parameters of a model.
#pragma once

#include <optional>

#include "base/units.h"
#include "energy/zone.h"

namespace keplerd {

struct ModelRules {
  // How energy is split into idle and active: by the busy share of CPU time (Kepler's rule), or by a learned
  // idle power. kAuto: the latter where learns_from() a zone.
  enum class Split { kAuto, kUsageRatio, kBaseline };
  // By what active energy is shared: CPU time, what was learned of each workload, or what the counters of
  // processors count. kAuto: what was learned, likewise.
  enum class Share { kAuto, kCpuTime, kLearned, kInstructions, kCycles };

  Split split = Split::kAuto;
  Share share = Share::kAuto;
  std::optional<Microwatts> idle_power = {};  // of all processors at rest; unset: it is learned

  bool shares_learned() const { return share == Share::kAuto || share == Share::kLearned; }
  bool learns() const { return split != Split::kUsageRatio || shares_learned(); }
  bool operator==(const ModelRules&) const = default;
};

// Kepler's.
inline constexpr ModelRules kKeplerRules{.split = ModelRules::Split::kUsageRatio,
                                         .share = ModelRules::Share::kCpuTime};

// Whether the power of a zone teaches what workloads draw: its counter counts the energy of processors or of
// memory. Made-up and estimated power follows a formula of CPU time, and a guest's meter is the host's
// division.
inline bool learns_from(const Zone& zone) {
  const bool is_counter = zone.quality == Quality::kMeasured || zone.quality == Quality::kModelled;
  const bool is_processor = zone.resource == Resource::kCpu && zone.name != "psys";
  return is_counter && zone.in_total && (is_processor || zone.resource == Resource::kDram);
}

}  // namespace keplerd
