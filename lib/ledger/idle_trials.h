// SPDX-License-Identifier: Apache-2.0
// Tries idle policies that are not in effect: what each would have placed in a window, on the rows of the
// report. Books nothing.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "attribution/apportion.h"
#include "ledger/account.h"
#include "ledger/idle_workloads.h"
#include "ledger/unit_ledger.h"
#include "report/idle_trial.h"
#include "workloads/vm_registry.h"

namespace keplerd {

class ContainerLedger;
class VmLedger;

class IdleTrials {
 public:
  // The policies to try in the next windows.
  void set(const std::vector<IdlePlacing>& placings);
  bool empty() const { return trials_.empty(); }

  // Divides the idle energy of a window among `workloads` under each policy.
  void place(const BookedWindow& window, const IdleLedgers& ledgers,
             const std::vector<IdleWorkload>& workloads);
  // Finds the accounts of which these are; `vms` and `registry` have followed the window.
  void find_accounts(const UnitLedger& units, const VmRegistry& registry, const VmLedger& vms);
  // Adds them to a report whose rows are complete.
  void report(const UnitLedger& units, const VmLedger& vms, const ContainerLedger& containers,
              Report& report) const;

 private:
  struct Trial {
    IdlePlacing placing;
    bool is_complete = false;
    std::vector<IdleTrial::Part> workloads;  // and then the host
    std::unordered_map<const EnergyAccount*, IdleTrial::Part> accounts;
  };

  void divide(const BookedWindow& window, const std::vector<std::int64_t>& weights, Trial& trial);

  std::vector<Trial> trials_;
  std::vector<IdleWorkload> workloads_;  // of the window
  std::vector<Microjoules> shares_;
  Apportioner apportioner_;
};

}  // namespace keplerd
