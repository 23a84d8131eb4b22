// SPDX-License-Identifier: Apache-2.0
#include "ledger/process_ledger.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "ledger/container_ledger.h"

namespace keplerd {
namespace {

std::shared_ptr<const ProcessInfo> make_info(const ProcessUsage& process) {
  return std::make_shared<const ProcessInfo>(
      ProcessInfo{process.id, std::string(process.comm), process.user});
}

// Sets the owner: the process's user; or the container's owner, once it has been in a container of root's or
// the system's, as users inside are not the host's. Not so for ordinary users' containers: a user may be able
// to move others' processes into one.
void set_owner(const ProcessUsage& process, const UnitAccount* unit, const Logins& logins,
               ProcessAccount& account) {
  const auto* const container = unit == nullptr ? nullptr : enclosing_container(unit->container);
  if (container != nullptr && !is_ordinary_user(*container->energy.owner))
    account.container_owner = container->energy.owner;
  account.claims_as = account.container_owner
                          ? *account.container_owner
                          : logins.login_of(claiming_user(process.user, process.real_user));
  account.energy.owner = account.container_owner;
  if (!account.container_owner && process.user) account.energy.owner = logins.login_of(*process.user);
}

}  // namespace

Microjoules ProcessLedger::apply(const BookedWindow& window, const UnitLedger& units, const Logins& logins) {
  Microjoules outside;
  changed_.begin_window();
  if (!saved_.empty()) go_on(window, units, logins, outside);
  for (std::size_t i = 0; i < window.usage.processes.size(); ++i) {
    const ProcessUsage& process = window.usage.processes[i];
    if (process.kernel_thread && process.group == kNoGroup) continue;
    UnitAccount* const unit = units.of_group(process.group);
    ProcessAccount& account = account_of(process, unit, logins, window.now);
    if (account.unit != unit) {
      outside += leave_unit(account);
      account.unit = unit;
    }
    const Nanoseconds time = window.attribution.process_time[i];
    account.energy.add_cpu(window.sequence, time);
    bool has_changed = add_late(window, i, units.grants_late(process.group), account) || time != time.zero();
    for (std::size_t z = 0; z < window.zones.size(); ++z) {
      const Microjoules energy = window.attribution.zones[z].process[i];
      account.energy.add(window.sequence, window.zones[z], energy);
      has_changed |= energy != Microjoules{};
      if (!window.in_total(z)) continue;
      account.in_unit += energy;
      account.energy.add_error(window.sequence, window.attribution.zones[z].process_errors()[i]);
    }
    if (has_changed) changed_.add(process.id);
  }
  for (const ProcessId id : window.usage.ended) {
    const auto process = accounts_.find(id);
    if (process == accounts_.end() || process->second.energy.ended) continue;
    process->second.energy.ended = window.now;
    ended_.insert(id);
    changed_.add(id);
  }
  return outside;
}

// What it used in earlier windows, while its unit was behind. Returns whether it was anything.
bool ProcessLedger::add_late(const BookedWindow& window, std::size_t index, bool in_unit,
                             ProcessAccount& account) {
  bool has_changed = false;
  for (std::size_t z = 0; z < window.zones.size(); ++z) {
    const ZoneAttribution& zone = window.attribution.zones[z];
    if (zone.late.empty()) continue;
    account.energy.add_late(window.sequence, window.zones[z], zone.late[index]);
    has_changed |= zone.late[index] != Microjoules{};
    if (!window.in_total(z)) continue;
    account.energy.add_error(window.sequence, zone.late_error[index]);
    if (in_unit) account.in_unit += zone.late[index];
  }
  return has_changed;
}

const ProcessAccount* ProcessLedger::find(ProcessId id) const {
  const auto process = accounts_.find(id);
  return process == accounts_.end() ? nullptr : &process->second;
}

ProcessAccount* ProcessLedger::change(ProcessId id) {
  const auto process = accounts_.find(id);
  if (process == accounts_.end()) return nullptr;
  changed_.add(id);
  return &process->second;
}

void ProcessLedger::set_program(ProcessId id, std::shared_ptr<const std::string> path) {
  if (const auto process = accounts_.find(id); process != accounts_.end())
    process->second.program = std::move(path);
}

void ProcessLedger::set_vm(ProcessId id, std::shared_ptr<const VmInfo> vm) {
  if (const auto process = accounts_.find(id); process != accounts_.end()) process->second.vm = std::move(vm);
}

const ProcessAccount* ProcessLedger::newest(std::int32_t pid) const {
  const auto next = accounts_.upper_bound(ProcessId{pid, std::numeric_limits<std::uint64_t>::max()});
  if (next == accounts_.begin() || std::prev(next)->first.pid != pid) return nullptr;
  return &std::prev(next)->second;
}

ProcessAccount& ProcessLedger::account_of(const ProcessUsage& process, UnitAccount* unit,
                                          const Logins& logins, Realtime now) {
  const auto [entry, is_new] = accounts_.try_emplace(process.id);
  ProcessAccount& account = entry->second;
  if (is_new) {
    account.unit = unit;
    account.energy.since = now;
    changed_.add(process.id);
  }
  if (is_new || account.info->comm != process.comm || account.info->user != process.user)
    account.info = make_info(process);
  set_owner(process, unit, logins, account);
  return account;
}

// Restores what the processes of the run's first window used in an earlier run. What a process used in its
// unit was counted in that unit's `other` until now, and so in its container's; it stays there if the process
// is now in another unit or container.
void ProcessLedger::go_on(const BookedWindow& window, const UnitLedger& units, const Logins& logins,
                          Microjoules& outside) {
  for (const ProcessUsage& process : window.usage.processes) {
    const auto saved = saved_.find(process.id);
    if (saved == saved_.end()) continue;
    UnitAccount* const unit = units.of_group(process.group);
    if (process.kernel_thread && unit == nullptr) continue;
    ProcessAccount& account = account_of(process, unit, logins, saved->second.since);
    account.energy.zones = restored_zones(saved->second.energy, saved->second.idle);
    account.energy.cpu = saved->second.cpu;
    account.energy.error = saved->second.error;
    changed_.add(process.id);
    const Microjoules in_unit = saved->second.in_unit;
    if (unit == nullptr) {
      if (!saved->second.unit.empty()) continue;
      outside -= in_unit;
    } else {
      ContainerAccount* const container = unit->container;
      if (unit->info->id != saved->second.unit || unit->other < in_unit) continue;
      if (container != nullptr && container->other < in_unit) continue;
      unit->other -= in_unit;
      if (container != nullptr) container->other -= in_unit;
    }
    account.in_unit = in_unit;
  }
  saved_.clear();
}

// Moves what the process used in its present unit to the unit's `other`. Returns what was outside any unit.
Microjoules ProcessLedger::leave_unit(ProcessAccount& process) {
  return leave(process, process.unit == nullptr ? nullptr : process.unit->container);
}

// The same for a process that was in `container` with its unit (null: in none).
Microjoules ProcessLedger::leave(ProcessAccount& process, ContainerAccount* container) {
  changed_.add(process.info->id);
  const Microjoules left = std::exchange(process.in_unit, Microjoules{});
  if (process.unit == nullptr) return left;
  process.unit->other += left;
  if (container != nullptr) container->other += left;
  return {};
}

Microjoules ProcessLedger::prune(const TerminatedLimits& limits, const WatchedUnits& watched,
                                 const std::vector<ZoneWindow>& windows, Realtime now) {
  static constexpr TerminatedLimits kOfWatched{
      .max = WatchedUnits::kMostProcesses, .min_energy = {}, .retention = {}};
  Microjoules outside;
  std::vector<ProcessId> gone;
  std::vector<Ended<const ProcessAccount>> kept, kept_watched;
  for (const ProcessId id : ended_) {
    const ProcessAccount& process = accounts_.at(id);
    const Ended<const ProcessAccount> ended{&process, process.energy.energy(windows), *process.energy.ended};
    if (watched.covers(process.unit)) {
      kept_watched.push_back(ended);
    } else if (ended.energy < limits.min_energy) {
      gone.push_back(id);
    } else {
      kept.push_back(ended);
    }
  }
  for (const ProcessAccount* const process : overdue(std::move(kept), limits, now))
    gone.push_back(process->info->id);
  for (const ProcessAccount* const process : overdue(std::move(kept_watched), kOfWatched, now))
    gone.push_back(process->info->id);
  for (const ProcessId id : gone) {
    const auto entry = accounts_.find(id);
    outside += leave_unit(entry->second);
    accounts_.erase(entry);
    ended_.erase(id);
  }
  return outside;
}

void ProcessLedger::leave_containers(const std::unordered_map<UnitAccount*, ContainerAccount*>& moved) {
  if (moved.empty()) return;
  for (auto& [id, process] : accounts_) {
    const auto unit = moved.find(process.unit);
    if (unit != moved.end()) leave(process, unit->second);
  }
}

void ProcessLedger::remove_of(const std::unordered_set<const UnitAccount*>& units) {
  if (units.empty()) return;
  for (auto entry = accounts_.begin(); entry != accounts_.end();) {
    if (entry->second.unit == nullptr || !units.contains(entry->second.unit)) {
      ++entry;
      continue;
    }
    leave_unit(entry->second);  // so it is in `changed_`
    if (entry->second.energy.ended) {
      ended_.erase(entry->first);
      entry = accounts_.erase(entry);
    } else {  // it has moved to a unit where it was not seen before
      entry->second.unit = nullptr;
      ++entry;
    }
  }
}

}  // namespace keplerd
