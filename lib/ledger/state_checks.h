// SPDX-License-Identifier: Apache-2.0
// The invariants of a saved state, checked before a ledger continues from it, whoever wrote it.
#pragma once

#include <string>

#include "ledger/state.h"

namespace keplerd {

// Thrown if a state is invalid, and caught by parse_state().
struct Malformed {
  std::string what;
};

// Checks that sums hold and are in range, ids are unique and parents exist. Throws Malformed.
void check_state(const LedgerState& state);

}  // namespace keplerd
