// SPDX-License-Identifier: Apache-2.0
// The accounts of processes, by pid and start time.
#pragma once

#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ledger/account.h"
#include "ledger/changed_processes.h"
#include "ledger/state.h"
#include "ledger/unit_ledger.h"
#include "ledger/watched_units.h"
#include "workloads/logins.h"

namespace keplerd {

struct ProcessAccount {
  std::shared_ptr<const ProcessInfo> info;
  std::shared_ptr<const VmInfo> vm;            // the VM that it runs; null if none
  std::shared_ptr<const std::string> program;  // as ProcessRow has it
  UnitAccount* unit = nullptr;                 // null outside any
  EnergyAccount energy;
  Microjoules in_unit;       // what it used in its present unit; over the zones in the total
  double recent_active = 0;  // as UnitAccount has it
  // The owner of the root or system container that it has been in: its user is not one of this host's.
  std::optional<Uid> container_owner;
  Uid claims_as = kNobodyUser;  // the user whose claims its own statements are
};

class ProcessLedger {
 public:
  // Books a window that `units` and its containers have booked already. Kernel threads outside any unit have
  // no account: they are the kernel. When a process moves or is no longer kept, what it used goes into the
  // `other` of its unit; what it used outside any unit is returned.
  Microjoules apply(const BookedWindow& window, const UnitLedger& units, const Logins& logins);

  // Removes ended processes beyond the limits, which those in watched units have not.
  Microjoules prune(const TerminatedLimits& limits, const WatchedUnits& watched,
                    const std::vector<ZoneWindow>& windows, Realtime now);
  // What processes used in units that are now in another container moves to the unit's `other`, and to that
  // of the container that it was in: both still add up.
  void leave_containers(const std::unordered_map<UnitAccount*, ContainerAccount*>& moved);
  // Removes processes that ended in units about to be removed; those that moved away from there are outside
  // any unit for now.
  void remove_of(const std::unordered_set<const UnitAccount*>& units);

  // Restores the account of a process of an earlier run, in case the next window has it.
  void restore(ProcessState saved) { saved_.insert_or_assign(saved.id, std::move(saved)); }
  // Those restored, until the first window is booked.
  const std::map<ProcessId, ProcessState>& saved() const { return saved_; }

  void set_vm(ProcessId id, std::shared_ptr<const VmInfo> vm);
  void set_program(ProcessId id, std::shared_ptr<const std::string> path);

  // Null if there is none. change(): it is in changed() from now on.
  const ProcessAccount* find(ProcessId id) const;
  ProcessAccount* change(ProcessId id);

  // The account of the newest process with this pid, the only one that may be running; null if there is none.
  const ProcessAccount* newest(std::int32_t pid) const;

  const std::map<ProcessId, ProcessAccount>& all() const { return accounts_; }
  // Those that were added or removed, or of which something that ProcessState has may be other than before;
  // not only their owner, program or VM.
  const ChangedProcesses& changed() const { return changed_; }
  std::size_t running() const { return accounts_.size() - ended_.size(); }

 private:
  ProcessAccount& account_of(const ProcessUsage& process, UnitAccount* unit, const Logins& logins,
                             Realtime now);
  static bool add_late(const BookedWindow& window, std::size_t index, bool in_unit, ProcessAccount& account);
  Microjoules leave_unit(ProcessAccount& process);
  Microjoules leave(ProcessAccount& process, ContainerAccount* container);

  void go_on(const BookedWindow& window, const UnitLedger& units, const Logins& logins, Microjoules& outside);

  std::map<ProcessId, ProcessAccount> accounts_;
  std::set<ProcessId> ended_;
  ChangedProcesses changed_;
  std::map<ProcessId, ProcessState> saved_;
};

}  // namespace keplerd
