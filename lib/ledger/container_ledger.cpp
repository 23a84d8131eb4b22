// SPDX-License-Identifier: Apache-2.0
#include "ledger/container_ledger.h"

#include <array>
#include <tuple>
#include <utility>

#include "workloads/identifier.h"

namespace keplerd {
namespace {

// Names are unique below one parent only; ids of runtimes are unique.
std::string container_id(const CgroupWorkload& workload, const ContainerAccount* outer) {
  if (workload.runtime != "lxc" && workload.runtime != "nspawn") return workload.id;
  if (outer != nullptr) return outer->info->id + "/" + workload.id;
  if (workload.user) return "user-" + std::to_string(*workload.user) + "/" + workload.id;
  return workload.id;
}

// What people see as long as no name is known: a runtime's id as the runtimes shorten it.
std::string short_id(const std::string& id) { return is_runtime_id(id) ? id.substr(0, 12) : id; }

ContainerInfo make_info(const CgroupWorkload& workload, const ContainerAccount* outer,
                        const std::string& unit) {
  ContainerInfo info;
  info.is_pod = workload.kind == CgroupKind::kPod;
  info.id = container_id(workload, outer);
  info.name = workload.name.empty() ? short_id(info.id) : workload.name;
  info.runtime = workload.runtime;
  if (outer != nullptr) info.parent = outer->info->id;
  if (!workload.pod.empty()) info.pod = workload.pod;
  info.unit = unit;
  return info;
}

}  // namespace

void ContainerLedger::apply(const BookedWindow& window, const UnitLedger& units) {
  for (std::size_t i = 0; i < units.current().size(); ++i) {
    UnitAccount& unit = *units.current()[i];
    if (!unit.placed) place(unit, window.now);
    for (const ContainerPart& part : unit.containers) book(window, unit, part);
    if (unit.container == nullptr) continue;
    for (std::size_t z = 0; z < window.zones.size(); ++z) {
      if (!window.in_total(z)) continue;
      unit.container->own += window.attribution.zones[z].own[i];
      unit.container->other += window.attribution.zones[z].other[i];
    }
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
  } else {  // a cgroup of it that is somewhere else
    part.outer->own += energy;
    part.outer->other += energy;
  }
}

// Finds out which containers and pods a unit is of; its parent is placed already.
void ContainerLedger::place(UnitAccount& unit, Realtime now) {
  unit.placed = true;
  unit.container = unit.parent == nullptr ? nullptr : unit.parent->container;
  unit.containers.clear();
  if (!unit.workload || unit.is_machine()) return;
  const CgroupWorkload& workload = *unit.workload;
  ContainerAccount* outer = unit.container;
  // "SLICE:cri-containerd:ID": its pod has no cgroup of its own.
  const bool pod_elsewhere = workload.kind == CgroupKind::kContainer && !workload.pod.empty() &&
                             (outer == nullptr || outer->info->id != workload.pod);
  if (pod_elsewhere) {
    CgroupWorkload pod;
    pod.kind = CgroupKind::kPod;
    pod.id = workload.pod;
    pod.runtime = "kubernetes";
    outer = add_part(unit, make_info(pod, outer, unit.info->id), outer, false, now);
  }
  unit.container = add_part(unit, make_info(workload, outer, unit.info->id), outer, workload.monitor, now);
}

// Makes the unit a topmost cgroup of a container; yields that, or `outer` where the unit is inside it already
// (conmon's cgroup in its container's, say) and must not be counted twice.
ContainerAccount* ContainerLedger::add_part(UnitAccount& unit, ContainerInfo info, ContainerAccount* outer,
                                            bool monitor, Realtime now) {
  for (const UnitAccount* above = unit.parent; above != nullptr; above = above->parent) {
    for (const ContainerPart& part : above->containers) {
      if (part.container->info->id == info.id && part.container->info->is_pod == info.is_pod) return outer;
    }
  }
  ContainerAccount& account = account_of(std::move(info), outer, monitor, now);
  unit.containers.push_back({&account, outer});
  return &account;
}

ContainerAccount& ContainerLedger::account_of(ContainerInfo info, ContainerAccount* outer, bool monitor,
                                              Realtime now) {
  Accounts& accounts = info.is_pod ? pods_ : containers_;
  const auto [entry, is_new] = accounts.try_emplace(info.id);
  ContainerAccount& account = entry->second;
  if (is_new) {
    account.energy.since = now;
    account.parent = outer;
    account.info = std::make_shared<const ContainerInfo>(std::move(info));
  } else if (!monitor && (account.parent != outer || account.info->unit != info.unit)) {
    if (account.parent != outer) leave_parent(account);
    account.parent = outer;
    info.name = account.info->name;  // what was learnt goes on
    info.name_space = account.info->name_space;
    info.uuid = account.info->uuid;
    info.title = account.info->title;
    account.info = std::make_shared<const ContainerInfo>(std::move(info));
  }
  return account;
}

// What it used inside its parent is its parent's own from now on.
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

// Those inside it are in nothing then.
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

void ContainerLedger::describe(ContainerAccount& account, const LibvirtStatus* status) {
  if (status == nullptr && account.info->guest_state.empty()) return;  // as of nearly all
  const auto facts = [](const ContainerInfo& info) {
    return std::tie(info.name, info.uuid, info.title, info.guest_state);
  };
  ContainerInfo told = *account.info;
  told.guest_state = status == nullptr ? std::string() : status->state;
  if (status != nullptr) {
    if (!status->name.empty()) told.name = status->name;
    told.uuid = status->uuid;
    told.title = status->title;
  }
  if (facts(told) == facts(*account.info)) return;
  account.info = std::make_shared<const ContainerInfo>(std::move(told));
}

void ContainerLedger::rename(ContainerAccount& account, std::string name, std::string name_space) {
  if (account.info->name == name && account.info->name_space == name_space) return;
  change_info(account.info, [&](ContainerInfo& info) {
    info.name = std::move(name);
    info.name_space = std::move(name_space);
  });
}

}  // namespace keplerd
