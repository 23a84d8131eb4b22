// SPDX-License-Identifier: Apache-2.0
#include "ledger/machine_ledger.h"

#include <algorithm>
#include <utility>

#include "ledger/container_ledger.h"

namespace keplerd {
namespace {

// A machine's cgroup is there before its hypervisor has been started in it.
constexpr int kWindowsBeforeGuess = 3;

// Where a machine is: the unit that is its own, or that its process is in; null outside any.
void locate(MachineInfo& info, const UnitAccount* unit) {
  info.unit.reset();
  info.container.reset();
  if (unit == nullptr) return;
  info.unit = unit->info->id;
  if (unit->container != nullptr && !unit->container->info->is_pod)
    info.container = unit->container->info->id;
}

void relocate(MachineAccount& machine, const UnitAccount* unit) {
  if (unit == nullptr ? !machine.info->unit : machine.info->unit == unit->info->id) return;
  change_info(machine.info, [unit](MachineInfo& info) { locate(info, unit); });
}

// The best name is the one that was given on the command line; then that of its cgroup, which libvirt
// shortens; then what is made of the UUID.
void describe(MachineAccount& machine, const MachineCommand& command, const UnitAccount* unit,
              std::int32_t pid) {
  const CgroupWorkload* const own = unit != nullptr && unit->is_machine() ? unit->workload.get() : nullptr;
  machine.guessed = false;
  machine.name_given = command.name_given;
  machine.number = command.number.empty() && own != nullptr ? own->machine_number : command.number;
  std::string name = command.name;
  if (!command.name_given && own != nullptr && !own->name.empty()) name = own->name;
  change_info(machine.info, [&](MachineInfo& info) {
    if (!name.empty()) info.name = std::move(name);
    info.hypervisor = hypervisor_name(command.hypervisor);
    info.cpu_sockets = command.cpu_sockets;
    info.guest_elsewhere = command.guest_elsewhere;
    info.pid = pid;
    locate(info, unit);
  });
}

}  // namespace

void MachineLedger::apply(const BookedWindow& window, const std::vector<FoundMachine>& found,
                          const UnitLedger& units, ProcessLedger& processes) {
  drop_ended(window);
  for (const UnitAccount* const unit : units.current()) {
    if (!unit->is_machine()) continue;
    if (group_of(unit->parent) != nullptr) continue;  // inside a machine's: counted there already
    groups_.try_emplace(unit).first->second.unit = unit;
  }
  for (const FoundMachine& machine : found) take(machine, window, units);
  bind_groups(processes);
  guess(window, units);
  book(window, processes);
  divide(window, units);
  tell_units(units);
  for (const FoundMachine& machine : found) {
    const ProcessId id = window.usage.processes[machine.process].id;
    processes.set_machine(id, by_process_.at(id)->info);
  }
}

void MachineLedger::drop_ended(const BookedWindow& window) {
  for (auto entry = groups_.begin(); entry != groups_.end();) {
    const bool ended = entry->first->energy.ended.has_value();
    if (ended && entry->second.machine != nullptr) --entry->second.machine->groups;
    entry = ended ? groups_.erase(entry) : std::next(entry);
  }
  if (by_process_.empty()) return;
  for (const ProcessId id : window.usage.ended) {
    const auto known = by_process_.find(id);
    if (known == by_process_.end()) continue;
    std::erase(known->second->processes, id);
    by_process_.erase(known);
  }
}

// Gives a machine that was found its account.
void MachineLedger::take(const FoundMachine& found, const BookedWindow& window, const UnitLedger& units) {
  const ProcessUsage& process = window.usage.processes[found.process];
  const auto known = by_process_.find(process.id);
  if (known != by_process_.end()) {
    if (!known->second->guessed) return;  // it has changed its comm only
    give_up_guess(*known->second);
  }
  const UnitAccount* const unit = units.of_group(process.group);
  const Group* const group = group_of(unit);
  MachineAccount* machine = running_in(process, found.command, group);
  if (machine == nullptr) {
    machine = &account_of(process, found.command, window.now);
    describe(*machine, found.command, group == nullptr ? unit : group->unit, process.id.pid);
  }
  add_process(*machine, process.id);
}

void MachineLedger::give_up_guess(MachineAccount& machine) {
  for (const ProcessId id : std::exchange(machine.processes, {})) by_process_.erase(id);
}

void MachineLedger::add_process(MachineAccount& machine, ProcessId id) {
  machine.energy.ended.reset();
  machine.processes.push_back(id);
  by_process_[id] = &machine;
}

// The machine that this process is a part of although it looks like one itself: a fork of its hypervisor
// (-daemonize, async-teardown), or another hypervisor in its own cgroup.
MachineAccount* MachineLedger::running_in(const ProcessUsage& process, const MachineCommand& command,
                                          const Group* group) {
  for (const auto& [id, machine] : by_process_) {
    const bool forked = id.pid == process.parent && machine->info->uuid.value_or("") == command.uuid;
    if (forked) return machine;
  }
  return group != nullptr && group->is_taken() ? group->machine : nullptr;
}

MachineAccount& MachineLedger::account_of(const ProcessUsage& process, const MachineCommand& command,
                                          Realtime now) {
  std::string id = command.uuid;
  if (!id.empty()) {
    // Two may run with one UUID; it is the first's.
    const auto known = accounts_.find(id);
    if (known != accounts_.end() && !known->second.processes.empty()) id.clear();
  }
  if (id.empty()) id = process_id_text(process.id);
  const auto [entry, is_new] = accounts_.try_emplace(id);
  if (is_new) {
    auto info = std::make_shared<MachineInfo>();
    info->id = info->name = id;
    if (!command.uuid.empty()) info->uuid = command.uuid;
    entry->second.info = std::move(info);
    entry->second.energy.since = now;
  }
  return entry->second;
}

// A process may have been moved into the cgroup of its machine after it was found.
void MachineLedger::bind_groups(const ProcessLedger& processes) {
  for (const auto& [id, machine] : by_process_) {
    const auto process = processes.all().find(id);
    if (process == processes.all().end()) continue;
    Group* const group = group_of(process->second.unit);
    if (group != nullptr && !group->is_taken()) bind(*group, *machine);
  }
}

void MachineLedger::bind(Group& group, MachineAccount& machine) {
  if (group.machine == &machine) return;
  if (group.machine != nullptr) {
    --group.machine->groups;
    if (group.machine->guessed) give_up_guess(*group.machine);
  }
  group.machine = &machine;
  ++machine.groups;
  machine.energy.ended.reset();
  machine.energy.add_total(std::exchange(group.pending, EnergyAccount{}));
  relocate(machine, group.unit);
}

// A cgroup that must be a machine's, but nobody in it says which: its oldest process stands for it.
void MachineLedger::guess(const BookedWindow& window, const UnitLedger& units) {
  std::map<Group*, const ProcessUsage*> oldest;
  const bool wanted = std::ranges::any_of(groups_, [](const auto& entry) {
    return entry.second.machine == nullptr && entry.second.windows >= kWindowsBeforeGuess;
  });
  if (!wanted) return;
  for (const ProcessUsage& process : window.usage.processes) {
    Group* const group = group_of(units.of_group(process.group));
    if (group == nullptr || group->machine != nullptr || group->windows < kWindowsBeforeGuess) continue;
    if (process.kernel_thread || by_process_.contains(process.id)) continue;
    const ProcessUsage*& known = oldest[group];
    if (known == nullptr || process.id.start < known->id.start) known = &process;
  }
  for (const auto& [group, process] : oldest) {
    MachineCommand command;
    command.hypervisor = group->unit->workload->hypervisor.value_or(Hypervisor::kKvm);
    MachineAccount& machine = account_of(*process, command, window.now);
    describe(machine, command, group->unit, process->id.pid);
    machine.guessed = true;
    add_process(machine, process->id);
    bind(*group, machine);
  }
}

void MachineLedger::book(const BookedWindow& window, const ProcessLedger& processes) {
  for (auto& [unit, group] : groups_) {
    EnergyAccount& account = group.machine == nullptr ? group.pending : group.machine->energy;
    account.add_window(window.sequence, unit->energy);
    ++group.windows;
  }
  for (const auto& [id, machine] : by_process_) {
    const auto process = processes.all().find(id);
    if (process == processes.all().end() || group_of(process->second.unit) != nullptr) continue;
    relocate(*machine, process->second.unit);
    machine->energy.add_window(window.sequence, process->second.energy);
  }
  for (auto& [id, machine] : accounts_) {
    const bool runs = machine.groups > 0 || !machine.processes.empty();
    if (!runs && !machine.energy.ended) machine.energy.ended = window.now;
  }
}

// What each machine got in this window, among its parts.
void MachineLedger::divide(const BookedWindow& window, const UnitLedger& units) {
  std::map<MachineAccount*, std::map<std::string, Nanoseconds, PartOrder>> by_group, by_thread;
  for (const PartUsage& part : window.usage.parts) {
    if (part.group == kNoGroup) {
      const auto process = by_process_.find(part.process);
      if (process != by_process_.end())
        by_thread[process->second][machine_part_of_thread(part.name)] += part.time;
    } else if (const Group* const group = group_of(units.of_group(part.group));
               group != nullptr && group->machine != nullptr) {
      by_group[group->machine][machine_part_of_cgroup(part.name)] += part.time;
    }
  }
  for (auto& [machine, times] : by_group) {
    by_thread.erase(machine);  // the same time again
    divide_one(*machine, times, window);
  }
  for (auto& [machine, times] : by_thread) {
    // QEMU names its threads only where it is told to: without, all would be the emulator's.
    const bool named = std::ranges::any_of(times, [](const auto& part) { return is_vcpu(part.first); });
    if (named) divide_one(*machine, times, window);
  }
}

void MachineLedger::divide_one(MachineAccount& machine, std::map<std::string, Nanoseconds, PartOrder>& times,
                               const BookedWindow& window) {
  const auto vcpus =
      static_cast<int>(std::ranges::count_if(times, [](const auto& part) { return is_vcpu(part.first); }));
  if (machine.info->vcpus != vcpus) {
    change_info(machine.info, [vcpus](MachineInfo& info) { info.vcpus = vcpus; });
  }
  std::vector<Nanoseconds> weights;
  Nanoseconds known{0};
  for (const auto& [name, time] : times) {
    machine.parts.try_emplace(name);
    weights.push_back(time);
    known += time;
  }
  const bool moved = machine.energy.sequence == window.sequence;
  weights.push_back(std::max((moved ? machine.energy.window_cpu : Nanoseconds{0}) - known, Nanoseconds{0}));
  if (known == Nanoseconds{0}) return;
  std::vector<Microjoules> shares(weights.size());
  apportioner_.apportion(machine.energy.window_energy(window.sequence, window.standings), weights, shares);
  std::size_t i = 0;
  for (const auto& [name, time] : times) machine.parts[name] += shares[i++];
}

void MachineLedger::tell_units(const UnitLedger& units) {
  if (accounts_.empty()) return;
  for (UnitAccount* const unit : units.current()) {
    unit->machine = unit->parent == nullptr ? nullptr : unit->parent->machine;
    if (!unit->is_machine()) continue;
    const auto group = groups_.find(unit);
    if (group != groups_.end()) unit->machine = group->second.machine;
  }
}

// The nearest machine's cgroup that `unit` is or is inside of.
MachineLedger::Group* MachineLedger::group_of(const UnitAccount* unit) {
  if (groups_.empty()) return nullptr;
  for (; unit != nullptr; unit = unit->parent) {
    const auto group = groups_.find(unit);
    if (group != groups_.end()) return &group->second;
  }
  return nullptr;
}

void MachineLedger::prune(const TerminatedLimits& limits, const std::vector<ZoneWindow>& windows,
                          Realtime now, const UnitLedger& units) {
  std::vector<Ended<const MachineAccount>> ended;
  for (const auto& [id, machine] : accounts_) {
    if (machine.energy.ended)
      ended.push_back({&machine, machine.energy.energy(windows), *machine.energy.ended});
  }
  const auto gone = overdue(std::move(ended), limits, now);
  if (gone.empty()) return;
  for (const auto& [id, unit] : units.all()) {
    if (std::ranges::find(gone, unit->machine) != gone.end()) unit->machine = nullptr;
  }
  for (const MachineAccount* const machine : gone) accounts_.erase(std::string(machine->info->id));
}

MachineAccount& MachineLedger::restore(MachineInfo info) {
  MachineAccount& machine = accounts_[info.id];
  machine.info = std::make_shared<const MachineInfo>(std::move(info));
  return machine;
}

void MachineLedger::rename(MachineAccount& machine, const std::string& name) {
  if (machine.name_given || machine.info->name == name) return;
  change_info(machine.info, [&](MachineInfo& info) { info.name = name; });
}

}  // namespace keplerd
