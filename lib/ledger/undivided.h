// SPDX-License-Identifier: Apache-2.0
// The energy of units whose processes have not been read since they used it
// (docs/decisions/0042-processes-for-who-asks.md). At every moment, to the microjoule, and likewise for
// containers:
//   own of a unit = its other + its undivided + the sum of its processes in it
#pragma once

#include "ledger/unit_ledger.h"

namespace keplerd {

// What is undivided stays the unit's other, and that of the container that it was in (null: none).
void forfeit_undivided(UnitAccount& unit, ContainerAccount* container);

}  // namespace keplerd
