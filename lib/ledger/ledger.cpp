// SPDX-License-Identifier: Apache-2.0
#include "ledger/ledger.h"

#include <algorithm>
#include <cassert>
#include <unordered_set>
#include <utility>

#include "ledger/vm_surroundings.h"

namespace keplerd {
namespace {

const Logins kNoLogins;

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

Ledger::Ledger(std::string instance_id, Realtime now) : instance_id_(std::move(instance_id)), since_(now) {}

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

void Ledger::set_zones(const std::vector<Zone>& zones, Realtime now) {
  for (ZoneAccount& zone : zones_) zone.current = false;
  source_zones_.clear();
  for (const Zone& zone : zones) {
    auto known =
        std::ranges::find_if(zones_, [&](const ZoneAccount& account) { return account.zone.id == zone.id; });
    if (known == zones_.end()) {
      known = zones_.insert(zones_.end(), ZoneAccount{});
      known->since = now;
    }
    known->zone = zone;
    known->current = true;
    source_zones_.push_back(static_cast<std::size_t>(known - zones_.begin()));
  }
  windows_.clear();
  for (const ZoneAccount& zone : zones_) windows_.push_back({zone.zone.in_total, zone.current, std::nullopt});
}

void Ledger::apply(const Sample& sample, const Attribution& attribution, const Evidence& evidence) {
  ++sequence_;
  realtime_ = sample.at.realtime;
  monotonic_ = sample.at.monotonic;
  window_ = attribution.window;
  for (std::size_t i = 0; i < source_zones_.size(); ++i) {
    apply_zone(source_zones_[i], attribution.zones[i], sample.readings[i], attribution.window);
  }
  const BookedWindow window{sample.usage, attribution, source_zones_, windows_, sequence_, realtime_};
  const Logins& logins = evidence.logins == nullptr ? kNoLogins : *evidence.logins;
  units_.apply(window);
  if (evidence.machined != nullptr) containers_.set_machined(evidence.machined->containers(), units_);
  containers_.apply(window, units_, logins);
  processes_.leave_containers(containers_.moved());
  outside_other_ += processes_.apply(window, units_, logins);
  vm_registry_.update({vm_scopes(units_), sample.usage.processes, evidence.found, sample.usage.ended},
                      LedgerSurroundings(processes_, evidence.libvirt, sample.at));
  for (const auto& claim : containers_.refused())
    refused_claims_.add(claim.is_pod ? "pod" : "container", claim.id, claim.claimant, realtime_);
  for (const RefusedVmClaim& claim : vm_registry_.refused())
    refused_claims_.add(claim.is_helper ? "helper" : "vm", claim.id, claim.claimant, realtime_);
  vms_.apply(window, vm_registry_, units_, processes_);
  prune(realtime_);
}

void Ledger::apply_zone(std::size_t index, const ZoneAttribution& attribution,
                        const Result<Microjoules>& reading, Nanoseconds window) {
  ZoneAccount& zone = zones_[index];
  zone.energy += attribution.energy;
  zone.idle += attribution.idle;
  zone.kernel += attribution.kernel;
  zone.unattributed += attribution.unattributed;
  zone.window = attribution.energy;
  zone.window_idle = attribution.idle;
  zone.problem = reading ? std::nullopt : std::optional(reading.error().message);
  if (attribution.verdict != StepVerdict::kCounted) ++discarded_windows_;
  // A span that began before this run is no window of it.
  const bool known = attribution.read && std::min(window, attribution.span) >= kShortestPowerSpan;
  windows_[index].span = known ? std::optional(attribution.span) : std::nullopt;
}

void Ledger::prune(Realtime now) {
  outside_other_ += processes_.prune(limits_, windows_, now);
  vms_.prune(limits_, windows_, now, units_, vm_registry_);
  processes_.remove_of(containers_.prune(limits_, windows_, now, units_));
  const std::vector<UnitAccount*> overdue = units_.overdue(limits_, windows_, now);
  if (overdue.empty()) return;
  processes_.remove_of({overdue.begin(), overdue.end()});
  for (UnitAccount* const unit : overdue) outside_other_ += units_.remove(*unit, windows_);
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
