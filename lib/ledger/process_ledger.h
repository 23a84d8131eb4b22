// SPDX-License-Identifier: Apache-2.0
// The processes' accounts, by pid and start time.
#pragma once

#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ledger/account.h"
#include "ledger/state.h"
#include "ledger/unit_ledger.h"
#include "workloads/logins.h"

namespace keplerd {

struct ProcessAccount {
  std::shared_ptr<const ProcessInfo> info;
  std::shared_ptr<const VmInfo> vm;  // that it runs; null where it runs none
  UnitAccount* unit = nullptr;       // null outside any
  EnergyAccount energy;
  Microjoules in_unit;  // what it used in its present unit; over the zones in the total
  // Of the container of root's or the system's that it has been in: its user there is none of this host's.
  std::optional<Uid> container_owner;
  Uid claims_as = kNobodyUser;  // whose what it says of itself is
};

class ProcessLedger {
 public:
  // Books a window; `units` has booked it already, and its containers. Kernel threads outside any unit have
  // no account: they are the kernel. What a process leaves behind in a unit (or outside) when it moves or is
  // no longer kept goes into the `other` of that unit, or is in the result.
  Microjoules apply(const BookedWindow& window, const UnitLedger& units, const Logins& logins);

  // Removes ended processes that the limits no longer keep.
  Microjoules prune(const TerminatedLimits& limits, const std::vector<ZoneWindow>& windows, Realtime now);
  // Removes what ended in units that are about to be removed; what moved away from there is outside any for
  // now.
  // What processes used in units that are now in another container becomes the unit's other, and that of the
  // container that it was in: so both still add up.
  void leave_containers(const std::unordered_map<UnitAccount*, ContainerAccount*>& moved);
  void remove_of(const std::unordered_set<const UnitAccount*>& units);

  // Puts back the account of a process of an earlier run, in case the next window has it.
  void restore(ProcessState saved) { saved_.insert_or_assign(saved.id, std::move(saved)); }

  void set_vm(ProcessId id, std::shared_ptr<const VmInfo> vm);

  // The account of the newest process with this pid, the only one that may run; null where there is none.
  const ProcessAccount* newest(std::int32_t pid) const;

  const std::map<ProcessId, ProcessAccount>& all() const { return accounts_; }
  std::size_t running() const { return accounts_.size() - ended_.size(); }

 private:
  ProcessAccount& account_of(const ProcessUsage& process, UnitAccount* unit, const Logins& logins,
                             Realtime now);
  static Microjoules leave_unit(ProcessAccount& process);
  static Microjoules leave(ProcessAccount& process, ContainerAccount* container);

  void go_on(const BookedWindow& window, const UnitLedger& units, const Logins& logins, Microjoules& outside);

  std::map<ProcessId, ProcessAccount> accounts_;
  std::set<ProcessId> ended_;
  std::map<ProcessId, ProcessState> saved_;  // until the first window is booked
};

}  // namespace keplerd
