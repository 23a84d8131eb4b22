// SPDX-License-Identifier: Apache-2.0
// The accounts of virtual machines, by UUID, else by the pid and start time of their process. A machine that
// has a cgroup of its own (libvirt's scopes, Proxmox's) is counted by it, whole, with all that helps to run
// it; any other by its hypervisor's process. Helpers outside that cgroup (swtpm, virtiofsd, passt) are added.
// When it ends and comes back under its UUID, its total goes on.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "attribution/apportion.h"
#include "ledger/machine_account.h"
#include "ledger/machine_events.h"
#include "ledger/process_ledger.h"
#include "ledger/unit_ledger.h"
#include "workloads/machine_finder.h"

namespace keplerd {

class MachineLedger {
 public:
  using Accounts = std::map<std::string, MachineAccount, std::less<>>;

  // Books a window, which `units`, its containers and `processes` have booked already; tells them which
  // machine they are of. `found`: the machines and helpers among the window's processes that were not known
  // before.
  void apply(const BookedWindow& window, const FoundMachines& found, const UnitLedger& units,
             ProcessLedger& processes);

  // Removes ended machines that the limits no longer keep; their units are of none then.
  void prune(const TerminatedLimits& limits, const std::vector<ZoneWindow>& windows, Realtime now,
             const UnitLedger& units);

  // Puts back an account from an earlier run.
  MachineAccount& restore(MachineInfo info);

  // What libvirt tells of a machine (see machine_account.h), and the events that follow from it.
  void describe(MachineAccount& machine, std::shared_ptr<const LibvirtStatus> status, Realtime now);

  // Somebody tells why machines end: then their ends are told a window later, so that the reason is known.
  void expect_end_reasons(bool expected) { end_reasons_expected_ = expected; }
  void note_end(std::string_view id, const std::string& reason);

  const MachineEvents& events() const { return events_; }

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

  // A process outside its machine's cgroup that works for it.
  struct Helper {
    HelperCommand command;
    MachineAccount* machine = nullptr;  // null: of none that is known
  };

  void drop_ended(const BookedWindow& window);
  void take(const FoundMachine& found, const BookedWindow& window, const UnitLedger& units);
  void take_helpers(const FoundMachines& found, const BookedWindow& window);
  MachineAccount* machine_of(const HelperCommand& helper);
  void guess(const BookedWindow& window, const ProcessLedger& processes);
  void follow_processes(const ProcessLedger& processes);
  void book(const BookedWindow& window, const ProcessLedger& processes);
  void book_process(const BookedWindow& window, const ProcessLedger& processes, ProcessId id,
                    MachineAccount& machine);
  void divide_all(const BookedWindow& window, const UnitLedger& units, const ProcessLedger& processes);
  std::string part_of_thread(const PartUsage& part, const MachineAccount& machine) const;
  void tell_ends(Realtime now);
  void tell_end_or_start(MachineAccount& machine, Realtime now);
  void tell_units(const UnitLedger& units);
  void tell_processes(const FoundMachines& found, const BookedWindow& window, ProcessLedger& processes);
  MachineAccount& account_of(ProcessId process, const MachineCommand& command, Realtime now);
  MachineAccount* running_in(const ProcessUsage& process, const MachineCommand& command, const Group* group);
  void add_process(MachineAccount& machine, ProcessId id);
  void give_up_guess(MachineAccount& machine);
  void bind(Group& group, MachineAccount& machine);
  Group* group_of(const UnitAccount* unit);

  Accounts accounts_;
  std::unordered_map<const UnitAccount*, Group> groups_;
  std::map<ProcessId, MachineAccount*> by_process_;
  std::map<ProcessId, Helper> helpers_;
  Apportioner apportioner_;
  MachineEvents events_;
  bool first_window_ = true;  // what runs has not started now
  bool end_reasons_expected_ = false;
};

}  // namespace keplerd
