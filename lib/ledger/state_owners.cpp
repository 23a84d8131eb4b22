// SPDX-License-Identifier: Apache-2.0
#include "ledger/state_owners.h"

#include <map>
#include <set>
#include <utility>

#include "workloads/cgroup_workload.h"
#include "workloads/identifier.h"
#include "workloads/unit_name.h"

namespace keplerd {
namespace {

Uid owner_of(std::string_view path) { return slice_user(path).value_or(kRootUser); }

// The containers and pods of a state, by the ids that they were saved under.
class Containers {
 public:
  explicit Containers(std::vector<ContainerState>& containers) {
    for (ContainerState& container : containers) {
      by_id_.emplace(container.info.id, &container);
      if (container.owner) taken_.insert(container.info.id);
    }
  }

  void give_owners() {
    for (auto& [id, container] : by_id_) give_owner(id);
    for (auto& [id, container] : by_id_) refer(*container);
  }

  // Who owns the claims made in the container that was saved as `id`.
  Claimant claimant_in(const std::string& id) {
    const auto known = by_id_.find(id);
    if (known == by_id_.end()) return {id, kRootUser};
    return {new_ids_.at(id), known->second->owner.value_or(kRootUser)};
  }

 private:
  void give_owner(const std::string& id) {
    if (new_ids_.contains(id)) return;
    ContainerState& container = *by_id_.at(id);
    new_ids_[id] = id;  // a container that is its own parent ends here
    Claimant claimant = claimant_of(container);
    if (!container.owner) {
      container.owner = claimant.owner;
      new_ids_[id] = unique(claimed_id(claimant, last_part(id)), claimant.owner);
      if (claimant != Claimant{}) forget_name(container.info, std::string(last_part(id)));
    }
  }

  Claimant claimant_of(const ContainerState& container) {
    std::optional<std::string> outer = container.info.parent;
    for (std::size_t i = 0; outer && i < by_id_.size(); ++i) {
      const auto known = by_id_.find(*outer);
      if (known == by_id_.end()) break;
      give_owner(known->first);
      if (!known->second->info.is_pod) return claimant_in(known->first);
      outer = known->second->info.parent;
    }
    return {{}, container.owner.value_or(owner_of(container.info.unit))};
  }

  // LXC and nspawn containers that moved may be in a state twice, by name.
  std::string unique(std::string id, Uid owner) {
    return free_id(owner, std::move(id), [this](const auto& taken) { return !taken_.insert(taken).second; });
  }

  static void forget_name(ContainerInfo& info, const std::string& id) {
    info.name = recognise_cgroup(info.unit).name;
    if (info.name.empty() || info.is_pod) info.name = short_runtime_id(id);
    info.name_space.clear();
  }

  void refer(ContainerState& container) {
    ContainerInfo& info = container.info;
    info.id = new_ids_.at(info.id);
    if (!info.parent) return;
    const auto parent = by_id_.find(*info.parent);
    if (parent == by_id_.end()) return;
    info.parent = new_ids_.at(parent->first);
    if (parent->second->info.is_pod) info.pod = info.parent;
  }

  std::map<std::string, ContainerState*> by_id_;
  std::map<std::string, std::string> new_ids_;
  std::set<std::string> taken_;
};

void give_owner(VmState& vm, Containers& containers, std::set<std::string>& taken) {
  VmInfo& info = vm.info;
  if (vm.owner) return;
  Claimant claimant{{}, owner_of(info.unit.value_or(""))};
  if (info.container) {
    claimant = containers.claimant_in(*info.container);
    info.container = claimant.container;
  }
  vm.owner = claimant.owner;
  if (claimant == Claimant{}) return;
  taken.erase(info.id);
  info.id = free_id(claimant.owner, claimed_id(claimant, info.id),
                    [&taken](const auto& id) { return !taken.insert(id).second; });
  info.name = info.id;
  info.title.clear();
  info.metadata.clear();
}

// A root-owned program outside a VM's cgroup was most likely found by its command line: keeps that
// evidence.
void give_evidence(VmState& vm) {
  if (vm.evidence) return;
  const bool is_scope = !vm.info.unit || recognise_cgroup(*vm.info.unit).kind == CgroupKind::kVirtualMachine;
  vm.evidence = is_scope ? VmEvidence::kScope : VmEvidence::kCommandLine;
}

}  // namespace

void give_owners(LedgerState& state) {
  for (UnitState& unit : state.units) {
    if (!unit.owner) unit.owner = owner_of(unit.id);
  }
  Containers containers(state.containers);
  containers.give_owners();
  std::set<std::string> taken;
  for (const VmState& vm : state.vms) taken.insert(vm.info.id);
  for (VmState& vm : state.vms) {
    give_owner(vm, containers, taken);
    give_evidence(vm);
  }
}

}  // namespace keplerd
