// SPDX-License-Identifier: Apache-2.0
// The invariants of a saved state, checked before a ledger continues from it: the file may not be its own.
#pragma once

#include <string>
#include <vector>

#include "ledger/state.h"

namespace keplerd {

// Thrown if a state is invalid, and caught by parse_state().
struct Malformed {
  std::string what;
};

// The parts of a zone and of a workload's energies do not exceed them. Throw Malformed.
void check_zone(const ZoneState& zone);
void check_idle(const std::vector<Microjoules>& energy, const std::vector<Microjoules>& idle);

// Checks that sums hold and are in range, ids are unique and parents exist. Throws Malformed.
void check_state(const LedgerState& state);

}  // namespace keplerd
