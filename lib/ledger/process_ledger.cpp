// SPDX-License-Identifier: Apache-2.0
#include "ledger/process_ledger.h"

#include <algorithm>

namespace keplerd {
namespace {

std::shared_ptr<const ProcessInfo> make_info(const ProcessUsage& process) {
  return std::make_shared<const ProcessInfo>(
      ProcessInfo{process.id, std::to_string(process.id.pid) + "." + std::to_string(process.id.start),
                  std::string(process.comm)});
}

}  // namespace

Microjoules ProcessLedger::apply(const UsageSample& usage, const Attribution& attribution,
                                 const std::vector<std::size_t>& zones,
                                 const std::vector<ZoneWindow>& windows, const UnitLedger& units,
                                 std::uint64_t sequence, Realtime now) {
  Microjoules outside;
  for (std::size_t i = 0; i < usage.processes.size(); ++i) {
    const ProcessUsage& process = usage.processes[i];
    if (process.kernel_thread && process.group == kNoGroup) continue;
    UnitAccount* const unit = units.of_group(process.group);
    ProcessAccount& account = account_of(process, unit, now);
    if (account.unit != unit) {
      outside += leave_unit(account);
      account.unit = unit;
    }
    account.energy.cpu += attribution.process_time[i];
    for (std::size_t z = 0; z < zones.size(); ++z) {
      const Microjoules energy = attribution.zones[z].process[i];
      account.energy.add(sequence, zones[z], energy);
      if (windows[zones[z]].in_total) account.in_unit += energy;
    }
  }
  for (const ProcessId id : usage.ended) {
    const auto process = accounts_.find(id);
    if (process == accounts_.end() || process->second.energy.ended) continue;
    process->second.energy.ended = now;
    ++ended_;
  }
  return outside;
}

ProcessAccount& ProcessLedger::account_of(const ProcessUsage& process, UnitAccount* unit, Realtime now) {
  const auto [entry, is_new] = accounts_.try_emplace(process.id);
  ProcessAccount& account = entry->second;
  if (is_new) {
    account.unit = unit;
    account.energy.since = now;
  }
  if (is_new || account.info->comm != process.comm) account.info = make_info(process);
  return account;
}

// Takes what the process used in its present unit out of its row's part, into the unit's other account.
Microjoules ProcessLedger::leave_unit(ProcessAccount& process) {
  const Microjoules left = std::exchange(process.in_unit, Microjoules{});
  if (process.unit == nullptr) return left;
  process.unit->other += left;
  return {};
}

Microjoules ProcessLedger::prune(const TerminatedLimits& limits, const std::vector<ZoneWindow>& windows,
                                 Realtime now) {
  if (ended_ == 0) return {};
  Microjoules outside;
  const auto remove = [&](auto entry) {
    outside += leave_unit(entry->second);
    --ended_;
    return accounts_.erase(entry);
  };
  struct Ended {
    Microjoules energy;
    ProcessId id;
  };
  std::vector<Ended> kept;
  for (auto entry = accounts_.begin(); entry != accounts_.end();) {
    const EnergyAccount& account = entry->second.energy;
    if (!account.ended) {
      ++entry;
      continue;
    }
    const Microjoules energy = account.energy(windows);
    if (energy < limits.min_energy || (limits.retention && now - *account.ended > *limits.retention)) {
      entry = remove(entry);
    } else {
      kept.push_back({energy, entry->first});
      ++entry;
    }
  }
  if (!limits.max || kept.size() <= *limits.max) return outside;
  std::ranges::stable_sort(kept, std::less<>{}, &Ended::energy);
  kept.resize(kept.size() - *limits.max);
  for (const Ended& ended : kept) remove(accounts_.find(ended.id));
  return outside;
}

void ProcessLedger::remove_of(const std::unordered_set<const UnitAccount*>& units) {
  for (auto entry = accounts_.begin(); entry != accounts_.end();) {
    if (entry->second.unit == nullptr || !units.contains(entry->second.unit)) {
      ++entry;
      continue;
    }
    leave_unit(entry->second);
    if (entry->second.energy.ended) {
      --ended_;
      entry = accounts_.erase(entry);
    } else {  // it has moved to where it has not been seen yet
      entry->second.unit = nullptr;
      ++entry;
    }
  }
}

}  // namespace keplerd
