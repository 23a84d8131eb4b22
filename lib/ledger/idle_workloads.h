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
#include "workloads/vm_registry.h"

namespace keplerd {

class VmLedger;

enum class IdlePlacing {
  kSeparate,  // on nobody
  kEqual,     // on each workload the same
  kSize,      // by the part of the host that each may use
  kUsage,     // by the active energy of the last hour
};

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

// Adds the window to what each workload has used recently. Once in each window in which weights by usage are
// wanted.
void remember_use(const BookedWindow& window, const IdleLedgers& ledgers,
                  const std::vector<IdleWorkload>& workloads);

// The weight of each workload, and then that of the host itself. Empty: everything is the host's.
std::vector<std::int64_t> idle_weights(IdlePlacing placing, const BookedWindow& window,
                                       const IdleLedgers& ledgers,
                                       const std::vector<IdleWorkload>& workloads);

}  // namespace keplerd
