// SPDX-License-Identifier: Apache-2.0
// Places the idle energy of a window on the workloads that run, as Idle= says (keplerd.conf(5)). Active
// energy is not touched. Idle energy that is placed on nobody stays the host's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attribution/apportion.h"
#include "ledger/account.h"
#include "ledger/idle_workloads.h"
#include "ledger/process_ledger.h"
#include "ledger/unit_ledger.h"

namespace keplerd {

class IdlePlacement {
 public:
  // Divides a window among `workloads` by `weights`, as idle_weights() has them, and books it in the accounts
  // of units.
  void place(const BookedWindow& window, const UnitLedger& units, std::vector<IdleWorkload> workloads,
             const std::vector<std::int64_t>& weights);
  // Places nothing.
  void place_none();
  // Books it in the accounts of processes. To be called before these book the window.
  void book_processes(const BookedWindow& window, ProcessLedger& processes) const;

  // What each zone of the source has placed; what each group got for itself over the zones in the total, and
  // of that what no process got. Empty: nothing.
  const std::vector<Microjoules>& zones() const { return zones_; }
  const std::vector<Microjoules>& own() const { return own_; }
  const std::vector<Microjoules>& other() const { return other_; }

 private:
  void book_zone(const BookedWindow& window, std::size_t zone, const UnitLedger& units);

  std::vector<IdleWorkload> workloads_;
  std::vector<std::vector<Microjoules>> shares_;  // of each zone of the source: of these, and of the host
  std::vector<Microjoules> zones_, own_, other_;
  Apportioner apportioner_;
};

}  // namespace keplerd
