// SPDX-License-Identifier: Apache-2.0
// The accounts of containers and pods, by their ids. Their processes are counted in the accounts of their
// cgroups, too: these ledgers show the same energy from another angle. A container may have several topmost
// cgroups (its own, and conmon's or lxc.monitor's), and its account continues when it is started again.
//
// A cgroup's name is a claim by the user who could create the cgroup (workloads/owner.h). So that a cgroup is
// never counted in, or shown as, another owner's container, the id includes who claims it, and an account
// belongs to its first owner.
//
// More than 20 methods: finding whose a cgroup is and booking it share the same accounts.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ledger/account.h"
#include "ledger/unit_ledger.h"
#include "workloads/libvirt_status.h"
#include "workloads/logins.h"
#include "workloads/machined_records.h"

namespace keplerd {

class IdlePlacement;

struct ContainerAccount {
  std::shared_ptr<const ContainerInfo> info;
  EnergyAccount energy;               // containers and pods inside included
  Microjoules own, other, in_parent;  // as ContainerRow has them; over the zones in the total
  Microjoules undivided;              // likewise; that of its units
  ContainerAccount* parent = nullptr;
  std::uint64_t seen = 0;  // sequence of the last sample that had a cgroup of it
};

// The innermost container that `account` is, or is inside of. Pods are skipped: a pod's cgroup is created by
// the same user as those of its containers, and so is no boundary. Null outside any container.
const ContainerAccount* enclosing_container(const ContainerAccount* account);

// Whether it was created by root, outside any container: only such containers are named by root's files.
bool is_named_by_root(const ContainerAccount& account);

class ContainerLedger {
 public:
  using Accounts = std::map<std::string, ContainerAccount, std::less<>>;

  // Determines the owner and the containers of each new unit of a window that `units` has booked already.
  void place(const UnitLedger& units, const Logins& logins, Realtime now);
  // Books that window. `idle`: what it has placed in the accounts of units.
  void apply(const BookedWindow& window, const UnitLedger& units, const IdlePlacement& idle);

  // The units that moved to another container in this window, with the previous one (null: none).
  const std::unordered_map<UnitAccount*, ContainerAccount*>& moved() const { return moved_; }

  // Sets the units that systemd-machined knows as containers; takes effect with the next window.
  void set_machined(const MachinedRecords::Containers& containers, const UnitLedger& units);

  // Removes ended containers beyond the limits; their own energy moves to their parent's `other`. Returns the
  // units that belonged to them and no longer do.
  std::unordered_set<const UnitAccount*> prune(const TerminatedLimits& limits,
                                               const std::vector<ZoneWindow>& windows, Realtime now,
                                               const UnitLedger& units);

  // Restores an account of an earlier run; parents may come later.
  ContainerAccount& restore(ContainerInfo info);
  void restored();  // all accounts have been restored

  // Sets libvirt's status of an LXC domain; null: none (any more).
  static void describe(ContainerAccount& account, const LibvirtStatus* status);

  // Sets the name learnt for a running one; `name_space` is a pod's. Does nothing if it is
  // unknown.
  static void rename(ContainerAccount& account, std::string name, std::string name_space = {});

  Accounts& containers() { return containers_; }
  Accounts& pods() { return pods_; }
  const Accounts& containers() const { return containers_; }
  const Accounts& pods() const { return pods_; }

  // Claims to an account of another owner, in the last window.
  struct Refused {
    bool is_pod;
    std::string id;
    Claimant claimant;
  };
  const std::vector<Refused>& refused() const { return refused_; }

 private:
  void place(UnitAccount& unit, const Logins& logins, Realtime now);
  void set_owner(UnitAccount& unit, const Claimant& claimant);
  void find_containers(UnitAccount& unit, const Claimant& claimant, Realtime now);
  std::optional<CgroupWorkload> claimed_workload(const UnitAccount& unit, const Claimant& claimant) const;
  ContainerAccount* add_part(UnitAccount& unit, const CgroupWorkload& workload, const Claimant& claimant,
                             ContainerAccount* outer, Realtime now);
  std::string bind_id(const CgroupWorkload& workload, const Claimant& claimant);
  void rename_account(Accounts& accounts, Accounts::iterator account, Uid owner);
  ContainerAccount& account_of(ContainerInfo info, const Claimant& claimant, ContainerAccount* outer,
                               bool monitor, Realtime now);
  static void leave_parent(ContainerAccount& account);
  static void book(const BookedWindow& window, const UnitAccount& unit, const ContainerPart& part);
  ContainerAccount* find(const std::string& id);
  void remove(ContainerAccount& account);

  Accounts containers_, pods_;
  MachinedRecords::Containers machined_;
  std::unordered_map<UnitAccount*, ContainerAccount*> moved_;
  std::vector<Refused> refused_;
};

}  // namespace keplerd
