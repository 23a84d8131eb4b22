// SPDX-License-Identifier: Apache-2.0
#include "ledger/vm_ledger.h"

#include <algorithm>
#include <utility>

namespace keplerd {

void VmLedger::apply(const BookedWindow& window, const VmRegistry& registry, const UnitLedger& units,
                     ProcessLedger& processes) {
  rename(registry);
  follow(window, registry, units, processes);
  book(window, registry, processes);
  divide_all(window, registry, units, processes);
  tell_ends(window.now);
  mark_units(registry, units);
  mark_processes(registry, processes);
}

void VmLedger::rename(const VmRegistry& registry) {
  for (const auto& [from, to] : registry.renamed()) {
    auto node = accounts_.extract(from);
    if (node.empty()) continue;
    node.key() = to;
    const std::string& id = to;
    change_info(node.mapped().info, [&id](MachineInfo& info) { info.id = id; });
    accounts_.insert(std::move(node));
  }
}

// Gives each VM that runs its account.
void VmLedger::follow(const BookedWindow& window, const VmRegistry& registry, const UnitLedger& units,
                      const ProcessLedger& processes) {
  scopes_.clear();
  for (UnitAccount* const unit : units.current())
    if (unit->vm_scope == unit) scopes_.emplace(unit->incarnation, unit);
  std::erase_if(pending_, [this](const auto& entry) { return !scopes_.contains(entry.first); });
  running_.clear();
  for (auto& [id, machine] : accounts_) machine.vm = nullptr;
  if (known_.size() > registry.running().size() * 2) known_.clear();
  for (const auto& vm : registry.running()) {
    VmAccount& machine = find_account(*vm, window.now);
    // Its end was within this window, and is no event yet.
    if (machine.told_running && machine.number != vm->number && !first_window_)
      tell_end_or_start(machine, window.now);
    machine.vm = vm.get();
    machine.energy.ended.reset();
    machine.energy.owner = vm->claimant.owner;
    running_.push_back(&machine);
    const UnitAccount* const unit = unit_of(*vm, processes);
    if (std::exchange(machine.described, vm->described) != vm->described || machine.number != vm->number)
      keplerd::describe(machine, *vm, unit);
    machine.number = vm->number;
    relocate(machine, unit);
  }
}

// An id that is given away or bound anew is a new description, too; an account that is renamed stays where it
// is.
VmAccount& VmLedger::find_account(const Vm& vm, Realtime now) {
  Known& known = known_[vm.number];
  if (known.account != nullptr && known.described == vm.described) return *known.account;
  const auto [entry, is_new] = accounts_.try_emplace(vm.id);
  if (is_new) {
    auto info = std::make_shared<MachineInfo>();
    info->id = info->name = vm.id;
    entry->second.info = std::move(info);
    entry->second.energy.since = now;
  }
  known = {&entry->second, vm.described};
  return entry->second;
}

// Its scope, else the unit that its process is in; null outside any.
const UnitAccount* VmLedger::unit_of(const Vm& vm, const ProcessLedger& processes) const {
  if (!vm.scopes.empty()) {
    const auto scope = scopes_.find(vm.scopes.back());
    if (scope != scopes_.end()) return scope->second;
  }
  const auto process = processes.all().find(vm.process);
  return process == processes.all().end() ? nullptr : process->second.unit;
}

void VmLedger::book(const BookedWindow& window, const VmRegistry& registry, const ProcessLedger& processes) {
  for (const auto& [key, unit] : scopes_) {
    VmAccount* const machine = account_of(registry.of_scope(key));
    if (machine == nullptr) {
      pending_[key].add_window(window.sequence, unit->energy);
      continue;
    }
    if (const auto waiting = pending_.find(key); waiting != pending_.end()) {
      machine->energy.add_total(waiting->second);
      pending_.erase(waiting);
    }
    machine->energy.add_window(window.sequence, unit->energy);
  }
  for (VmAccount* const machine : running_) {
    for (const ProcessId id : machine->vm->processes) book_process(window, processes, id, *machine);
  }
  for (const auto& [id, helper] : registry.helpers()) {
    if (VmAccount* const machine = account_of(helper.vm)) book_process(window, processes, id, *machine);
  }
}

// Unless a VM's scope has counted it.
void VmLedger::book_process(const BookedWindow& window, const ProcessLedger& processes, ProcessId id,
                            VmAccount& machine) {
  const auto process = processes.all().find(id);
  if (process == processes.all().end()) return;
  const UnitAccount* const unit = process->second.unit;
  if (unit == nullptr || unit->vm_scope == nullptr)
    machine.energy.add_window(window.sequence, process->second.energy);
}

// What each VM got in this window, among its parts.
void VmLedger::divide_all(const BookedWindow& window, const VmRegistry& registry, const UnitLedger& units,
                          const ProcessLedger& processes) {
  std::map<VmAccount*, PartTimes> by_group, by_thread;
  for (const PartUsage& part : window.usage.parts) {
    if (part.group == kNoGroup) {
      if (VmAccount* const machine = account_of(registry.of_process(part.process)))
        by_thread[machine][part_of_thread(part, *machine)] += part.time;
      continue;
    }
    const UnitAccount* const unit = units.of_group(part.group);
    if (unit == nullptr || unit->vm_scope == nullptr) continue;
    if (VmAccount* const machine = account_of(registry.of_scope(unit->vm_scope->incarnation)))
      by_group[machine][machine_part_of_cgroup(part.name)] += part.time;
  }
  std::erase_if(by_thread, [&](const auto& entry) {
    if (by_group.contains(entry.first)) return true;  // the same time again
    // QEMU names its threads only where it is told to: without, all would be the emulator's.
    return std::ranges::none_of(entry.second, [](const auto& part) { return is_vcpu(part.first); });
  });
  by_group.merge(by_thread);
  for (const auto& [id, helper] : registry.helpers()) {
    const auto machine = by_group.find(account_of(helper.vm));
    const auto process = processes.all().find(id);
    if (machine == by_group.end() || process == processes.all().end()) continue;
    const EnergyAccount& account = process->second.energy;
    const UnitAccount* const unit = process->second.unit;
    const bool inside = unit != nullptr && unit->vm_scope != nullptr;  // the emulator's, or its own thread's
    if (!inside && account.sequence == window.sequence)
      machine->second[helper.command.program] += account.window_cpu;
  }
  for (const auto& [machine, times] : by_group) divide(*machine, times, window, apportioner_);
}

std::string VmLedger::part_of_thread(const PartUsage& part, const VmAccount& machine) const {
  if (machine.status) {
    const auto& threads = machine.status->vcpu_threads;
    const auto vcpu = threads.find(part.thread);
    if (vcpu != threads.end()) return "vcpu" + std::to_string(vcpu->second);
  }
  return machine_part_of_thread(part.name);
}

void VmLedger::tell_ends(Realtime now) {
  for (auto& [id, machine] : accounts_) {
    const bool runs = machine.runs();
    if (!runs && !machine.energy.ended) machine.energy.ended = now;
    if (runs == machine.told_running) continue;
    if (first_window_ && runs) {
      machine.told_running = true;
      continue;
    }
    const bool reason_may_come =
        end_reasons_expected_ && machine.status && !machine.status->of_session && !machine.end_reason;
    if (!runs && reason_may_come && machine.windows_since_end++ == 0) continue;
    tell_end_or_start(machine, now);
  }
  first_window_ = false;
}

void VmLedger::tell_end_or_start(VmAccount& machine, Realtime now) {
  machine.windows_since_end = 0;
  machine.told_running = !machine.told_running;
  auto reason = machine.told_running ? std::nullopt : std::exchange(machine.end_reason, std::nullopt);
  events_.tell(*machine.info, machine.energy.owner, machine.told_running ? "started" : "stopped",
               std::move(reason), now);
  machine.starting = machine.told_running;
  if (!machine.told_running) keplerd::describe(machine, nullptr);
}

void VmLedger::describe(VmAccount& machine, std::shared_ptr<const LibvirtStatus> status, Realtime now) {
  const std::string before = machine.info->guest_state;
  keplerd::describe(machine, std::move(status));
  const std::string& state = machine.info->guest_state;
  if (state.empty() || before == state) return;
  const std::string& reason = machine.status->reason;
  const bool starting = std::exchange(machine.starting, false);
  const bool goes_on = state == "running" && reason != "booted";  // each boots paused, then runs
  if (before.empty() && !(starting && goes_on)) return;
  if (state == "running" && !goes_on) return;
  const std::string event = state == "running" ? "resumed" : state == "shutdown" ? "shutting-down" : state;
  events_.tell(*machine.info, machine.energy.owner, event,
               reason.empty() ? std::nullopt : std::optional(reason), now);
}

void VmLedger::note_end(std::string_view id, const std::string& reason) {
  const auto machine = accounts_.find(id);
  if (machine != accounts_.end() && machine->second.told_running) machine->second.end_reason = reason;
}

void VmLedger::mark_units(const VmRegistry& registry, const UnitLedger& units) {
  if (accounts_.empty()) return;
  for (UnitAccount* const unit : units.current())
    unit->vm =
        unit->vm_scope == nullptr ? nullptr : account_of(registry.of_scope(unit->vm_scope->incarnation));
}

// Once for each change: rows of processes hold on to what they were given.
void VmLedger::mark_processes(const VmRegistry& registry, ProcessLedger& processes) {
  for (VmAccount* const machine : running_) {
    const std::vector<ProcessId>& ids = machine->vm->processes;
    if (machine->shown == machine->info && machine->shown_to == ids.size()) continue;
    machine->shown = machine->info;
    machine->shown_to = ids.size();
    for (const ProcessId id : ids) processes.set_machine(id, machine->info);
  }
  for (const auto& [id, helper] : registry.helpers()) {
    if (const VmAccount* const machine = account_of(helper.vm)) processes.set_machine(id, machine->info);
  }
}

void VmLedger::prune(const TerminatedLimits& limits, const std::vector<ZoneWindow>& windows, Realtime now,
                     const UnitLedger& units, VmRegistry& registry) {
  std::vector<Ended<const VmAccount>> ended;
  for (const auto& [id, machine] : accounts_) {
    if (machine.energy.ended && !machine.runs())
      ended.push_back({&machine, machine.energy.energy(windows), *machine.energy.ended});
  }
  const auto gone = overdue(std::move(ended), limits, now);
  if (gone.empty()) return;
  for (const auto& [id, unit] : units.all()) {
    if (std::ranges::find(gone, unit->vm) != gone.end()) unit->vm = nullptr;
  }
  for (const VmAccount* const machine : gone) {
    const std::string id = machine->info->id;
    registry.forget(id);
    accounts_.erase(id);
  }
}

VmAccount& VmLedger::restore(MachineInfo info) {
  VmAccount& machine = accounts_[info.id];
  machine.info = std::make_shared<const MachineInfo>(std::move(info));
  return machine;
}

}  // namespace keplerd
