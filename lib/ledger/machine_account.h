// SPDX-License-Identifier: Apache-2.0
// One virtual machine's account: what it is, what it drew, and of that its parts.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attribution/apportion.h"
#include "ledger/account.h"
#include "ledger/unit_ledger.h"
#include "workloads/command_line.h"
#include "workloads/libvirt_status.h"
#include "workloads/machine_part.h"

namespace keplerd {

struct MachineAccount {
  std::shared_ptr<const MachineInfo> info;
  EnergyAccount energy;
  std::map<std::string, Microjoules, PartOrder> parts;  // what is in none of them is "other"
  std::string number;                                   // Proxmox's guest id, Xen's domain id; else empty
  std::vector<std::string> helper_sockets;              // to its helpers, as QEMU's command line names them
  std::shared_ptr<const LibvirtStatus> status;          // null where libvirt tells nothing of it
  std::optional<Nanoseconds> halt_polling;              // since it was started, where the kernel tells it
  bool named = false;                                   // by its command line or its own cgroup
  bool guessed = false;                                 // nothing is known of it but its cgroup
  // What runs it now.
  std::vector<ProcessId> processes;
  std::size_t groups = 0;
  std::optional<std::uint32_t> user;  // that its process runs as, or did last
  bool runs() const { return groups > 0 || !processes.empty(); }
  // What was told of it.
  bool told_running = false;
  bool starting = false;  // its start was told, its guest's state not yet
  int windows_since_end = 0;
  std::optional<std::string> end_reason;
};

// What a hypervisor's command line tells. `unit`: the machine's own, or the one that its process is in; null
// outside any. The best name there is that of the command line; then that of its cgroup, which libvirt
// shortens; then what is made of the UUID.
void describe(MachineAccount& machine, const MachineCommand& command, const UnitAccount* unit,
              std::int32_t pid);

// What libvirt tells, which is better: it follows renames. Null: nothing (any more).
void describe(MachineAccount& machine, std::shared_ptr<const LibvirtStatus> status);

// A name that was learnt elsewhere.
void rename(MachineAccount& machine, const std::string& name);

// The machine is in `unit` now; null: outside any.
void relocate(MachineAccount& machine, const UnitAccount* unit);

// CPU time of a machine's parts in a window.
using PartTimes = std::map<std::string, Nanoseconds, PartOrder>;

// Divides what the machine got in this window among its parts; the rest of its time is "other".
void divide(MachineAccount& machine, const PartTimes& times, const BookedWindow& window,
            Apportioner& apportioner);

}  // namespace keplerd
