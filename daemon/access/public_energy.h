// SPDX-License-Identifier: Apache-2.0
// Computes the energies that public views show. Pure.
//
// A row shows its own energy in steps, plus what the rows inside it show. If it were floored as a whole,
// nested rows would show one workload's energy at as many offsets as there are rows, and by choosing the
// offsets it could be computed to a fraction of a step.
//
// Nothing here depends on the caller. A shown energy never decreases: if a row ends and its energy becomes
// its parent's own, the sum is at least what both have shown.
#pragma once

#include <vector>

#include "base/units.h"
#include "report/report.h"

namespace keplerd {

inline constexpr Microjoules kPublicStep{100'000};

// Rounded down, so that the shown value never decreases.
constexpr Microjoules floored(Microjoules energy) {
  return {energy.value - energy.value % kPublicStep.value};
}

struct PublicEnergy {
  Microjoules active, idle;
  Microjoules own;        // units, containers and pods: excluding those inside it
  Microjoules in_parent;  // containers and pods
};

// For each row of a report, in its order.
struct PublicEnergies {
  std::vector<PublicEnergy> units, containers, pods;
};

PublicEnergies public_energies(const Report& report);

}  // namespace keplerd
