// SPDX-License-Identifier: Apache-2.0
// The accounts of containers and pods, by their ids. What runs in one is in the accounts of its cgroups too:
// these ledgers look at the same energy from another side. A container may have several topmost cgroups (its
// own, and conmon's or lxc.monitor's beside it), and goes on when it is started again.
//
// What a cgroup is called is the claim of whoever could make it (workloads/owner.h), so that nobody's cgroup
// is ever counted in, or shown as, another's container: the id says who claims it, and an account belongs to
// its first owner.
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

struct ContainerAccount {
  std::shared_ptr<const ContainerInfo> info;
  EnergyAccount energy;               // containers and pods inside included
  Microjoules own, other, in_parent;  // as ContainerRow has them; over the zones in the total
  ContainerAccount* parent = nullptr;
  std::uint64_t seen = 0;  // sequence of the last sample that had a cgroup of it
};

// The innermost container that `account` is, or is inside of: a pod's cgroup is made by who makes its
// containers', and so is no border. Null outside any.
const ContainerAccount* enclosing_container(const ContainerAccount* account);

// Whether root has made it, outside any container: only then do root's files name it.
bool is_named_by_root(const ContainerAccount& account);

class ContainerLedger {
 public:
  using Accounts = std::map<std::string, ContainerAccount, std::less<>>;

  // Books a window, which `units` has booked already; finds out whose each new unit is, and which containers
  // it is of.
  void apply(const BookedWindow& window, const UnitLedger& units, const Logins& logins);

  // The units that came into another container in this window, with the one that they were in; null: none.
  const std::unordered_map<UnitAccount*, ContainerAccount*>& moved() const { return moved_; }

  // The units that systemd-machined knows as containers; it shows with the next window.
  void set_machined(const MachinedRecords::Containers& containers, const UnitLedger& units);

  // Removes ended ones that the limits no longer keep; what was their own is their parent's `other` then. The
  // units that were theirs are theirs no longer, and are the result.
  std::unordered_set<const UnitAccount*> prune(const TerminatedLimits& limits,
                                               const std::vector<ZoneWindow>& windows, Realtime now,
                                               const UnitLedger& units);

  // Puts back an account from an earlier run; parents may come later.
  ContainerAccount& restore(ContainerInfo info);
  void restored();  // all are back

  // What libvirt tells of an LXC domain; null: nothing (any more).
  static void describe(ContainerAccount& account, const LibvirtStatus* status);

  // What was learnt of a running one's name; `name_space` is a pod's. Nothing where there is no such one.
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
