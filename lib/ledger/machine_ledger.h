// SPDX-License-Identifier: Apache-2.0
// The accounts of virtual machines, by UUID, else by the pid and start time of their process. A machine that
// has a cgroup of its own (libvirt's scopes, Proxmox's) is counted by it, whole, with all that helps to run
// it; any other by its hypervisor's process. When it ends and comes back under its UUID, its total goes on.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "attribution/apportion.h"
#include "ledger/account.h"
#include "ledger/process_ledger.h"
#include "ledger/unit_ledger.h"
#include "workloads/machine_finder.h"
#include "workloads/machine_part.h"

namespace keplerd {

struct MachineAccount {
  std::shared_ptr<const MachineInfo> info;
  EnergyAccount energy;
  std::map<std::string, Microjoules, PartOrder> parts;  // what is in none of them is "other"
  std::string number;                                   // Proxmox's guest id, Xen's domain id; else empty
  bool name_given = false;                              // by the one who started it: no other name is better
  bool guessed = false;                                 // nothing is known of it but its cgroup
  // What runs it now.
  std::vector<ProcessId> processes;
  std::size_t groups = 0;
};

class MachineLedger {
 public:
  using Accounts = std::map<std::string, MachineAccount, std::less<>>;

  // Books a window, which `units`, its containers and `processes` have booked already; tells them which
  // machine they are of. `found`: the machines among the window's processes that were not known before.
  void apply(const BookedWindow& window, const std::vector<FoundMachine>& found, const UnitLedger& units,
             ProcessLedger& processes);

  // Removes ended machines that the limits no longer keep; their units are of none then.
  void prune(const TerminatedLimits& limits, const std::vector<ZoneWindow>& windows, Realtime now,
             const UnitLedger& units);

  // Puts back an account from an earlier run.
  MachineAccount& restore(MachineInfo info);

  // A name that was learnt elsewhere; does not replace one that was given.
  static void rename(MachineAccount& account, const std::string& name);

  // Whether this process runs a machine.
  bool runs(ProcessId id) const { return by_process_.contains(id); }

  Accounts& all() { return accounts_; }
  const Accounts& all() const { return accounts_; }

 private:
  // A cgroup that is a machine. What it drew before its machine is known waits for it.
  struct Group {
    const UnitAccount* unit = nullptr;
    EnergyAccount pending;
    MachineAccount* machine = nullptr;
    int windows = 0;

    // By a hypervisor that runs; a guess gives way.
    bool is_taken() const { return machine != nullptr && !machine->guessed && !machine->processes.empty(); }
  };

  void drop_ended(const BookedWindow& window);
  void take(const FoundMachine& found, const BookedWindow& window, const UnitLedger& units);
  void guess(const BookedWindow& window, const UnitLedger& units);
  void bind_groups(const ProcessLedger& processes);
  void book(const BookedWindow& window, const ProcessLedger& processes);
  void divide(const BookedWindow& window, const UnitLedger& units);
  void divide_one(MachineAccount& machine, std::map<std::string, Nanoseconds, PartOrder>& times,
                  const BookedWindow& window);
  void tell_units(const UnitLedger& units);
  MachineAccount& account_of(const ProcessUsage& process, const MachineCommand& command, Realtime now);
  MachineAccount* running_in(const ProcessUsage& process, const MachineCommand& command, const Group* group);
  void add_process(MachineAccount& machine, ProcessId id);
  void give_up_guess(MachineAccount& machine);
  void bind(Group& group, MachineAccount& machine);
  Group* group_of(const UnitAccount* unit);

  Accounts accounts_;
  std::unordered_map<const UnitAccount*, Group> groups_;
  std::map<ProcessId, MachineAccount*> by_process_;
  Apportioner apportioner_;
};

}  // namespace keplerd
