// SPDX-License-Identifier: Apache-2.0
// Assigns owners to the accounts of a saved state that has none: up to 0.1.0 of November 2026, a container or
// VM was kept by its bare id alone, without regard to the claimant.
#pragma once

#include "ledger/state.h"

namespace keplerd {

// What lies below "/user.slice/user-UID.slice" belongs to that user, everything else to root; ids become
// those that their owners claim. Names learnt from root's files for a user's or a nested workload are
// dropped: they may have been another's.
void give_owners(LedgerState& state);

}  // namespace keplerd
