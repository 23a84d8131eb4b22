// SPDX-License-Identifier: Apache-2.0
// What must hold in a saved state, whoever has written it, before a ledger goes on from it.
#pragma once

#include <string>

#include "ledger/state.h"

namespace keplerd {

// Thrown where a state is not what it should be, and caught by parse_state().
struct Malformed {
  std::string what;
};

// Sums hold and are in range, ids are there once, parents are there. Throws Malformed.
void check_state(const LedgerState& state);

}  // namespace keplerd
