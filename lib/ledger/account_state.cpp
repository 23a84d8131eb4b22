// SPDX-License-Identifier: Apache-2.0
#include "ledger/account_state.h"

#include <span>

namespace keplerd {
namespace {

using ZoneEnergy = EnergyAccount::ZoneEnergy;

std::vector<Microjoules> of_zones(std::span<const ZoneEnergy> zones, Microjoules ZoneEnergy::*energy) {
  std::vector<Microjoules> energies;
  energies.reserve(zones.size());
  for (const ZoneEnergy& zone : zones) energies.push_back(zone.*energy);
  return energies;
}

std::vector<Microjoules> totals(const EnergyAccount& account) {
  return of_zones(account.zones, &ZoneEnergy::total);
}

// Without zones at the end that have none: mostly, all.
std::vector<Microjoules> idle_of(const EnergyAccount& account) {
  std::span<const ZoneEnergy> zones = account.zones;
  while (!zones.empty() && zones.back().idle == Microjoules{}) zones = zones.first(zones.size() - 1);
  return of_zones(zones, &ZoneEnergy::idle);
}

// The fields common to all accounts that have a row of their own in the state file.
template <class State>
void fill(const EnergyAccount& account, State& state) {
  state.energy = totals(account);
  state.idle = idle_of(account);
  state.error = account.error;
  state.cpu = account.cpu;
  state.since = account.since;
  state.ended = account.ended;
  state.owner = account.owner;
}

}  // namespace

UnitState state_of(const UnitAccount& unit) {
  UnitState state;
  state.id = unit.info->id;
  state.own = unit.own;
  fill(unit.energy, state);
  return state;
}

ContainerState state_of(const ContainerAccount& container) {
  ContainerState state;
  state.info = *container.info;
  state.own = container.own;
  state.in_parent = container.in_parent;
  fill(container.energy, state);
  return state;
}

VmState state_of(const VmAccount& vm) {
  VmState state;
  state.info = *vm.info;
  state.evidence = vm.evidence;
  for (const auto& [name, energy] : vm.parts) state.parts.push_back({name, energy});
  fill(vm.energy, state);
  return state;
}

ProcessState state_of(ProcessId id, const ProcessAccount& process) {
  return {.id = id,
          .unit = process.unit == nullptr ? std::string() : process.unit->info->id,
          .energy = totals(process.energy),
          .idle = idle_of(process.energy),
          .in_unit = process.in_unit,
          .error = process.energy.error,
          .cpu = process.energy.cpu,
          .since = process.energy.since};
}

}  // namespace keplerd
