// SPDX-License-Identifier: Apache-2.0
// What is shown of the division of energy: the rules in force, and what has been learned.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace keplerd {

// How the idle power of a zone is known.
enum class IdleKnowledge {
  kLearning,      // not yet
  kExtrapolated,  // from windows with load; never seen idle
  kBase,          // seen idle, or configured
  kAged,          // seen idle more than a day ago
};
std::string_view idle_knowledge_name(IdleKnowledge knowledge);  // "learning", "extrapolated", ...

// The rules that divided the last window, as [Attribution] names them.
struct RulesInForce {
  std::string_view split = "usage-ratio";
  std::string_view share = "cpu-time";
  bool operator==(const RulesInForce&) const = default;
};

// A workload that uses much of a zone, and of whose own power hardly anything could be learned, because its
// use hardly varies on its own.
struct UnclearWorkload {
  std::string path;        // of its cgroup, escaped
  double relative_sd = 0;  // of its share in the active energy of the zone
  bool operator==(const UnclearWorkload&) const = default;
};

struct ZoneModelState {
  std::string zone;  // id
  IdleKnowledge knowledge = IdleKnowledge::kLearning;
  struct Figures {
    Microwatts idle;        // what the zone draws if nothing runs
    Microwatts idle_error;  // half the width of its 95 % interval
    Microwatts awake;       // what it draws in addition while any CPU is busy
    Microwatts per_core;    // and for each busy CPU that has its core to itself
    double gate = 0;        // how much of what was learned of single workloads is used: 0 none, 1 all
    std::vector<UnclearWorkload> unclear;  // at most three, the largest first
    bool operator==(const Figures&) const = default;
  };
  std::optional<Figures> figures;  // unset: not for the caller
  bool operator==(const ZoneModelState&) const = default;
};

}  // namespace keplerd
