// SPDX-License-Identifier: Apache-2.0
// Saves a ledger, and restores it from a saved state.
#include <algorithm>
#include <map>
#include <utility>

#include "ledger/account_state.h"
#include "ledger/ledger.h"

namespace keplerd {
namespace {

// What an earlier state has of restored accounts.
class Earlier {
 public:
  explicit Earlier(const LedgerState* state) : state_(state) {
    if (state == nullptr) return;
    for (const UnitState& unit : state->units) units_[unit.id] = &unit;
    for (const ContainerState& container : state->containers) containers_[key(container)] = &container;
    for (const VmState& vm : state->vms) vms_[vm.info.id] = &vm;
  }

  std::shared_ptr<const EarlierUsage> usage(const UnitState& saved) const {
    return usage(saved, find(units_, saved.id));
  }
  std::shared_ptr<const EarlierUsage> usage(const ContainerState& saved) const {
    return usage(saved, find(containers_, key(saved)));
  }
  std::shared_ptr<const EarlierUsage> usage(const VmState& saved) const {
    const VmState* const earlier = find(vms_, saved.info.id);
    auto usage = this->usage(saved, earlier);
    if (!usage) return usage;
    usage->parts = earlier->parts;
    Microjoules other = sum_in_total(earlier->energy, state_->zones);
    for (const VmPart& part : earlier->parts) other -= part.energy;
    usage->parts.push_back({"other", other});
    return usage;
  }

 private:
  using ContainerKey = std::pair<bool, std::string>;
  static ContainerKey key(const ContainerState& container) {
    return {container.info.is_pod, container.info.id};
  }

  template <class Key, class State>
  static const State* find(const std::map<Key, const State*>& states, const Key& id) {
    const auto found = states.find(id);
    return found == states.end() ? nullptr : found->second;
  }

  // Null for an account that has begun since then, though its id was used before.
  template <class State>
  static std::shared_ptr<EarlierUsage> usage(const State& saved, const State* earlier) {
    if (earlier == nullptr || earlier->since != saved.since) return nullptr;
    return std::make_shared<EarlierUsage>(
        EarlierUsage{.zones = earlier->energy, .idle = earlier->idle, .cpu = earlier->cpu, .parts = {}});
  }

  const LedgerState* state_;  // null: there is none
  std::map<std::string, const UnitState*> units_;
  std::map<ContainerKey, const ContainerState*> containers_;
  std::map<std::string, const VmState*> vms_;
};

// Restores a unit, container or VM as ended; those still running resume with the first sample.
template <class State>
void restore_account(const State& saved, Realtime at, const Earlier& earlier, EnergyAccount& account) {
  account.earlier = earlier.usage(saved);
  account.zones = restored_zones(saved.energy, saved.idle);
  account.cpu = saved.cpu;
  account.error = saved.error;
  account.since = saved.since;
  account.ended = saved.ended.value_or(at);
  account.owner = saved.owner;
}

// The same for a zone.
std::optional<EarlierZone> earlier_zone(const ZoneState& saved, const LedgerState* earlier) {
  if (earlier == nullptr) return std::nullopt;
  const auto zone = std::ranges::find(earlier->zones, saved.id, &ZoneState::id);
  if (zone == earlier->zones.end()) return std::nullopt;
  return EarlierZone{zone->energy, zone->idle, zone->kernel, zone->unattributed, zone->placed};
}

}  // namespace

Ledger::Ledger(const LedgerState& state, const std::string& instance_id, const LedgerState* earlier)
    : instance_id_(state.clean ? state.instance_id : instance_id),
      since_(state.since),
      discarded_windows_(state.discarded_windows),
      outside_other_(state.outside_other) {
  const Earlier earlier_totals(earlier);
  if (earlier != nullptr) earlier_discarded_windows_ = earlier->discarded_windows;
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
    zone.placed = saved.placed;
    zone.since = saved.since;
    zone.earlier = earlier_zone(saved, earlier);
    zones_.push_back(std::move(zone));
    windows_.push_back({.in_total = saved.in_total});
  }
  for (const UnitState& saved : state.units) {
    UnitAccount& unit = units_.restore(saved.id);
    restore_account(saved, state.saved, earlier_totals, unit.energy);
    unit.own = saved.own;
    unit.other = saved.own;  // its processes' accounts start over
  }
  for (const ContainerState& saved : state.containers) {
    ContainerAccount& container = containers_.restore(saved.info);
    restore_account(saved, state.saved, earlier_totals, container.energy);
    container.own = container.other = saved.own;
    container.in_parent = saved.in_parent;
  }
  containers_.restored();
  for (const VmState& saved : state.vms) {
    VmAccount& vm = vms_.restore(saved.info);
    vm_registry_.restore(saved.info.id, saved.owner.value_or(kRootUser),
                         saved.evidence.value_or(VmEvidence::kScope));
    restore_account(saved, state.saved, earlier_totals, vm.energy);
    vm.evidence = saved.evidence.value_or(VmEvidence::kScope);
    vm.reported_running = !saved.ended;
    for (const VmPart& part : saved.parts) vm.parts[part.name] = part.energy;
  }
  for (const ProcessState& saved : state.processes) processes_.restore(saved);
}

std::vector<ZoneState> Ledger::zone_states() const {
  std::vector<ZoneState> states;
  for (const ZoneAccount& zone : zones_) {
    states.push_back({.id = zone.zone.id,
                      .name = zone.zone.name,
                      .index = zone.zone.index,
                      .quality = zone.zone.quality,
                      .in_total = zone.zone.in_total,
                      .energy = zone.energy,
                      .idle = zone.idle,
                      .kernel = zone.kernel,
                      .unattributed = zone.unattributed,
                      .placed = zone.placed,
                      .since = zone.since});
  }
  return states;
}

LedgerState Ledger::state(Realtime now) const {
  LedgerState state{.instance_id = instance_id_,
                    .since = since_,
                    .saved = now,
                    .clean = false,
                    .boot_id = {},
                    .discarded_windows = discarded_windows_,
                    .outside_other = {},
                    .zones = zone_states(),
                    .units = {},
                    .containers = {},
                    .vms = {},
                    .processes = {},
                    .readings = {},
                    .models = {}};
  Microjoules workloads = energy_of_workloads(state.zones);
  for (const auto& [id, unit] : units_.all()) {
    state.units.push_back(state_of(*unit));
    workloads -= unit->own;
  }
  for (const auto* const accounts : {&containers_.containers(), &containers_.pods()}) {
    for (const auto& [id, container] : *accounts) state.containers.push_back(state_of(container));
  }
  for (const auto& [id, vm] : vms_.all()) state.vms.push_back(state_of(vm));
  state.processes.reserve(processes_.all().size() + processes_.saved().size());
  for (const auto& [id, process] : processes_.all()) {
    if (!process.energy.ended) state.processes.push_back(state_of(id, process));
  }
  for (const auto& [id, saved] : processes_.saved()) state.processes.push_back(saved);
  // Energy that no unit accounts for belongs to processes outside any, whose rows end with this run.
  state.outside_other = workloads;
  return state;
}

}  // namespace keplerd
