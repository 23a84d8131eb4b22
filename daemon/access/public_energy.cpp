// SPDX-License-Identifier: Apache-2.0
#include "daemon/access/public_energy.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

namespace keplerd {
namespace {

constexpr std::size_t kNone = SIZE_MAX;

// Floored; 0 if a state file does not add up.
Microjoules rest(Microjoules energy, Microjoules inside) {
  return floored(std::max(energy - inside, Microjoules{}));
}

std::size_t parent_of(const std::vector<UnitRow>& units, const UnitRow& row) {
  if (!row.info->parent) return kNone;
  const auto found = std::ranges::lower_bound(
      units, *row.info->parent, {}, [](const UnitRow& unit) -> const std::string& { return unit.info->id; });
  if (found == units.end() || found->info->id != *row.info->parent) return kNone;
  return static_cast<std::size_t>(found - units.begin());
}

// In reverse order: children come after their parents.
std::vector<PublicEnergy> of_units(const std::vector<UnitRow>& units) {
  struct Inside {
    Microjoules active, idle;
  };
  std::vector<PublicEnergy> shown(units.size());
  std::vector<Inside> inside(units.size());
  for (std::size_t i = units.size(); i-- > 0;) {
    const UnitRow& row = units[i];
    const Microjoules active = rest(row.active, inside[i].active), idle = rest(row.idle, inside[i].idle);
    shown[i].own = active + idle;
    shown[i].active += active;
    shown[i].idle += idle;
    const std::size_t parent = parent_of(units, row);
    if (parent == kNone) continue;
    inside[parent].active += row.active;
    inside[parent].idle += row.idle;
    shown[parent].active += shown[i].active;
    shown[parent].idle += shown[i].idle;
  }
  return shown;
}

// A container or pod, and the totals of those inside it.
struct Nested {
  const ContainerRow* row;
  PublicEnergy* shown;
  std::size_t parent = kNone;
  std::size_t open = 0;              // rows inside it that are not finished
  Microjoules inside, shown_inside;  // of those rows
};

// Called once those inside it are finished. If a container has several places, or has moved, only a part of
// it is in its parent: its own energy there is that part minus what is inside it.
void finish(Nested& nested) {
  const ContainerRow& row = *nested.row;
  PublicEnergy& shown = *nested.shown;
  shown.own = floored(row.own);
  const Microjoules energy = shown.own + nested.shown_inside;
  shown.idle = std::min(floored(row.idle), energy);
  shown.active = energy - shown.idle;
  shown.in_parent =
      std::min(floored(row.in_parent), rest(row.in_parent, nested.inside) + nested.shown_inside);
}

void find_parents(std::vector<Nested>& all) {
  std::unordered_map<std::string_view, std::size_t> by_id;
  for (std::size_t i = 0; i < all.size(); ++i) by_id.emplace(all[i].row->info->id, i);
  for (Nested& nested : all) {
    const auto& parent = nested.row->info->parent;
    const auto found = parent ? by_id.find(*parent) : by_id.end();
    if (found == by_id.end()) continue;
    nested.parent = found->second;
    ++all[nested.parent].open;
  }
}

void of_containers(const Report& report, PublicEnergies& energies) {
  energies.containers.resize(report.containers.size());
  energies.pods.resize(report.pods.size());
  std::vector<Nested> all;
  for (std::size_t i = 0; i < report.containers.size(); ++i)
    all.push_back({&report.containers[i], &energies.containers[i]});
  for (std::size_t i = 0; i < report.pods.size(); ++i) all.push_back({&report.pods[i], &energies.pods[i]});
  find_parents(all);
  std::vector<std::size_t> ready;  // innermost first
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].open == 0) ready.push_back(i);
  while (!ready.empty()) {
    Nested& nested = all[ready.back()];
    ready.pop_back();
    finish(nested);
    if (nested.parent == kNone) continue;
    Nested& parent = all[nested.parent];
    parent.inside += nested.row->in_parent;
    parent.shown_inside += nested.shown->in_parent;
    if (--parent.open == 0) ready.push_back(nested.parent);
  }
}

}  // namespace

PublicEnergies public_energies(const Report& report) {
  PublicEnergies energies;
  energies.units = of_units(report.units);
  of_containers(report, energies);
  return energies;
}

}  // namespace keplerd
