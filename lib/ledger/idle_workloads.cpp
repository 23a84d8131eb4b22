// SPDX-License-Identifier: Apache-2.0
#include "ledger/idle_workloads.h"

#include <algorithm>
#include <cmath>

#include "ledger/container_ledger.h"
#include "ledger/size_weights.h"
#include "ledger/vm_ledger.h"

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

// What is known of a group.
struct Marks {
  bool is_inside = false;  // a VM or container
  bool is_whole = false;
  bool has_workloads = false;  // inside it
};

void find_vms_without_cgroup(const BookedWindow& window, const IdleLedgers& ledgers,
                             std::vector<Marks>& marks, std::vector<IdleWorkload>& workloads) {
  for (const auto& vm : ledgers.registry.running()) {
    if (!vm->scopes.empty()) continue;
    const ProcessAccount* const process = ledgers.processes.find(vm->process);
    const bool has_ended = std::ranges::find(window.usage.ended, vm->process) != window.usage.ended.end();
    if (process == nullptr || has_ended) continue;
    const UnitAccount* const unit = process->unit;
    if (unit == nullptr) {
      workloads.push_back({.group = kNoGroup, .process = vm->process});
      continue;
    }
    const auto group = std::ranges::find(window.usage.groups, unit->incarnation, &GroupUsage::incarnation);
    if (group == window.usage.groups.end()) continue;
    const auto index = static_cast<std::size_t>(group - window.usage.groups.begin());
    if (marks[index].is_inside || marks[index].is_whole) continue;
    marks[index].has_workloads = true;
    workloads.push_back({.group = index, .process = vm->process});
  }
}

// The active energy of about the last hour: older energy counts less.
void remember(double& recent, Microjoules active, double decay) {
  recent = recent * decay + static_cast<double>(active.value);
}

// Nobody: an owner that is not known.
std::optional<Uid> claimant_of(Uid owner) {
  return is_ordinary_user(owner) || owner == kNobodyUser ? std::optional(owner) : std::nullopt;
}

std::vector<std::int64_t> weights_by_size(const BookedWindow& window, const IdleLedgers& ledgers,
                                          const std::vector<IdleWorkload>& workloads) {
  std::vector<SizedWorkload> sized;
  for (const IdleWorkload& workload : workloads) {
    SizedWorkload& one =
        sized.emplace_back(SizedWorkload{.group = workload.group, .size = {}, .claimant = {}});
    if (!workload.is_process()) {
      one.claimant = claimant_of(ledgers.units.current()[workload.group]->parent_owner);
    } else if (const Vm* const vm = ledgers.registry.of_process(workload.process)) {
      one.size = ledgers.vms.size_of(*vm);
      one.claimant = claimant_of(vm->claimant.owner);
    }
  }
  constexpr std::int64_t kHost = std::int64_t{1} << 40;
  std::vector<std::int64_t> weights;
  std::int64_t rest = kHost;
  for (const double part : size_weights(window.usage, sized)) {
    weights.push_back(std::min<std::int64_t>(std::llround(part * static_cast<double>(kHost)), rest));
    rest -= weights.back();
  }
  weights.push_back(rest);
  return weights;
}

}  // namespace

std::vector<IdleWorkload> find_idle_workloads(const BookedWindow& window, const IdleLedgers& ledgers) {
  std::vector<IdleWorkload> workloads;
  const std::vector<GroupUsage>& groups = window.usage.groups;
  const std::vector<UnitAccount*>& units = ledgers.units.current();
  std::vector<Marks> marks(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {  // parents first
    if (groups[i].parent != kNoGroup) {
      const Marks& parent = marks[groups[i].parent];
      marks[i].is_inside = parent.is_inside || parent.is_whole;
    }
    marks[i].is_whole = !marks[i].is_inside && is_whole(*units[i]);
  }
  find_vms_without_cgroup(window, ledgers, marks, workloads);
  for (std::size_t i = groups.size(); i-- > 0;) {  // children first
    if (marks[i].is_inside) continue;
    const UnitAccount& unit = *units[i];
    if (marks[i].is_whole ? is_first_cgroup(unit) : is_unit(unit) && !marks[i].has_workloads)
      workloads.push_back({.group = i, .process = {}});
    const bool counts = marks[i].is_whole || marks[i].has_workloads || is_unit(unit);
    if (counts && groups[i].parent != kNoGroup) marks[groups[i].parent].has_workloads = true;
  }
  return workloads;
}

void remember_use(const BookedWindow& window, const IdleLedgers& ledgers) {
  const double decay = std::exp(-std::chrono::duration<double>(window.attribution.window).count() / kHour);
  for (UnitAccount* const unit : ledgers.units.current())
    remember(unit->recent_active, unit->energy.window_active(window.sequence, window.standings), decay);
  for (const auto& vm : ledgers.registry.running()) {
    if (!vm->scopes.empty()) continue;
    ProcessAccount* const process = ledgers.processes.change(vm->process);
    if (process == nullptr) continue;
    // Its window is booked later: this is the one before.
    remember(process->recent_active, process->energy.window_active(window.sequence - 1, window.standings),
             decay);
  }
}

std::vector<std::int64_t> idle_weights(IdlePlacing placing, const BookedWindow& window,
                                       const IdleLedgers& ledgers,
                                       const std::vector<IdleWorkload>& workloads) {
  std::vector<std::int64_t> weights;
  if (placing == IdlePlacing::kSeparate) return weights;
  if (placing == IdlePlacing::kSize) {
    weights = weights_by_size(window, ledgers, workloads);
  } else {
    for (const IdleWorkload& workload : workloads) {
      const double recent = workload.is_process() ? ledgers.processes.find(workload.process)->recent_active
                                                  : ledgers.units.current()[workload.group]->recent_active;
      weights.push_back(placing == IdlePlacing::kEqual ? 1 : std::llround(recent));
    }
    weights.push_back(0);
  }
  const auto is_none = [](std::int64_t weight) { return weight == 0; };
  if (std::all_of(weights.begin(), weights.end() - 1, is_none)) weights.clear();
  return weights;
}

}  // namespace keplerd
