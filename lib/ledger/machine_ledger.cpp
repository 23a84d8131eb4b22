// SPDX-License-Identifier: Apache-2.0
#include "ledger/machine_ledger.h"

#include <algorithm>
#include <utility>

namespace keplerd {
namespace {

// A machine's cgroup is there before its hypervisor has been started in it.
constexpr int kWindowsBeforeGuess = 3;

constexpr std::size_t kMostHelpers = 10'000;

bool shares_socket(const MachineAccount& machine, const HelperCommand& helper) {
  return std::ranges::any_of(machine.helper_sockets, [&](const std::string& socket) {
    return std::ranges::find(helper.paths, socket) != helper.paths.end();
  });
}

}  // namespace

void MachineLedger::apply(const BookedWindow& window, const FoundMachines& found, const UnitLedger& units,
                          ProcessLedger& processes) {
  drop_ended(window);
  for (const UnitAccount* const unit : units.current()) {
    if (!unit->is_machine()) continue;
    if (group_of(unit->parent) != nullptr) continue;  // inside a machine's: counted there already
    groups_.try_emplace(unit).first->second.unit = unit;
  }
  for (const FoundMachine& machine : found.machines) take(machine, window, units);
  follow_processes(processes);
  guess(window, processes);
  take_helpers(found, window);
  book(window, processes);
  divide_all(window, units, processes);
  tell_ends(window.now);
  tell_units(units);
  tell_processes(found, window, processes);
}

void MachineLedger::drop_ended(const BookedWindow& window) {
  for (auto entry = groups_.begin(); entry != groups_.end();) {
    const bool ended = entry->first->energy.ended.has_value();
    if (ended && entry->second.machine != nullptr) --entry->second.machine->groups;
    entry = ended ? groups_.erase(entry) : std::next(entry);
  }
  if (by_process_.empty() && helpers_.empty()) return;
  for (const ProcessId id : window.usage.ended) {
    helpers_.erase(id);
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
    machine = &account_of(process.id, found.command, window.now);
    // Its end was within this window: nobody has told of it.
    if (machine->told_running && machine->processes.empty()) tell_end_or_start(*machine, window.now);
    keplerd::describe(*machine, found.command, group == nullptr ? unit : group->unit, process.id.pid);
  }
  add_process(*machine, process.id);
}

// Those that are of no machine, or of one that has ended, may be of one that was found just now.
void MachineLedger::take_helpers(const FoundMachines& found, const BookedWindow& window) {
  for (const FoundHelper& helper : found.helpers) {
    if (helpers_.size() >= kMostHelpers) break;
    helpers_[window.usage.processes[helper.process].id] = {helper.command, nullptr};
  }
  if (found.helpers.empty() && found.machines.empty()) return;
  for (auto& [id, helper] : helpers_) {
    if (helper.machine == nullptr || !helper.machine->runs()) helper.machine = machine_of(helper.command);
  }
}

MachineAccount* MachineLedger::machine_of(const HelperCommand& helper) {
  for (auto& [id, machine] : accounts_) {
    if (!machine.runs()) continue;
    const bool by_uuid = !helper.uuid.empty() && machine.info->uuid == helper.uuid;
    if (by_uuid || shares_socket(machine, helper)) return &machine;
  }
  return nullptr;
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

MachineAccount& MachineLedger::account_of(ProcessId process, const MachineCommand& command, Realtime now) {
  std::string id = command.uuid;
  if (!id.empty()) {
    // Two may run with one UUID; it is the first's.
    const auto known = accounts_.find(id);
    if (known != accounts_.end() && !known->second.processes.empty()) id.clear();
  }
  if (id.empty()) id = process_id_text(process);
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
void MachineLedger::follow_processes(const ProcessLedger& processes) {
  for (const auto& [id, machine] : by_process_) {
    const auto process = processes.all().find(id);
    if (process == processes.all().end()) continue;
    if (id.pid == machine->info->pid) machine->user = process->second.info->user;
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
void MachineLedger::guess(const BookedWindow& window, const ProcessLedger& processes) {
  std::map<Group*, ProcessId> oldest;
  const bool wanted = std::ranges::any_of(groups_, [](const auto& entry) {
    return entry.second.machine == nullptr && entry.second.windows >= kWindowsBeforeGuess;
  });
  if (!wanted) return;
  for (const auto& [id, process] : processes.all()) {
    if (process.energy.ended || by_process_.contains(id)) continue;
    Group* const group = group_of(process.unit);
    if (group == nullptr || group->machine != nullptr || group->windows < kWindowsBeforeGuess) continue;
    const auto [known, is_first] = oldest.try_emplace(group, id);
    if (!is_first && id.start < known->second.start) known->second = id;
  }
  for (const auto& [group, id] : oldest) {
    MachineCommand command;
    command.hypervisor = group->unit->workload->hypervisor.value_or(Hypervisor::kKvm);
    MachineAccount& machine = account_of(id, command, window.now);
    keplerd::describe(machine, command, group->unit, id.pid);
    machine.guessed = true;
    add_process(machine, id);
    bind(*group, machine);
  }
}

void MachineLedger::book(const BookedWindow& window, const ProcessLedger& processes) {
  for (auto& [unit, group] : groups_) {
    EnergyAccount& account = group.machine == nullptr ? group.pending : group.machine->energy;
    account.add_window(window.sequence, unit->energy);
    ++group.windows;
  }
  for (const auto& [id, machine] : by_process_) book_process(window, processes, id, *machine);
  for (const auto& [id, helper] : helpers_) {
    if (helper.machine != nullptr && helper.machine->runs())
      book_process(window, processes, id, *helper.machine);
  }
}

// Unless a machine's cgroup has counted it.
void MachineLedger::book_process(const BookedWindow& window, const ProcessLedger& processes, ProcessId id,
                                 MachineAccount& machine) {
  const auto process = processes.all().find(id);
  if (process == processes.all().end() || group_of(process->second.unit) != nullptr) return;
  if (by_process_.contains(id)) relocate(machine, process->second.unit);
  machine.energy.add_window(window.sequence, process->second.energy);
}

// What each machine got in this window, among its parts.
void MachineLedger::divide_all(const BookedWindow& window, const UnitLedger& units,
                               const ProcessLedger& processes) {
  std::map<MachineAccount*, PartTimes> by_group, by_thread;
  for (const PartUsage& part : window.usage.parts) {
    if (part.group == kNoGroup) {
      const auto process = by_process_.find(part.process);
      if (process != by_process_.end())
        by_thread[process->second][part_of_thread(part, *process->second)] += part.time;
    } else if (const Group* const group = group_of(units.of_group(part.group));
               group != nullptr && group->machine != nullptr) {
      by_group[group->machine][machine_part_of_cgroup(part.name)] += part.time;
    }
  }
  std::erase_if(by_thread, [&](const auto& entry) {
    if (by_group.contains(entry.first)) return true;  // the same time again
    // QEMU names its threads only where it is told to: without, all would be the emulator's.
    return std::ranges::none_of(entry.second, [](const auto& part) { return is_vcpu(part.first); });
  });
  by_group.merge(by_thread);
  for (const auto& [id, helper] : helpers_) {
    const auto machine = by_group.find(helper.machine);
    const auto process = processes.all().find(id);
    if (machine == by_group.end() || process == processes.all().end()) continue;
    const EnergyAccount& account = process->second.energy;
    const bool inside = group_of(process->second.unit) != nullptr;  // the emulator's, or its own thread's
    if (!inside && account.sequence == window.sequence)
      machine->second[helper.command.program] += account.window_cpu;
  }
  for (const auto& [machine, times] : by_group) divide(*machine, times, window, apportioner_);
}

std::string MachineLedger::part_of_thread(const PartUsage& part, const MachineAccount& machine) const {
  if (machine.status) {
    const auto& threads = machine.status->vcpu_threads;
    const auto vcpu = threads.find(part.thread);
    if (vcpu != threads.end()) return "vcpu" + std::to_string(vcpu->second);
  }
  return machine_part_of_thread(part.name);
}

void MachineLedger::tell_ends(Realtime now) {
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

void MachineLedger::tell_end_or_start(MachineAccount& machine, Realtime now) {
  machine.windows_since_end = 0;
  machine.told_running = !machine.told_running;
  auto reason = machine.told_running ? std::nullopt : std::exchange(machine.end_reason, std::nullopt);
  events_.tell(*machine.info, machine.told_running ? "started" : "stopped", std::move(reason), now);
  machine.starting = machine.told_running;
  if (!machine.told_running) keplerd::describe(machine, nullptr);
}

void MachineLedger::describe(MachineAccount& machine, std::shared_ptr<const LibvirtStatus> status,
                             Realtime now) {
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
  events_.tell(*machine.info, event, reason.empty() ? std::nullopt : std::optional(reason), now);
}

void MachineLedger::note_end(std::string_view id, const std::string& reason) {
  const auto machine = accounts_.find(id);
  if (machine != accounts_.end() && machine->second.told_running) machine->second.end_reason = reason;
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

void MachineLedger::tell_processes(const FoundMachines& found, const BookedWindow& window,
                                   ProcessLedger& processes) {
  for (const FoundMachine& machine : found.machines) {
    const ProcessId id = window.usage.processes[machine.process].id;
    processes.set_machine(id, by_process_.at(id)->info);
  }
  if (found.helpers.empty() && found.machines.empty()) return;
  for (const auto& [id, helper] : helpers_) {
    if (helper.machine != nullptr) processes.set_machine(id, helper.machine->info);
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
  for (auto& [id, helper] : helpers_) {
    if (std::ranges::find(gone, helper.machine) != gone.end()) helper.machine = nullptr;
  }
  for (const MachineAccount* const machine : gone) accounts_.erase(std::string(machine->info->id));
}

MachineAccount& MachineLedger::restore(MachineInfo info) {
  MachineAccount& machine = accounts_[info.id];
  machine.info = std::make_shared<const MachineInfo>(std::move(info));
  return machine;
}

}  // namespace keplerd
