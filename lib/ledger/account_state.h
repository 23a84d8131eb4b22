// SPDX-License-Identifier: Apache-2.0
// Saves and restores one account.
#pragma once

#include "ledger/container_ledger.h"
#include "ledger/process_ledger.h"
#include "ledger/state.h"
#include "ledger/unit_ledger.h"
#include "ledger/vm_account.h"

namespace keplerd {

UnitState state_of(const UnitAccount& unit);
ContainerState state_of(const ContainerAccount& container);
VmState state_of(const VmAccount& vm);
ProcessState state_of(ProcessId id, const ProcessAccount& process);

}  // namespace keplerd
