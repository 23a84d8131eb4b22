// SPDX-License-Identifier: Apache-2.0
// The account of one virtual machine: its identity, its energy, and how that is divided among its parts.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attribution/apportion.h"
#include "ledger/account.h"
#include "ledger/unit_ledger.h"
#include "workloads/libvirt_status.h"
#include "workloads/vm_part.h"
#include "workloads/vm_registry.h"

namespace keplerd {

struct VmAccount {
  std::shared_ptr<const VmInfo> info;
  EnergyAccount energy;
  VmEvidence evidence = VmEvidence::kGuess;             // the best evidence ever that it is this VM
  std::map<std::string, Microjoules, PartOrder> parts;  // the remainder is "other"
  std::string guest_number;                             // Proxmox's guest id, Xen's domain id; else empty
  std::shared_ptr<const LibvirtStatus> status;          // null if libvirt has none
  std::optional<Nanoseconds> halt_polling;              // since it was started, if the kernel reports it
  bool named = false;                                   // by its command line or its own cgroup
  // What is running under this id now; null once it has ended.
  const Vm* vm = nullptr;
  bool runs() const { return vm != nullptr; }
  // It ended so long ago that it has no row; its total waits for its next start.
  bool is_dormant = false;
  std::uint64_t number = 0, described = 0;  // of the last one
  std::shared_ptr<const VmInfo> shown;      // what its processes' rows refer to
  std::size_t shown_to = 0;
  // What its events have reported.
  bool reported_running = false;
  bool starting = false;  // its start was reported, its guest's state is not yet known
  int windows_since_end = 0;
  std::optional<std::string> end_reason;
};

// Takes over what the command line and the scope of `vm` say. `unit`: its scope, or the one that its process
// is in; null outside any. The best name is that of the command line, then that of its scope, which libvirt
// may shorten, then one derived from the UUID.
void describe(VmAccount& account, const Vm& vm, const UnitAccount* unit);

// Takes over libvirt's status, which is better: it follows renames. Null: none (any more).
void describe(VmAccount& account, std::shared_ptr<const LibvirtStatus> status);

// Sets a name learnt elsewhere.
void rename(VmAccount& account, const std::string& name);

// Sets the unit that the VM is in; null: outside any.
void relocate(VmAccount& account, const UnitAccount* unit);

// CPU time of a VM's parts in a window.
using PartTimes = std::map<std::string, Nanoseconds>;

// Divides the VM's energy in this window among its parts; the rest of its time is "other".
void divide(VmAccount& account, const PartTimes& times, const BookedWindow& window, Apportioner& apportioner);

}  // namespace keplerd
