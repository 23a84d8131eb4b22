// SPDX-License-Identifier: Apache-2.0
// Owners for the accounts of a saved state that has none: up to 0.1.0 of November 2026 a container or VM was
// kept by its bare id alone, whoever claimed it.
#pragma once

#include "ledger/state.h"

namespace keplerd {

// What lies below "/user.slice/user-UID.slice" is that user's, all else root's; ids become those that their
// owners claim. What was learnt of a user's or an inner workload from root's files is forgotten: it may have
// been another's.
void give_owners(LedgerState& state);

}  // namespace keplerd
