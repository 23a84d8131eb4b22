// SPDX-License-Identifier: Apache-2.0
// The accounts of virtual machines, by the ids that VmRegistry gives them. A VM that has a cgroup of its own
// (libvirt's scopes, Proxmox's) is counted by it, whole, with all that helps to run it; any other by its
// hypervisor's process. Helpers outside that cgroup (swtpm, virtiofsd, passt) are added. When it ends and
// comes back under its id, its total goes on.
//
// More than 20 methods: the steps of one window, and the readers that name and describe VMs.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "attribution/apportion.h"
#include "ledger/process_ledger.h"
#include "ledger/unit_ledger.h"
#include "ledger/vm_account.h"
#include "ledger/vm_events.h"
#include "workloads/vm_registry.h"

namespace keplerd {

class VmLedger {
 public:
  using Accounts = std::map<std::string, VmAccount, std::less<>>;

  // Books a window, which `units`, its containers, `processes` and `registry` have followed already; marks
  // them with the VM that they are of.
  void apply(const BookedWindow& window, const VmRegistry& registry, const UnitLedger& units,
             ProcessLedger& processes);

  static constexpr std::ptrdiff_t kMostDormant = 10'000;

  // Removes ended VMs that the limits no longer keep, from the registry too, or makes them dormant; their
  // units are of none then.
  void prune(const TerminatedLimits& limits, const std::vector<ZoneWindow>& windows, Realtime now,
             const UnitLedger& units, VmRegistry& registry);

  // Puts back an account from an earlier run.
  VmAccount& restore(VmInfo info);

  // Of a running VM of the last window: what libvirt says, else its command line.
  VmSize size_of(const Vm& vm) const;
  // Adds these to the limits of the groups that are VMs'; does nothing if limits were not read.
  void add_sizes(const VmRegistry& registry, UsageSample& usage) const;

  // What libvirt says of a VM (see vm_account.h), and the events that follow from it.
  void describe(VmAccount& account, std::shared_ptr<const LibvirtStatus> status, Realtime now);

  // Somebody will say why VMs end: then their ends are events a window later, so that the reason is known.
  void expect_end_reasons(bool expected) { end_reasons_expected_ = expected; }
  void note_end(std::string_view id, const std::string& reason);

  const VmEvents& events() const { return events_; }

  Accounts& all() { return accounts_; }
  const Accounts& all() const { return accounts_; }

 private:
  void rename(const VmRegistry& registry);
  void follow(const BookedWindow& window, const VmRegistry& registry, const UnitLedger& units,
              const ProcessLedger& processes);
  VmAccount& find_account(const Vm& vm, Realtime now);
  const UnitAccount* unit_of(const Vm& vm, const ProcessLedger& processes) const;
  VmAccount* account_of(const Vm* vm) const { return vm == nullptr ? nullptr : running_[vm->index]; }
  VmAccount* account_with(const UnitAccount& unit, const VmRegistry& registry) const;
  void book(const BookedWindow& window, const VmRegistry& registry, const ProcessLedger& processes);
  void book_process(const BookedWindow& window, const ProcessLedger& processes, ProcessId id,
                    VmAccount& account);
  void divide_all(const BookedWindow& window, const VmRegistry& registry, const UnitLedger& units,
                  const ProcessLedger& processes);
  std::string part_of_thread(const PartUsage& part, const VmAccount& account) const;
  void report_ends(Realtime now);
  void report_end_or_start(VmAccount& account, Realtime now);
  void mark_units(const VmRegistry& registry, const UnitLedger& units);
  void mark_processes(const VmRegistry& registry, ProcessLedger& processes);

  Accounts accounts_;
  std::vector<VmAccount*> running_;  // of this window, by Vm::index
  struct Known {
    VmAccount* account = nullptr;
    std::uint64_t described = 0;  // as then
  };
  std::unordered_map<std::uint64_t, Known> known_;  // by Vm::number, so that ids are not compared each time
  std::unordered_map<VmScopeKey, UnitAccount*> scopes_;  // of this window
  std::unordered_map<VmScopeKey, EnergyAccount>
      pending_;  // what a scope drew before its VM is known waits for it
  Apportioner apportioner_;
  VmEvents events_;
  bool first_window_ = true;  // what runs has not started now
  bool end_reasons_expected_ = false;
};

}  // namespace keplerd
