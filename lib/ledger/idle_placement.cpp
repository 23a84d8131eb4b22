// SPDX-License-Identifier: Apache-2.0
#include "ledger/idle_placement.h"

#include <algorithm>
#include <cmath>

#include "ledger/container_ledger.h"

namespace keplerd {
namespace {

constexpr double kHour = 3600;

// Whether it is the cgroup of a VM or of a container, which is a workload with all that is inside it.
bool is_whole(const UnitAccount& unit) {
  return unit.vm_scope == &unit || std::ranges::any_of(unit.containers, [](const ContainerPart& part) {
           return !part.container->info->is_pod;
         });
}

// Of a container's several cgroups, the one that is its id's.
bool is_first_cgroup(const UnitAccount& unit) {
  return unit.vm_scope == &unit || std::ranges::any_of(unit.containers, [&](const ContainerPart& part) {
           return !part.container->info->is_pod && part.container->info->unit == unit.info->id;
         });
}

bool is_unit(const UnitAccount& unit) { return unit.info->is_unit && !unit.info->name.ends_with(".slice"); }

// The active energy of about the last hour: older energy counts less.
void remember(double& recent, Microjoules active, double decay) {
  recent = recent * decay + static_cast<double>(active.value);
}

}  // namespace

// What is known of a group.
struct IdlePlacement::Marks {
  bool is_inside = false;  // a VM or container
  bool is_whole = false;
  bool has_workloads = false;  // inside it
};

void IdlePlacement::place(const BookedWindow& window, const UnitLedger& units, ProcessLedger& processes,
                          const VmRegistry& vms) {
  for (auto* const placed : {&zones_, &own_, &other_}) placed->clear();
  workloads_.clear();
  if (placing_ == IdlePlacing::kSeparate) return;
  find_workloads(window, units, processes, vms);
  weigh(window, units, processes);
  if (std::ranges::all_of(weights_, [](std::int64_t weight) { return weight == 0; })) return;
  zones_.resize(window.zones.size());
  own_.resize(units.current().size());
  other_.resize(units.current().size());
  shares_.resize(window.zones.size());
  for (std::size_t zone = 0; zone < window.zones.size(); ++zone) book_zone(window, zone, units);
}

void IdlePlacement::find_workloads(const BookedWindow& window, const UnitLedger& units,
                                   ProcessLedger& processes, const VmRegistry& vms) {
  const std::vector<GroupUsage>& groups = window.usage.groups;
  std::vector<Marks> marks(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {  // parents first
    if (groups[i].parent != kNoGroup) {
      const Marks& parent = marks[groups[i].parent];
      marks[i].is_inside = parent.is_inside || parent.is_whole;
    }
    marks[i].is_whole = !marks[i].is_inside && is_whole(*units.current()[i]);
  }
  find_vms_without_cgroup(window, processes, vms, marks);
  for (std::size_t i = groups.size(); i-- > 0;) {  // children first
    if (marks[i].is_inside) continue;
    const UnitAccount& unit = *units.current()[i];
    if (marks[i].is_whole ? is_first_cgroup(unit) : is_unit(unit) && !marks[i].has_workloads)
      workloads_.push_back({.group = i, .process = {}});
    const bool counts = marks[i].is_whole || marks[i].has_workloads || is_unit(unit);
    if (counts && groups[i].parent != kNoGroup) marks[groups[i].parent].has_workloads = true;
  }
}

void IdlePlacement::find_vms_without_cgroup(const BookedWindow& window, ProcessLedger& processes,
                                            const VmRegistry& vms, std::vector<Marks>& marks) {
  for (const auto& vm : vms.running()) {
    if (!vm->scopes.empty()) continue;
    const ProcessAccount* const process = processes.find(vm->process);
    const bool has_ended = std::ranges::find(window.usage.ended, vm->process) != window.usage.ended.end();
    if (process == nullptr || has_ended) continue;
    const UnitAccount* const unit = process->unit;
    if (unit == nullptr) {
      workloads_.push_back({.group = kNoGroup, .process = vm->process});
      continue;
    }
    const auto group = std::ranges::find(window.usage.groups, unit->incarnation, &GroupUsage::incarnation);
    if (group == window.usage.groups.end()) continue;
    const auto index = static_cast<std::size_t>(group - window.usage.groups.begin());
    if (marks[index].is_inside || marks[index].is_whole) continue;
    marks[index].has_workloads = true;
    workloads_.push_back({.group = index, .process = vm->process});
  }
}

void IdlePlacement::weigh(const BookedWindow& window, const UnitLedger& units, ProcessLedger& processes) {
  weights_.assign(workloads_.size(), 1);
  if (placing_ == IdlePlacing::kEqual) return;
  const double decay = std::exp(-std::chrono::duration<double>(window.attribution.window).count() / kHour);
  for (UnitAccount* const unit : units.current())
    remember(unit->recent_active, unit->energy.window_active(window.sequence, window.standings), decay);
  for (std::size_t i = 0; i < workloads_.size(); ++i) {
    const Workload& workload = workloads_[i];
    double recent = 0;
    if (workload.is_process()) {  // its window is booked later: this is the one before
      ProcessAccount& process = *processes.find(workload.process);
      remember(process.recent_active, process.energy.window_active(window.sequence - 1, window.standings),
               decay);
      recent = process.recent_active;
    } else {
      recent = units.current()[workload.group]->recent_active;
    }
    weights_[i] = std::llround(recent);
  }
}

// An ancestor has what its descendants have.
void IdlePlacement::book_zone(const BookedWindow& window, std::size_t zone, const UnitLedger& units) {
  const Microjoules idle = window.attribution.zones[zone].idle;
  std::vector<Microjoules>& shares = shares_[zone];
  shares.assign(workloads_.size(), {});
  if (idle == Microjoules{}) return;
  apportioner_.apportion(idle, weights_, shares);
  zones_[zone] = idle;
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
    ProcessAccount& process = *processes.find(workloads_[i].process);
    for (std::size_t zone = 0; zone < window.zones.size(); ++zone) {
      process.energy.add_idle(window.sequence, window.zones[zone], shares_[zone][i]);
      if (window.in_total(zone)) process.in_unit += shares_[zone][i];
    }
  }
}

}  // namespace keplerd
