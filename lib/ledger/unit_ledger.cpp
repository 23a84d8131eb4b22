// SPDX-License-Identifier: Apache-2.0
#include "ledger/unit_ledger.h"

#include <algorithm>
#include <cassert>

#include "workloads/unit_name.h"

namespace keplerd {

void UnitLedger::apply(const UsageSample& usage, const Attribution& attribution,
                       const std::vector<std::size_t>& zones, const std::vector<ZoneWindow>& windows,
                       std::uint64_t sequence, Realtime now) {
  current_.clear();
  for (std::size_t i = 0; i < usage.groups.size(); ++i) {
    UnitAccount& unit = account_of(usage.groups[i], now);
    unit.seen = sequence;
    unit.energy.cpu += attribution.group_time[i];
    current_.push_back(&unit);
  }
  for (std::size_t z = 0; z < zones.size(); ++z) {
    const ZoneAttribution& zone = attribution.zones[z];
    for (std::size_t i = 0; i < current_.size(); ++i) {
      current_[i]->energy.add(sequence, zones[z], zone.group[i]);
      if (!windows[zones[z]].in_total) continue;
      current_[i]->own += zone.own[i];
      current_[i]->other += zone.other[i];
    }
  }
  for (auto entry = running_.begin(); entry != running_.end();) {
    UnitAccount& unit = *entry->second;
    const bool ended = unit.seen != sequence;
    if (ended) unit.energy.ended = now;
    // A unit that was reborn under its name runs on in another entry.
    entry = ended || unit.incarnation != entry->first ? running_.erase(entry) : std::next(entry);
  }
}

UnitAccount& UnitLedger::account_of(const GroupUsage& group, Realtime now) {
  const auto running = running_.find(group.incarnation);
  if (running != running_.end()) return *running->second;
  const auto known = accounts_.find(group.path);
  UnitAccount& unit = known != accounts_.end() ? *known->second : create(group.path);
  if (known == accounts_.end()) unit.energy.since = now;
  unit.parent = of_group(group.parent);
  unit.energy.ended.reset();
  unit.incarnation = group.incarnation;
  running_[group.incarnation] = &unit;
  return unit;
}

UnitAccount& UnitLedger::create(std::string_view id) {
  auto info = std::make_shared<UnitInfo>();
  info->id = id;
  UnitName name = name_unit(id);
  info->name = std::move(name.name);
  info->is_unit = name.is_unit;
  const auto slash = id.rfind('/');
  if (slash != 0 && slash != std::string_view::npos) info->parent = std::string(id.substr(0, slash));
  auto unit = std::make_unique<UnitAccount>();
  unit->info = std::move(info);
  return *accounts_.insert_or_assign(std::string(id), std::move(unit)).first->second;
}

UnitAccount& UnitLedger::restore(const std::string& id) {
  UnitAccount& unit = create(id);
  if (unit.info->parent) {
    const auto parent = accounts_.find(*unit.info->parent);
    if (parent != accounts_.end()) unit.parent = parent->second.get();
  }
  return unit;
}

std::vector<UnitAccount*> UnitLedger::overdue(const TerminatedLimits& limits,
                                              const std::vector<ZoneWindow>& windows, Realtime now) const {
  struct Ended {
    Microjoules energy;
    UnitAccount* unit;
  };
  std::vector<Ended> kept;
  std::vector<UnitAccount*> overdue;
  // Backwards, so that children come before their parents.
  for (auto entry = accounts_.rbegin(); entry != accounts_.rend(); ++entry) {
    UnitAccount& unit = *entry->second;
    if (!unit.energy.ended) continue;
    if (limits.retention && now - *unit.energy.ended > *limits.retention) {
      overdue.push_back(&unit);
    } else {
      kept.push_back({unit.energy.energy(windows), &unit});
    }
  }
  if (!limits.max || kept.size() <= *limits.max) return overdue;
  // Least energy first; a child never has more than its parent, and stays before it where they are equal.
  std::ranges::stable_sort(kept, std::less<>{}, &Ended::energy);
  kept.resize(kept.size() - *limits.max);
  for (const Ended& ended : kept) overdue.push_back(ended.unit);
  return overdue;
}

Microjoules UnitLedger::remove(UnitAccount& unit, const std::vector<ZoneWindow>& windows) {
  assert(unit.energy.ended);
  const Microjoules energy = unit.energy.energy(windows);
  UnitAccount* const parent = unit.parent;
  if (parent != nullptr) {
    parent->own += energy;
    parent->other += energy;
  }
  accounts_.erase(accounts_.find(unit.info->id));
  return parent == nullptr ? energy : Microjoules{};
}

}  // namespace keplerd
