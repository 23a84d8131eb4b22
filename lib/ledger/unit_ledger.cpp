// SPDX-License-Identifier: Apache-2.0
#include "ledger/unit_ledger.h"

#include <algorithm>
#include <cassert>
#include <unordered_set>

#include "ledger/undivided.h"
#include "ledger/watched_units.h"

namespace keplerd {
namespace {

// That root has given a name, which is the same at its next start: no instance of a template, and nothing
// that systemd-run has named.
bool is_system_service(const UnitAccount& unit) {
  const std::string& name = unit.info->name;
  return unit.info->is_unit && unit.energy.owner == kRootUser && name.ends_with(".service") &&
         name.find('@') == std::string::npos && !name.starts_with("run-");
}

}  // namespace

void UnitLedger::apply(const BookedWindow& window) {
  current_.clear();
  for (std::size_t i = 0; i < window.usage.groups.size(); ++i) {
    UnitAccount& unit = account_of(window.usage.groups[i], window.now);
    unit.seen = window.sequence;
    unit.energy.add_cpu(window.sequence, window.attribution.group_time[i]);
    current_.push_back(&unit);
  }
  for (std::size_t z = 0; z < window.zones.size(); ++z) {
    const ZoneAttribution& zone = window.attribution.zones[z];
    for (std::size_t i = 0; i < current_.size(); ++i) {
      current_[i]->energy.add(window.sequence, window.zones[z], zone.group[i]);
      if (!window.in_total(z)) continue;
      current_[i]->energy.add_error(window.sequence, zone.group_errors()[i]);
      current_[i]->own += zone.own[i];
      current_[i]->other += zone.other[i];
    }
    for (const std::size_t group : zone.counted)
      current_[group]->energy.set_counted(window.sequence, window.zones[z]);
  }
  for (auto entry = running_.begin(); entry != running_.end();) {
    UnitAccount& unit = *entry->second;
    const bool ended = unit.seen != window.sequence;
    if (ended) {
      unit.energy.ended = window.now;
      unit.behind = false;
      forfeit_undivided(unit, unit.container);
      unit.vm = nullptr;
    }
    // A unit recreated under the same name continues in another entry.
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
  unit.parent_owner = group.parent_owner;
  unit.placed = false;
  running_[group.incarnation] = &unit;
  return unit;
}

UnitAccount& UnitLedger::create(std::string_view id) {
  CgroupWorkload workload = recognise_cgroup(id);
  auto info = std::make_shared<UnitInfo>();
  info->id = id;
  info->name = std::move(workload.group.name);
  info->is_unit = workload.group.is_unit;
  const auto slash = id.rfind('/');
  if (slash != 0 && slash != std::string_view::npos) info->parent = std::string(id.substr(0, slash));
  auto unit = std::make_unique<UnitAccount>();
  unit->info = std::move(info);
  if (workload.kind != CgroupKind::kUnit && workload.kind != CgroupKind::kGroup)
    unit->workload = std::make_unique<const CgroupWorkload>(std::move(workload));
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

std::vector<UnitAccount*> UnitLedger::overdue(const TerminatedLimits& limits, const WatchedUnits& watched,
                                              const std::vector<ZoneWindow>& windows, Realtime now) const {
  if (accounts_.size() == running_.size()) return {};  // all are running
  std::vector<Ended<UnitAccount>> ended;
  std::unordered_set<const UnitAccount*> parents;  // of those that are kept
  std::size_t services = 0;
  // Children before parents; a child never has more than its parent, and is kept ahead of it if they are
  // equal. Across all users, because a parent may belong to another one.
  for (auto entry = accounts_.rbegin(); entry != accounts_.rend(); ++entry) {
    UnitAccount& unit = *entry->second;
    if (!unit.energy.ended) continue;
    const bool is_service = services < kMostServices && is_system_service(unit) &&
                            is_within(limits.vm_retention, *unit.energy.ended, now);
    services += is_service ? 1 : 0;
    if (is_service || watched.contains(unit) || parents.contains(&unit)) {
      parents.insert(unit.parent);
    } else {
      ended.push_back({&unit, unit.energy.energy(windows), *unit.energy.ended});
    }
  }
  return keplerd::overdue(std::move(ended), limits, now, KeptOf::kAll);
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
