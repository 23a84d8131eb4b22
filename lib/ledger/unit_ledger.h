// SPDX-License-Identifier: Apache-2.0
// The accounts of units. They are kept by cgroup path: when a unit ends and comes back, its total
// continues.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "attribution/attributor.h"
#include "ledger/account.h"
#include "workloads/cgroup_workload.h"
#include "workloads/owner.h"

namespace keplerd {

class WatchedUnits;
struct ContainerAccount;
struct VmAccount;

// A container or pod of which a unit is a topmost cgroup.
struct ContainerPart {
  ContainerAccount* container;
  ContainerAccount* outer;  // the one around this cgroup of it; null outside any
};

struct UnitAccount {
  std::shared_ptr<const UnitInfo> info;
  std::unique_ptr<const CgroupWorkload> workload;  // claimed by its path; null if none
  UnitAccount* parent = nullptr;                   // null at the top
  EnergyAccount energy;                            // descendants included
  Microjoules own, other;                          // over the zones in the total
  // Of own: what was put off (ZoneAttribution), and will be other's or its processes'. So `other`, which is
  // reported, never decreases for it.
  Microjoules undivided;
  bool behind = false;            // as GroupUsage has it
  double recent_active = 0;       // uJ; for IdlePlacing::kUsage
  std::uint64_t incarnation = 0;  // of its cgroup; 0: ended
  std::uint64_t seen = 0;         // sequence of the last sample that had it

  Uid parent_owner = kRootUser;  // as GroupUsage has it

  // Where it belongs, besides its parent; maintained by ContainerLedger.
  bool placed = false;                    // all of these are known
  ContainerAccount* container = nullptr;  // the innermost container or pod that it is (a part of)
  std::vector<ContainerPart> containers;  // those of which it is a topmost cgroup
  UnitAccount* vm_scope = nullptr;        // the topmost cgroup created by root for a VM, around it or itself

  VmAccount* vm = nullptr;  // the VM that it is (a part of); null once that ended; maintained by VmLedger
};

class UnitLedger {
 public:
  // Books a window. Accounts of units that are gone end.
  void apply(const BookedWindow& window);

  // Books what was put off in this window, and what is divided now; `moved`: the units that are in another
  // container since, and the one before. After apply(), when all units have been placed.
  void settle(const BookedWindow& window, const std::unordered_map<UnitAccount*, ContainerAccount*>& moved);
  // After settle(): whether the processes of a group get what was put off earlier in its unit.
  bool grants_late(std::size_t group) const { return group != kNoGroup && grants_late_[group] != 0; }

  // The units of the last sample, by its index: parents before their children.
  const std::vector<UnitAccount*>& current() const { return current_; }
  // The account of a group of the last sample.
  UnitAccount* of_group(std::size_t index) const { return index == kNoGroup ? nullptr : current_[index]; }

  static constexpr std::size_t kMostServices = 1'000;  // of the system manager, kept for vm_retention

  // Ended units beyond the limits, children before their parents; none that is watched.
  std::vector<UnitAccount*> overdue(const TerminatedLimits& limits, const WatchedUnits& watched,
                                    const std::vector<ZoneWindow>& windows, Realtime now) const;
  // Removes an ended unit without children; its energy stays in its parent. At the top level, returns
  // it.
  Microjoules remove(UnitAccount& unit, const std::vector<ZoneWindow>& windows);

  // Restores an account of an earlier run, as ended; parents first.
  UnitAccount& restore(const std::string& id);

  const std::map<std::string, std::unique_ptr<UnitAccount>, std::less<>>& all() const { return accounts_; }

 private:
  UnitAccount& account_of(const GroupUsage& group, Realtime now);
  UnitAccount& create(std::string_view id);

  std::map<std::string, std::unique_ptr<UnitAccount>, std::less<>> accounts_;
  std::unordered_map<std::uint64_t, UnitAccount*> running_;  // by incarnation
  std::vector<UnitAccount*> current_;                        // by the index of the last sample
  std::vector<std::uint8_t> grants_late_;                    // likewise
};

}  // namespace keplerd
