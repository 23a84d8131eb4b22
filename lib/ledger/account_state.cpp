// SPDX-License-Identifier: Apache-2.0
#include "ledger/account_state.h"

namespace keplerd {
namespace {

std::vector<Microjoules> totals(const EnergyAccount& account) {
  std::vector<Microjoules> energy;
  energy.reserve(account.zones.size());
  for (const EnergyAccount::ZoneEnergy& zone : account.zones) energy.push_back(zone.total);
  return energy;
}

// The fields common to all accounts that have a row of their own in the state file.
template <class State>
void fill(const EnergyAccount& account, State& state) {
  state.energy = totals(account);
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
          .in_unit = process.in_unit,
          .error = process.energy.error,
          .cpu = process.energy.cpu,
          .since = process.energy.since};
}

}  // namespace keplerd
