// SPDX-License-Identifier: Apache-2.0
#include "ledger/idle_placement.h"

#include <utility>

namespace keplerd {

void IdlePlacement::place_none() {
  for (auto* const placed : {&zones_, &own_, &other_}) placed->clear();
  workloads_.clear();
}

void IdlePlacement::place(const BookedWindow& window, const UnitLedger& units,
                          std::vector<IdleWorkload> workloads, const std::vector<std::int64_t>& weights) {
  place_none();
  if (weights.empty()) return;
  workloads_ = std::move(workloads);
  zones_.resize(window.zones.size());
  own_.resize(units.current().size());
  other_.resize(units.current().size());
  shares_.resize(window.zones.size());
  for (std::size_t zone = 0; zone < window.zones.size(); ++zone) {
    shares_[zone].assign(weights.size(), {});
    const Microjoules idle = window.attribution.zones[zone].idle;
    if (idle == Microjoules{}) continue;
    apportioner_.apportion(idle, weights, shares_[zone]);
    zones_[zone] = idle - shares_[zone].back();
    book_zone(window, zone, units);
  }
}

// An ancestor has what its descendants have.
void IdlePlacement::book_zone(const BookedWindow& window, std::size_t zone, const UnitLedger& units) {
  const std::vector<Microjoules>& shares = shares_[zone];
  for (std::size_t i = 0; i < workloads_.size(); ++i) {
    const std::size_t group = workloads_[i].group;
    if (group == kNoGroup) continue;
    for (UnitAccount* unit = units.current()[group]; unit != nullptr; unit = unit->parent)
      unit->energy.add_idle(window.sequence, window.zones[zone], shares[i]);
    if (!window.in_total(zone)) continue;
    own_[group] += shares[i];
    if (!workloads_[i].is_process()) other_[group] += shares[i];
    UnitAccount& unit = *units.current()[group];
    unit.own += shares[i];
    if (!workloads_[i].is_process()) unit.other += shares[i];
  }
}

void IdlePlacement::book_processes(const BookedWindow& window, ProcessLedger& processes) const {
  if (zones_.empty()) return;
  for (std::size_t i = 0; i < workloads_.size(); ++i) {
    if (!workloads_[i].is_process()) continue;
    ProcessAccount& process = *processes.change(workloads_[i].process);
    for (std::size_t zone = 0; zone < window.zones.size(); ++zone) {
      process.energy.add_idle(window.sequence, window.zones[zone], shares_[zone][i]);
      if (window.in_total(zone)) process.in_unit += shares_[zone][i];
    }
  }
}

}  // namespace keplerd
