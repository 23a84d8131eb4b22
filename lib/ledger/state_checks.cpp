// SPDX-License-Identifier: Apache-2.0
#include "ledger/state_checks.h"

#include <map>
#include <set>
#include <string_view>

namespace keplerd {
namespace {

// A sum of untrusted numbers, each of which is in range.
class CheckedSum {
 public:
  void add(Microjoules energy) { apply(__builtin_add_overflow(sum_.value, energy.value, &sum_.value)); }
  void subtract(Microjoules energy) { apply(__builtin_sub_overflow(sum_.value, energy.value, &sum_.value)); }
  Microjoules value() const { return sum_; }

 private:
  static void apply(bool overflows) {
    if (overflows) throw Malformed{"a sum is out of range"};
  }
  Microjoules sum_;
};

Microjoules total_of(const LedgerState& state, const std::vector<Microjoules>& energy) {
  CheckedSum sum;
  for (std::size_t zone = 0; zone < energy.size(); ++zone) {
    if (state.zones[zone].in_total) sum.add(energy[zone]);
  }
  return sum.value();
}

// Every unit equals its own plus its children, and all units' own energy together equals what the zones gave
// to workloads.
void check_sums(const LedgerState& state) {
  CheckedSum workloads;
  for (const ZoneState& zone : state.zones) {
    if (!zone.in_total) continue;
    workloads.add(zone.energy);
    workloads.add(zone.placed);
    for (const Microjoules part : {zone.idle, zone.kernel, zone.unattributed}) workloads.subtract(part);
  }
  std::map<std::string_view, CheckedSum> rest;  // the part of a unit's energy not accounted for yet
  CheckedSum own;
  own.add(state.outside_other);
  for (const UnitState& unit : state.units) {
    const Microjoules total = total_of(state, unit.energy);
    const auto [entry, is_new] = rest.try_emplace(unit.id);
    if (!is_new) throw Malformed{"a unit is there twice"};
    entry->second.add(total);
    entry->second.subtract(unit.own);
    own.add(unit.own);
    const auto parent = rest.find(std::string_view(unit.id).substr(0, unit.id.rfind('/')));
    if (parent != rest.end()) parent->second.subtract(total);
  }
  for (const auto& [id, left] : rest) {
    if (left.value() != Microjoules{})
      throw Malformed{"the sums of unit " + std::string(id) + " do not hold"};
  }
  if (own.value() != workloads.value()) throw Malformed{"the units' energies do not add up to the host's"};
}

// No path has more parts, and so no container is nested deeper.
constexpr std::size_t kDeepest = 2048;

void check_nesting(const LedgerState& state) {
  std::map<std::string_view, const ContainerState*> by_id;
  for (const ContainerState& container : state.containers) by_id.emplace(container.info.id, &container);
  for (const ContainerState& container : state.containers) {
    std::size_t depth = 0;
    for (auto around = by_id.find(container.info.id); around != by_id.end() && around->second->info.parent;
         around = by_id.find(*around->second->info.parent)) {
      if (++depth > kDeepest) throw Malformed{"a container is inside itself, or too deep inside others"};
    }
  }
}

// A container or pod equals its own plus those inside it.
void check_containers(const LedgerState& state) {
  std::map<std::string_view, CheckedSum> rest;
  const auto total = [&](const ContainerState& container) { return total_of(state, container.energy); };
  for (const ContainerState& container : state.containers) {
    const auto [entry, is_new] = rest.try_emplace(container.info.id);
    if (!is_new) throw Malformed{"a container is there twice"};
    entry->second.add(total(container));
    entry->second.subtract(container.own);
  }
  for (const ContainerState& container : state.containers) {
    if (!container.info.parent) continue;
    const auto parent = rest.find(*container.info.parent);
    if (parent == rest.end()) throw Malformed{"a container's parent is not there"};
    if (container.in_parent > total(container))
      throw Malformed{"a container used more in its parent than at all"};
    parent->second.subtract(container.in_parent);
  }
  check_nesting(state);
  for (const auto& [id, left] : rest) {
    if (left.value() != Microjoules{})
      throw Malformed{"the sums of container " + std::string(id) + " do not hold"};
  }
}

void check_vms(const LedgerState& state) {
  std::set<std::string_view> ids;
  for (const VmState& vm : state.vms) {
    if (!ids.insert(vm.info.id).second) throw Malformed{"a virtual machine is there twice"};
    CheckedSum parts;
    for (const VmPart& part : vm.parts) parts.add(part.energy);
    if (parts.value() > total_of(state, vm.energy)) throw Malformed{"a virtual machine's parts exceed it"};
  }
}

}  // namespace

// Each is at most 2^60: three of them are in range.
void check_zone(const ZoneState& zone) {
  if (zone.idle + zone.kernel + zone.unattributed > zone.energy) throw Malformed{"a zone's parts exceed it"};
  if (zone.placed > zone.idle) throw Malformed{"a zone placed more idle energy than it had"};
}

void check_idle(const std::vector<Microjoules>& energy, const std::vector<Microjoules>& idle) {
  for (std::size_t zone = 0; zone < idle.size(); ++zone) {
    if (zone >= energy.size() || idle[zone] > energy[zone])
      throw Malformed{"a workload's idle energy exceeds its energy"};
  }
}

void check_state(const LedgerState& state) {
  check_sums(state);
  check_containers(state);
  check_vms(state);
}

}  // namespace keplerd
