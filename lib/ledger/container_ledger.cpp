// SPDX-License-Identifier: Apache-2.0
#include "ledger/container_ledger.h"

#include <utility>

#include "ledger/idle_placement.h"
#include "workloads/identifier.h"
#include "workloads/unit_name.h"

namespace keplerd {
namespace {

ContainerInfo make_info(const CgroupWorkload& workload, std::string id, const ContainerAccount* outer,
                        const std::string& unit) {
  ContainerInfo info;
  info.is_pod = workload.kind == CgroupKind::kPod;
  info.id = std::move(id);
  info.name =
      workload.name.empty() ? short_runtime_id(workload.id) : workload.name;  // until the name is known
  info.runtime = workload.runtime;
  if (outer != nullptr) info.parent = outer->info->id;
  info.unit = unit;
  return info;
}

CgroupWorkload pod_of(const CgroupWorkload& container) {
  CgroupWorkload pod;
  pod.kind = CgroupKind::kPod;
  pod.id = container.pod;
  pod.runtime = "kubernetes";
  return pod;
}

// Whether the id cannot occur twice by chance. Names of LXC and nspawn containers are chosen
// freely.
bool has_unique_id(const CgroupWorkload& workload) {
  return workload.kind == CgroupKind::kPod || is_runtime_id(workload.id);
}

// Whose claims the names of a cgroup are: those of the container around it; else of the user whose slice it
// is in; else of the owner of the directory that it was created in. The cgroup's own owner does not count,
// because its creator may have changed it.
Claimant claimant_of(const UnitAccount& unit, const ContainerAccount* container, const Logins& logins) {
  if (container != nullptr) return {container->info->id, container->energy.owner.value_or(kRootUser)};
  if (const auto user = slice_user(unit.info->id)) return {{}, *user};
  return {{}, logins.login_of(unit.parent_owner)};
}

}  // namespace

const ContainerAccount* enclosing_container(const ContainerAccount* account) {
  while (account != nullptr && account->info->is_pod) account = account->parent;
  return account;
}

bool is_named_by_root(const ContainerAccount& account) {
  return account.energy.owner == kRootUser && enclosing_container(account.parent) == nullptr;
}

void ContainerLedger::place(const UnitLedger& units, const Logins& logins, Realtime now) {
  refused_.clear();
  moved_.clear();
  for (UnitAccount* const unit : units.current())
    if (!unit->placed) place(*unit, logins, now);
}

void ContainerLedger::apply(const BookedWindow& window, const UnitLedger& units, const IdlePlacement& idle) {
  for (std::size_t i = 0; i < units.current().size(); ++i) {
    const UnitAccount& unit = *units.current()[i];
    for (const ContainerPart& part : unit.containers) book(window, unit, part);
    if (unit.container == nullptr) continue;
    for (std::size_t z = 0; z < window.zones.size(); ++z) {
      if (!window.in_total(z)) continue;
      unit.container->own += window.attribution.zones[z].own[i];
      unit.container->other += window.attribution.zones[z].other[i];
    }
    if (idle.own().empty()) continue;
    unit.container->own += idle.own()[i];
    unit.container->other += idle.other()[i];
  }
  for (Accounts* const accounts : {&containers_, &pods_}) {
    for (auto& [id, account] : *accounts) {
      if (account.seen != window.sequence && !account.energy.ended) account.energy.ended = window.now;
    }
  }
}

void ContainerLedger::book(const BookedWindow& window, const UnitAccount& unit, const ContainerPart& part) {
  ContainerAccount& container = *part.container;
  container.seen = window.sequence;
  container.energy.ended.reset();
  container.energy.add_window(window.sequence, unit.energy);
  if (part.outer == nullptr) return;
  const Microjoules energy = unit.energy.window_energy(window.sequence, window.standings);
  if (container.parent == part.outer) {
    container.in_parent += energy;
  } else {  // another cgroup of it, elsewhere
    part.outer->own += energy;
    part.outer->other += energy;
  }
}

void ContainerLedger::set_machined(const MachinedRecords::Containers& containers, const UnitLedger& units) {
  if (machined_ == containers) return;
  const MachinedRecords::Containers before = std::exchange(machined_, containers);
  for (UnitAccount* const unit : units.current()) {
    const bool above = unit->parent != nullptr && !unit->parent->placed;
    const std::string_view name = system_unit(unit->info->id);
    const auto old = before.find(name);
    const auto now = machined_.find(name);
    const bool changed = (old == before.end()) != (now == machined_.end()) ||
                         (old != before.end() && old->second != now->second);
    if (above || changed) unit->placed = false;
  }
}

// Determines a unit's owner, and its containers and pods; its parent has been placed already.
void ContainerLedger::place(UnitAccount& unit, const Logins& logins, Realtime now) {
  unit.placed = true;
  ContainerAccount* const before = unit.container;
  unit.container = unit.parent == nullptr ? nullptr : unit.parent->container;
  unit.containers.clear();
  unit.vm_scope = unit.parent == nullptr ? nullptr : unit.parent->vm_scope;
  const Claimant claimant = claimant_of(unit, enclosing_container(unit.container), logins);
  set_owner(unit, claimant);
  const bool is_vm = unit.workload && unit.workload->kind == CgroupKind::kVirtualMachine;
  if (is_vm && claimant.owner == kRootUser && unit.vm_scope == nullptr) unit.vm_scope = &unit;
  if (!is_vm) find_containers(unit, claimant, now);
  if (unit.container != before) moved_[&unit] = before;
}

// A path that belonged to someone else before goes to root: neither user may see what it has counted.
void ContainerLedger::set_owner(UnitAccount& unit, const Claimant& claimant) {
  const bool is_anothers = unit.energy.owner && *unit.energy.owner != claimant.owner;
  unit.energy.owner = is_anothers ? kRootUser : claimant.owner;
}

// The workload that the unit claims to be, by its path or by systemd-machined's record of a unit of root's.
std::optional<CgroupWorkload> ContainerLedger::claimed_workload(const UnitAccount& unit,
                                                                const Claimant& claimant) const {
  if (unit.workload) return *unit.workload;
  if (machined_.empty() || claimant != Claimant{}) return std::nullopt;
  const std::string& path = unit.info->id;
  const std::string_view name = system_unit(path);
  const auto record = machined_.find(name);
  if (record == machined_.end() || !path.ends_with(name)) return std::nullopt;
  CgroupWorkload workload;
  workload.kind = CgroupKind::kContainer;
  workload.id = workload.name = record->second.name;
  workload.runtime = record->second.service == "systemd-nspawn" ? "nspawn" : "unknown";
  return workload;
}

void ContainerLedger::find_containers(UnitAccount& unit, const Claimant& claimant, Realtime now) {
  const auto workload = claimed_workload(unit, claimant);
  if (!workload) return;
  ContainerAccount* outer = unit.container;
  // "SLICE:cri-containerd:ID": its pod has no cgroup of its own.
  const bool pod_elsewhere =
      workload->kind == CgroupKind::kContainer && !workload->pod.empty() &&
      (outer == nullptr || !outer->info->is_pod || last_part(outer->info->id) != workload->pod);
  if (pod_elsewhere) outer = add_part(unit, pod_of(*workload), claimant, outer, now);
  unit.container = add_part(unit, *workload, claimant, outer, now);
}

// Makes the unit a topmost cgroup of a container, which it returns; or returns `outer` if the unit already is
// inside it (e.g. conmon's cgroup in its container's) and must not be counted twice.
ContainerAccount* ContainerLedger::add_part(UnitAccount& unit, const CgroupWorkload& workload,
                                            const Claimant& claimant, ContainerAccount* outer, Realtime now) {
  const bool is_pod = workload.kind == CgroupKind::kPod;
  if (has_unique_id(workload) && !is_pod && last_part(claimant.container) == workload.id) return outer;
  // No runtime puts a pod directly into a pod. A pod is inside whatever it was last found in, so a chain of
  // pods could be of any length; the ids of containers include what they are in, which bounds the depth.
  if (is_pod && outer != nullptr && outer->info->is_pod) return outer;
  const std::string id = bind_id(workload, claimant);
  for (const UnitAccount* above = unit.parent; above != nullptr; above = above->parent) {
    for (const ContainerPart& part : above->containers) {
      if (part.container->info->id == id && part.container->info->is_pod == is_pod) return outer;
    }
  }
  // A pod may be found anywhere, wherever it was before: it must never end up inside itself.
  for (const ContainerAccount* around = outer; around != nullptr; around = around->parent) {
    if (around->info->id == id && around->info->is_pod == is_pod) return outer;
  }
  ContainerInfo info = make_info(workload, id, outer, unit.info->id);
  if (!workload.pod.empty() && outer != nullptr && outer->info->is_pod) info.pod = outer->info->id;
  ContainerAccount& account = account_of(std::move(info), claimant, outer, workload.monitor, now);
  unit.containers.push_back({&account, outer});
  return &account;
}

// The id under which the claimant's workload is accounted. An id bound to another owner stays that owner's;
// but root's claim takes precedence over that of other owners of bare ids, the system's users.
std::string ContainerLedger::bind_id(const CgroupWorkload& workload, const Claimant& claimant) {
  const bool is_pod = workload.kind == CgroupKind::kPod;
  Accounts& accounts = is_pod ? pods_ : containers_;
  Accounts& others = is_pod ? containers_ : pods_;
  const auto refuse = [&] { refused_.push_back({is_pod, workload.id, claimant}); };
  const std::string claimed = claimed_id(claimant, workload.id);
  if (const auto other = others.find(claimed); other != others.end() && claimant.owner == kRootUser) {
    const Uid owner = other->second.energy.owner.value_or(kRootUser);
    if (owner != kRootUser) rename_account(others, other, owner);
  }
  const std::string id =
      free_id(claimant.owner, claimed, [&](const auto& other) { return others.contains(other); });
  if (id != claimed) refuse();
  const auto bound = accounts.find(id);
  if (bound == accounts.end()) {
    if (id != workload.id && has_unique_id(workload) && accounts.contains(workload.id)) refuse();
    return id;
  }
  const Uid owner = bound->second.energy.owner.value_or(kRootUser);
  if (owner == claimant.owner) return id;
  if (claimant.owner != kRootUser) {
    refuse();
    return free_id(claimant.owner, id, [&](const auto& other) {
      const auto taken = accounts.find(other);
      const bool is_anothers = taken != accounts.end() && taken->second.energy.owner != claimant.owner;
      return is_anothers || others.contains(other);
    });
  }
  rename_account(accounts, bound, owner);
  return id;
}

void ContainerLedger::rename_account(Accounts& accounts, Accounts::iterator account, Uid owner) {
  const std::string id =
      free_id(owner, account->first, [&](const auto& taken) { return find(taken) != nullptr; });
  auto node = accounts.extract(account);
  node.key() = id;
  ContainerAccount& renamed = accounts.insert(std::move(node)).position->second;
  change_info(renamed.info, [&id](ContainerInfo& info) { info.id = id; });
  for (Accounts* const all : {&containers_, &pods_}) {
    for (auto& [key, inner] : *all) {
      if (inner.parent != &renamed) continue;
      change_info(inner.info, [&](ContainerInfo& info) {
        info.parent = id;
        if (renamed.info->is_pod) info.pod = id;
      });
    }
  }
}

ContainerAccount& ContainerLedger::account_of(ContainerInfo info, const Claimant& claimant,
                                              ContainerAccount* outer, bool monitor, Realtime now) {
  Accounts& accounts = info.is_pod ? pods_ : containers_;
  const auto [entry, is_new] = accounts.try_emplace(info.id);
  ContainerAccount& account = entry->second;
  if (is_new) {
    account.energy.since = now;
    account.energy.owner = claimant.owner;
    account.parent = outer;
    account.info = std::make_shared<const ContainerInfo>(std::move(info));
  } else if (!monitor && (account.parent != outer || account.info->unit != info.unit)) {
    if (account.parent != outer) leave_parent(account);
    account.parent = outer;
    info.name = account.info->name;  // what was learnt is kept
    info.name_space = account.info->name_space;
    info.uuid = account.info->uuid;
    info.title = account.info->title;
    account.info = std::make_shared<const ContainerInfo>(std::move(info));
  }
  return account;
}

// What it used inside its parent becomes the parent's own.
void ContainerLedger::leave_parent(ContainerAccount& account) {
  const Microjoules left = std::exchange(account.in_parent, Microjoules{});
  if (account.parent == nullptr) return;
  account.parent->own += left;
  account.parent->other += left;
  account.parent = nullptr;
}

std::unordered_set<const UnitAccount*> ContainerLedger::prune(const TerminatedLimits& limits,
                                                              const std::vector<ZoneWindow>& windows,
                                                              Realtime now, const UnitLedger& units) {
  std::unordered_set<ContainerAccount*> gone;
  for (Accounts* const accounts : {&containers_, &pods_}) {
    std::vector<Ended<ContainerAccount>> ended;
    for (auto& [id, account] : *accounts) {
      if (account.energy.ended)
        ended.push_back({&account, account.energy.energy(windows), *account.energy.ended});
    }
    const auto removed = overdue(std::move(ended), limits, now);
    gone.insert(removed.begin(), removed.end());
  }
  std::unordered_set<const UnitAccount*> freed;
  if (gone.empty()) return freed;
  for (const auto& [id, unit] : units.all()) {
    const bool is_theirs = gone.contains(unit->container) ||
                           std::ranges::any_of(unit->containers, [&](const ContainerPart& part) {
                             return gone.contains(part.container) || gone.contains(part.outer);
                           });
    if (!is_theirs) continue;
    freed.insert(unit.get());
    unit->placed = false;
    unit->container = nullptr;
    unit->containers.clear();
  }
  for (ContainerAccount* const account : gone) remove(*account);
  return freed;
}

// Containers inside it are left without a parent.
void ContainerLedger::remove(ContainerAccount& account) {
  leave_parent(account);
  for (Accounts* const accounts : {&containers_, &pods_}) {
    for (auto& [id, inner] : *accounts) {
      if (inner.parent != &account) continue;
      inner.parent = nullptr;
      inner.in_parent = Microjoules{};
      change_info(inner.info, [](ContainerInfo& info) { info.parent.reset(); });
    }
  }
  const std::shared_ptr<const ContainerInfo> info = account.info;
  (info->is_pod ? pods_ : containers_).erase(info->id);
}

ContainerAccount* ContainerLedger::find(const std::string& id) {
  for (Accounts* const accounts : {&containers_, &pods_}) {
    const auto entry = accounts->find(id);
    if (entry != accounts->end()) return &entry->second;
  }
  return nullptr;
}

ContainerAccount& ContainerLedger::restore(ContainerInfo info) {
  Accounts& accounts = info.is_pod ? pods_ : containers_;
  ContainerAccount& account = accounts[info.id];
  account.info = std::make_shared<const ContainerInfo>(std::move(info));
  return account;
}

void ContainerLedger::restored() {
  for (Accounts* const accounts : {&containers_, &pods_}) {
    for (auto& [id, account] : *accounts) {
      if (account.info->parent) account.parent = find(*account.info->parent);
    }
  }
}

}  // namespace keplerd
