// SPDX-License-Identifier: Apache-2.0
// Places the idle energy of a window on the workloads that run, as Idle= says (keplerd.conf(5)). Active
// energy is not touched. Idle energy that is placed on nobody stays the host's.
//
// A workload is a VM, a container, or a unit other than a slice; whatever is inside a VM or container belongs
// to it, and a unit with workloads inside is none itself. A VM without a cgroup of its own is its process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attribution/apportion.h"
#include "ledger/account.h"
#include "ledger/process_ledger.h"
#include "ledger/unit_ledger.h"
#include "workloads/vm_registry.h"

namespace keplerd {

enum class IdlePlacing {
  kSeparate,  // on nobody
  kEqual,     // on each workload the same
  kUsage,     // by the active energy of the last hour
};

class IdlePlacement {
 public:
  void set_placing(IdlePlacing placing) { placing_ = placing; }

  // Divides a window, which `units` and the places of its containers have followed already, and books it in
  // the accounts of units. `vms`: as of the window before.
  void place(const BookedWindow& window, const UnitLedger& units, ProcessLedger& processes,
             const VmRegistry& vms);
  // Books it in the accounts of processes. To be called before these book the window.
  void book_processes(const BookedWindow& window, ProcessLedger& processes) const;

  // What each zone of the source has placed; what each group got for itself over the zones in the total, and
  // of that what no process got. Empty: nothing.
  const std::vector<Microjoules>& zones() const { return zones_; }
  const std::vector<Microjoules>& own() const { return own_; }
  const std::vector<Microjoules>& other() const { return other_; }

 private:
  struct Workload {
    std::size_t group = kNoGroup;  // kNoGroup: outside any
    ProcessId process;             // {}: the group

    bool is_process() const { return process != ProcessId{}; }
  };
  struct Marks;

  void find_workloads(const BookedWindow& window, const UnitLedger& units, ProcessLedger& processes,
                      const VmRegistry& vms);
  void find_vms_without_cgroup(const BookedWindow& window, ProcessLedger& processes, const VmRegistry& vms,
                               std::vector<Marks>& marks);
  void weigh(const BookedWindow& window, const UnitLedger& units, ProcessLedger& processes);
  void book_zone(const BookedWindow& window, std::size_t zone, const UnitLedger& units);

  IdlePlacing placing_ = IdlePlacing::kSeparate;
  std::vector<Workload> workloads_;
  std::vector<std::int64_t> weights_;             // of these
  std::vector<std::vector<Microjoules>> shares_;  // of each zone of the source: of these
  std::vector<Microjoules> zones_, own_, other_;
  Apportioner apportioner_;
};

}  // namespace keplerd
