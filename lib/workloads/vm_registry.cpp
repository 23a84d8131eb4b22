// SPDX-License-Identifier: Apache-2.0
#include "workloads/vm_registry.h"

#include <algorithm>
#include <utility>

namespace keplerd {
namespace {

// A VM's cgroup exists before its hypervisor is started in it.
constexpr int kWindowsBeforeGuess = 3;

// Helpers are remembered even if their VM is unknown: they are started before it.
constexpr std::size_t kMostHelpers = 10'000;
constexpr std::size_t kMostHelpersOfUser = 100;  // of an ordinary one, so that there is room for others

bool is_guess(const Vm& vm) { return vm.evidence == VmEvidence::kGuess; }

bool shares_socket(const VmCommand& command, const HelperCommand& helper) {
  return std::ranges::any_of(command.helper_sockets, [&](const std::string& socket) {
    return std::ranges::find(helper.paths, socket) != helper.paths.end();
  });
}

}  // namespace

void VmRegistry::update(const VmSample& sample, const VmSurroundings& surroundings) {
  renamed_.clear();
  refused_.clear();
  ++updates_;
  follow_scopes(sample);
  drop_ended(sample);
  for (const FoundVm& found : sample.found.vms)
    take(sample.processes[found.process], found.command, surroundings);
  follow(surroundings);
  guess(surroundings);
  drop_empty();
  take_helpers(sample, surroundings);
  for (std::size_t i = 0; i < running_.size(); ++i) running_[i]->index = i;
}

const Vm* VmRegistry::of_process(ProcessId process) const {
  const auto known = by_process_.find(process);
  return known == by_process_.end() ? nullptr : known->second;
}

const Vm* VmRegistry::of_scope(VmScopeKey scope) const {
  const auto known = scopes_.find(scope);
  return known == scopes_.end() ? nullptr : known->second.vm;
}

void VmRegistry::follow_scopes(const VmSample& sample) {
  for (const VmScope& scope : sample.scopes) {
    const auto [entry, is_new] = scopes_.try_emplace(scope.key);
    ++entry->second.windows;
    entry->second.seen = updates_;
    if (!is_new) continue;
    entry->second.claimant = scope.claimant;
    entry->second.hypervisor = scope.workload->hypervisor.value_or(Hypervisor::kKvm);
  }
  if (scopes_.size() == sample.scopes.size()) return;
  std::erase_if(scopes_, [this](const auto& entry) {
    const bool gone = entry.second.seen != updates_;
    if (gone && entry.second.vm != nullptr) leave(*entry.second.vm, entry.first);
    return gone;
  });
}

// Removes VMs with nothing left before others are found: a successor may have the same id.
void VmRegistry::drop_ended(const VmSample& sample) {
  if (!by_process_.empty() || !helpers_.empty()) {
    for (const ProcessId id : sample.ended) {
      drop_helper(id);
      const auto known = by_process_.find(id);
      if (known == by_process_.end()) continue;
      std::erase(known->second->processes, id);
      by_process_.erase(known);
    }
  }
  drop_empty();
}

void VmRegistry::take(const ProcessUsage& process, const VmCommand& command,
                      const VmSurroundings& surroundings) {
  if (const auto known = by_process_.find(process.id); known != by_process_.end()) {
    if (!is_guess(*known->second)) return;  // only its comm has changed
    drop_guess(*known->second);
  }
  const auto place = surroundings.place(process.id);
  if (!place) return;
  const Identity identity = identify(process.id, command.uuid, *place, surroundings);
  Vm* vm = joined_by(process, identity, place->scope);
  if (vm == nullptr) {
    vm = &create(process.id, command, identity);
    vm->user = place->user;
  }
  add_process(*vm, process.id);
  bind_to(place->scope, *vm);
}

// The evidence for a process that claims that its VM has this UUID. libvirt runs nothing in
// containers.
VmRegistry::Identity VmRegistry::identify(ProcessId process, const std::string& uuid, const VmPlace& place,
                                          const VmSurroundings& surroundings) const {
  Identity identity{VmEvidence::kCommandLine, place.claimant, uuid};
  if (const auto scope = scopes_.find(place.scope); scope != scopes_.end()) {
    identity.evidence = VmEvidence::kScope;
    identity.claimant = scope->second.claimant;
  }
  if (!identity.claimant.container.empty()) return identity;
  if (const auto record = surroundings.record(process)) {
    identity.evidence = VmEvidence::kRecord;
    identity.claimant = {};
    identity.uuid = record->uuid;
  }
  return identity;
}

// The VM that this process is part of although it looks like one itself: a fork of its hypervisor
// (-daemonize, async-teardown), or another hypervisor in its scope. A guess is replaced.
Vm* VmRegistry::joined_by(const ProcessUsage& process, const Identity& identity, VmScopeKey scope) const {
  for (auto entry = by_process_.lower_bound({process.parent, 0});
       entry != by_process_.end() && entry->first.pid == process.parent; ++entry) {
    Vm& vm = *entry->second;
    if (!is_guess(vm) && vm.uuid == identity.uuid && vm.claimant == identity.claimant) return &vm;
  }
  const auto known = scopes_.find(scope);
  return known != scopes_.end() && is_taken(known->second) ? known->second.vm : nullptr;
}

// Whether a running hypervisor occupies the scope.
bool VmRegistry::is_taken(const Scope& scope) const {
  return scope.vm != nullptr && !is_guess(*scope.vm) && !scope.vm->processes.empty();
}

Vm& VmRegistry::create(ProcessId process, const VmCommand& command, const Identity& identity) {
  auto vm = std::make_unique<Vm>();
  vm->number = ++numbers_;
  vm->described = ++descriptions_;
  vm->claimant = identity.claimant;
  vm->evidence = identity.evidence;
  vm->uuid = identity.uuid;
  vm->command = command;
  vm->process = process;
  vm->id = assign_id(identity, process, nullptr);
  inherit_scopes(*vm);
  return *running_.emplace_back(std::move(vm));
}

// An id is bound to its first owner, with the best evidence seen. Root's evidence takes precedence over the
// claims of other owners of bare ids, the system's users: it takes over the id, and their account continues
// under another one.
std::string VmRegistry::assign_id(const Identity& identity, ProcessId process, const Vm* self) {
  const Uid owner = identity.claimant.owner;
  const auto own = [&](std::string id) {
    ids_.bind(id, owner, identity.evidence);
    return id;
  };
  const std::string by_process =
      ids_.free_for(owner, claimed_id(identity.claimant, process_id_text(process)));
  if (identity.uuid.empty()) return own(by_process);

  const auto refuse = [&] { refused_.push_back({.id = identity.uuid, .claimant = identity.claimant}); };
  const std::string id = claimed_id(identity.claimant, identity.uuid);
  const bool is_self = self != nullptr && self->id == id;
  if (!is_self && ids_.is_anothers(id, owner)) {
    if (owner == kRootUser) {
      rename_account(id);
      return own(id);
    }
    refuse();
    const std::string apart = ids_.free_for(owner, disambiguated_id(owner, id));
    return own(running_as(apart, self) == nullptr ? apart : by_process);
  }
  Vm* const running = running_as(id, self);
  const bool is_weaker = !is_self && ids_.has_better(id, identity.evidence);
  if (is_weaker || ids_.is_anothers(identity.uuid, owner)) refuse();
  if (is_weaker || (running != nullptr && running->evidence >= identity.evidence)) return own(by_process);
  if (running != nullptr) give_way(*running);
  return own(id);
}

// Yields the id to a VM of the same owner with better evidence.
void VmRegistry::give_way(Vm& vm) {
  vm.id = ids_.free_for(vm.claimant.owner, claimed_id(vm.claimant, process_id_text(vm.process)));
  vm.described = ++descriptions_;
  ids_.bind(vm.id, vm.claimant.owner, vm.evidence);
}

void VmRegistry::rename_account(const std::string& id) {
  std::string other = ids_.rename(id);
  if (Vm* const running = running_as(id, nullptr)) running->id = other;
  renamed_.emplace_back(id, std::move(other));
}

// A VM without a process is about to end, or to be started again.
Vm* VmRegistry::running_as(std::string_view id, const Vm* other_than) const {
  for (const auto& vm : running_) {
    if (vm->id == id && vm.get() != other_than && !vm->processes.empty()) return vm.get();
  }
  return nullptr;
}

void VmRegistry::inherit_scopes(Vm& vm) {
  for (const auto& other : running_) {
    if (other.get() == &vm || other->id != vm.id || !other->processes.empty()) continue;
    for (const VmScopeKey key : std::exchange(other->scopes, {})) {
      scopes_.at(key).vm = &vm;
      vm.scopes.push_back(key);
    }
  }
}

void VmRegistry::add_process(Vm& vm, ProcessId process) {
  drop_helper(process);  // it would be counted twice
  vm.processes.push_back(process);
  by_process_[process] = &vm;
}

void VmRegistry::drop_guess(Vm& vm) {
  for (const ProcessId id : std::exchange(vm.processes, {})) by_process_.erase(id);
}

// A guess ceases to exist without its scope.
void VmRegistry::leave(Vm& vm, VmScopeKey scope) {
  std::erase(vm.scopes, scope);
  if (is_guess(vm)) drop_guess(vm);
}

// Unless the scope is unknown, or occupied by a running hypervisor.
void VmRegistry::bind_to(VmScopeKey key, Vm& vm) {
  const auto scope = scopes_.find(key);
  if (scope == scopes_.end() || scope->second.vm == &vm || is_taken(scope->second)) return;
  if (scope->second.vm != nullptr) leave(*scope->second.vm, key);
  scope->second.vm = &vm;
  vm.scopes.push_back(key);
}

// A process may be moved into its scope, or be recorded, after it was found.
void VmRegistry::follow(const VmSurroundings& surroundings) {
  for (const auto& vm : running_) {
    for (const ProcessId id : vm->processes) {
      const auto place = surroundings.place(id);
      if (!place) continue;
      if (id == vm->process) vm->user = place->user;
      if (is_guess(*vm)) continue;
      bind_to(place->scope, *vm);
      if (vm->evidence == VmEvidence::kRecord) continue;
      Identity identity = identify(id, vm->uuid, *place, surroundings);
      if (identity.evidence > vm->evidence) promote(*vm, std::move(identity));
    }
  }
}

// Energy counted under its earlier id stays there.
void VmRegistry::promote(Vm& vm, Identity identity) {
  std::string id = assign_id(identity, vm.process, &vm);
  vm.evidence = identity.evidence;
  vm.claimant = std::move(identity.claimant);
  vm.uuid = std::move(identity.uuid);
  if (std::exchange(vm.id, std::move(id)) == vm.id) return;
  vm.described = ++descriptions_;
  inherit_scopes(vm);
}

// A scope that must be a VM's, with no process that says which: its oldest process stands for it.
void VmRegistry::guess(const VmSurroundings& surroundings) {
  std::set<VmScopeKey> wanted;
  for (const auto& [key, scope] : scopes_) {
    if (scope.vm == nullptr && scope.windows > kWindowsBeforeGuess) wanted.insert(key);
  }
  if (wanted.empty()) return;
  for (const auto& [key, process] : surroundings.oldest_in(wanted)) {
    if (by_process_.contains(process)) continue;
    const Scope& scope = scopes_.at(key);
    VmCommand command;
    command.hypervisor = scope.hypervisor;
    Vm& vm = create(process, command, {VmEvidence::kGuess, scope.claimant, {}});
    add_process(vm, process);
    bind_to(key, vm);
  }
}

// Helpers without a VM, or of one that has ended, may belong to one that was just found.
void VmRegistry::take_helpers(const VmSample& sample, const VmSurroundings& surroundings) {
  for (const FoundHelper& found : sample.found.helpers) {
    const ProcessId id = sample.processes[found.process].id;
    const auto place = surroundings.place(id);
    if (!place || by_process_.contains(id) || helpers_.size() >= kMostHelpers) continue;
    drop_helper(id);  // it may have belonged to another user
    const Uid owner = place->claimant.owner;
    if (is_ordinary_user(owner) && helpers_of_users_[owner] >= kMostHelpersOfUser) continue;
    ++helpers_of_users_[owner];
    helpers_[id] = {found.command, place->claimant, nullptr};
  }
  if (sample.found.helpers.empty() && sample.found.vms.empty()) return;
  for (auto& [id, helper] : helpers_) {
    if (helper.vm == nullptr) helper.vm = vm_of(id, helper, surroundings);
  }
}

// The VM named by its arguments, with the best evidence. The helper must be root's, the VM's own user's, or
// recorded by libvirt; an ordinary user sees a VM's energy, so that user's VM accepts only the user's own
// helpers.
const Vm* VmRegistry::vm_of(ProcessId process, const Helper& helper, const VmSurroundings& surroundings) {
  const Vm* best = nullptr;
  for (const auto& vm : running_) {
    const bool is_named = (!helper.command.uuid.empty() && vm->uuid == helper.command.uuid) ||
                          shares_socket(vm->command, helper.command);
    if (!is_named) continue;
    const Uid user = helper.claimant.owner;
    bool may = helper.claimant.container == vm->claimant.container;
    if (is_ordinary_user(vm->claimant.owner)) {
      may = may && user == vm->claimant.owner;
    } else if (user != kRootUser && user != vm->user) {
      may = may && surroundings.is_recorded_helper(process);
    }
    if (!may) {
      refused_.push_back({.id = vm->id, .claimant = helper.claimant, .is_helper = true});
    } else if (best == nullptr || vm->evidence > best->evidence) {
      best = vm.get();
    }
  }
  return best;
}

void VmRegistry::drop_helper(ProcessId process) {
  const auto helper = helpers_.find(process);
  if (helper == helpers_.end()) return;
  --helpers_of_users_[helper->second.claimant.owner];
  helpers_.erase(helper);
}

// Helpers outlive their VM: clears their pointers, as memory may be reused for another one.
void VmRegistry::drop_empty() {
  const auto is_empty = [](const Vm& vm) { return vm.processes.empty() && vm.scopes.empty(); };
  if (std::ranges::none_of(running_, [&](const auto& vm) { return is_empty(*vm); })) return;
  for (auto& [id, helper] : helpers_) {
    if (helper.vm != nullptr && is_empty(*helper.vm)) helper.vm = nullptr;
  }
  std::erase_if(running_, [&](const auto& vm) { return is_empty(*vm); });
}

}  // namespace keplerd
