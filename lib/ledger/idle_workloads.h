// SPDX-License-Identifier: Apache-2.0
// The workloads of a window among which idle energy is divided, and the weight of each under a policy.
//
// A workload is a VM, a container, or a unit other than a slice; whatever is inside a VM or container belongs
// to it, and a unit with workloads inside is none itself. A VM without a cgroup of its own is its process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ledger/account.h"
#include "ledger/process_ledger.h"
#include "ledger/unit_ledger.h"
#include "report/idle_trial.h"
#include "workloads/vm_registry.h"

namespace keplerd {

class VmLedger;

struct IdleWorkload {
  std::size_t group = kNoGroup;  // kNoGroup: outside any
  ProcessId process;             // {}: the group

  bool is_process() const { return process != ProcessId{}; }
};

// Of a window that `units` and the places of its containers have followed already. VMs are those of the
// window before.
struct IdleLedgers {
  const UnitLedger& units;
  ProcessLedger& processes;
  const VmRegistry& registry;
  const VmLedger& vms;
};

std::vector<IdleWorkload> find_idle_workloads(const BookedWindow& window, const IdleLedgers& ledgers);

// Adds the window to what each unit, and each VM without a cgroup, has used recently. Once in each window,
// under each policy: weights by usage must be those of the last hour when they are first wanted.
void remember_use(const BookedWindow& window, const IdleLedgers& ledgers);

// The weight of each workload, and then that of the host itself. Empty: everything is the host's.
std::vector<std::int64_t> idle_weights(IdlePlacing placing, const BookedWindow& window,
                                       const IdleLedgers& ledgers,
                                       const std::vector<IdleWorkload>& workloads);

}  // namespace keplerd
