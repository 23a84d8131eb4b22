// SPDX-License-Identifier: Apache-2.0
// The ledger as it is saved, and as it begins from what was.
#include <utility>

#include "ledger/ledger.h"

namespace keplerd {
namespace {

// Of a unit, container or VM; whatever runs still comes back with the first sample.
template <class State>
void restore_account(const State& saved, Realtime at, EnergyAccount& account) {
  for (const Microjoules energy : saved.energy) account.zones.push_back({energy, {}});
  account.cpu = saved.cpu;
  account.since = saved.since;
  account.ended = saved.ended.value_or(at);
  account.owner = saved.owner;
}

template <class State>
void save_account(const EnergyAccount& account, State& state) {
  for (const EnergyAccount::ZoneEnergy& zone : account.zones) state.energy.push_back(zone.total);
  state.cpu = account.cpu;
  state.since = account.since;
  state.ended = account.ended;
  state.owner = account.owner;
}

}  // namespace

Ledger::Ledger(const LedgerState& state, const std::string& instance_id)
    : instance_id_(state.clean ? state.instance_id : instance_id),
      since_(state.since),
      discarded_windows_(state.discarded_windows),
      outside_other_(state.outside_other) {
  for (const ZoneState& saved : state.zones) {
    ZoneAccount zone;
    zone.zone = {.id = saved.id,
                 .name = saved.name,
                 .index = saved.index,
                 .quality = saved.quality,
                 .in_total = saved.in_total};
    zone.energy = saved.energy;
    zone.idle = saved.idle;
    zone.kernel = saved.kernel;
    zone.unattributed = saved.unattributed;
    zone.since = saved.since;
    zones_.push_back(std::move(zone));
    windows_.push_back({.in_total = saved.in_total});
  }
  for (const UnitState& saved : state.units) {
    UnitAccount& unit = units_.restore(saved.id);
    restore_account(saved, state.saved, unit.energy);
    unit.own = saved.own;
    unit.other = saved.own;  // its processes' accounts begin anew
  }
  for (const ContainerState& saved : state.containers) {
    ContainerAccount& container = containers_.restore(saved.info);
    restore_account(saved, state.saved, container.energy);
    container.own = container.other = saved.own;
    container.in_parent = saved.in_parent;
  }
  containers_.restored();
  for (const VmState& saved : state.vms) {
    VmAccount& vm = vms_.restore(saved.info);
    vm_registry_.restore(saved.info.id, saved.owner.value_or(kRootUser));
    restore_account(saved, state.saved, vm.energy);
    vm.reported_running = !saved.ended;
    for (const VmPart& part : saved.parts) vm.parts[part.name] = part.energy;
  }
}

LedgerState Ledger::state(Realtime now) const {
  LedgerState state{.instance_id = instance_id_,
                    .since = since_,
                    .saved = now,
                    .clean = false,
                    .boot_id = {},
                    .discarded_windows = discarded_windows_,
                    .outside_other = {},
                    .zones = {},
                    .units = {},
                    .containers = {},
                    .vms = {},
                    .readings = {}};
  Microjoules workloads;
  for (const ZoneAccount& zone : zones_) {
    state.zones.push_back({.id = zone.zone.id,
                           .name = zone.zone.name,
                           .index = zone.zone.index,
                           .quality = zone.zone.quality,
                           .in_total = zone.zone.in_total,
                           .energy = zone.energy,
                           .idle = zone.idle,
                           .kernel = zone.kernel,
                           .unattributed = zone.unattributed,
                           .since = zone.since});
    if (zone.zone.in_total) workloads += zone.energy - zone.idle - zone.kernel - zone.unattributed;
  }
  for (const auto& [id, unit] : units_.all()) {
    UnitState& saved = state.units.emplace_back();
    saved.id = id;
    saved.own = unit->own;
    save_account(unit->energy, saved);
    workloads -= unit->own;
  }
  for (const auto* const accounts : {&containers_.containers(), &containers_.pods()}) {
    for (const auto& [id, container] : *accounts) {
      ContainerState& saved = state.containers.emplace_back();
      saved.info = *container.info;
      saved.own = container.own;
      saved.in_parent = container.in_parent;
      save_account(container.energy, saved);
    }
  }
  for (const auto& [id, vm] : vms_.all()) {
    VmState& saved = state.vms.emplace_back();
    saved.info = *vm.info;
    for (const auto& [name, energy] : vm.parts) saved.parts.push_back({name, energy});
    save_account(vm.energy, saved);
  }
  // What no unit has is that of processes outside any, whose rows end with this run.
  state.outside_other = workloads;
  return state;
}

}  // namespace keplerd
