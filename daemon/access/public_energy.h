// SPDX-License-Identifier: Apache-2.0
// The energies that public views show. Pure.
//
// A row shows its own energy in steps, and to that it adds what the rows inside it show. If it were floored
// as a whole, rows nested in each other would show one workload's energy at as many offsets as there are
// rows, and who chooses the offsets computes it to a fraction of a step.
//
// Nothing here depends on who asks. A shown energy never goes back: where a row ends and its energy becomes
// its parent's own, the two add up to at least what both have shown.
#pragma once

#include <vector>

#include "base/units.h"
#include "report/report.h"

namespace keplerd {

inline constexpr Microjoules kPublicStep{100'000};

// Rounded down, so that what is shown never goes back.
constexpr Microjoules floored(Microjoules energy) {
  return {energy.value - energy.value % kPublicStep.value};
}

struct PublicEnergy {
  Microjoules active, idle;
  Microjoules own;        // units, containers and pods: without those inside it
  Microjoules in_parent;  // containers and pods
};

// Of each row of a report, in its order.
struct PublicEnergies {
  std::vector<PublicEnergy> units, containers, pods;
};

PublicEnergies public_energies(const Report& report);

}  // namespace keplerd
