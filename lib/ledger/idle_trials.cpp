// SPDX-License-Identifier: Apache-2.0
#include "ledger/idle_trials.h"

#include <algorithm>

#include "ledger/container_ledger.h"
#include "ledger/vm_ledger.h"

namespace keplerd {
namespace {

void add(IdleTrial::Part& sum, const IdleTrial::Part& part) {
  sum.energy += part.energy;
  if (part.power) sum.power = sum.power.value_or(Microwatts{}) + *part.power;
}

}  // namespace

void IdleTrials::set(const std::vector<IdlePlacing>& placings) {
  std::erase_if(trials_, [&](const Trial& trial) {
    return std::ranges::find(placings, trial.placing) == placings.end();
  });
  for (const IdlePlacing placing : placings) {
    if (std::ranges::find(trials_, placing, &Trial::placing) != trials_.end()) continue;
    trials_.push_back({.placing = placing, .is_complete = false, .workloads = {}, .accounts = {}});
  }
}

void IdleTrials::place(const BookedWindow& window, const IdleLedgers& ledgers,
                       const std::vector<IdleWorkload>& workloads) {
  workloads_ = workloads;
  for (Trial& trial : trials_) {
    auto weights = idle_weights(trial.placing, window, ledgers, workloads);
    if (weights.empty()) {
      weights.assign(workloads.size() + 1, 0);
      weights.back() = 1;
    }
    trial.is_complete = trial.placing != IdlePlacing::kSize || window.usage.limits_unread == 0;
    divide(window, weights, trial);
  }
}

void IdleTrials::divide(const BookedWindow& window, const std::vector<std::int64_t>& weights, Trial& trial) {
  trial.workloads.assign(weights.size(), {});
  shares_.resize(weights.size());
  bool is_metered = false, is_known = true;
  for (std::size_t zone = 0; zone < window.zones.size(); ++zone) {
    if (!window.in_total(zone)) continue;
    const auto& span = window.standings[window.zones[zone]].span;
    is_metered = true;
    is_known = is_known && span;
    apportioner_.apportion(window.attribution.zones[zone].idle, weights, shares_);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const auto power = span ? std::optional(mean_power(shares_[i], *span)) : std::nullopt;
      add(trial.workloads[i], {shares_[i], power});
    }
  }
  if (is_metered && is_known) return;
  for (IdleTrial::Part& part : trial.workloads) part.power.reset();
}

// A unit contains what is below it, and so do the containers and the VM whose cgroup it is.
void IdleTrials::find_accounts(const UnitLedger& units, const VmRegistry& registry, const VmLedger& vms) {
  for (Trial& trial : trials_) {
    trial.accounts.clear();
    for (std::size_t i = 0; i < workloads_.size(); ++i) {
      const IdleTrial::Part& part = trial.workloads[i];
      if (workloads_[i].is_process()) {
        const Vm* const vm = registry.of_process(workloads_[i].process);
        const auto account = vm == nullptr ? vms.all().end() : vms.all().find(vm->id);
        if (account != vms.all().end()) add(trial.accounts[&account->second.energy], part);
      }
      if (workloads_[i].group == kNoGroup) continue;
      const UnitAccount* unit = units.current()[workloads_[i].group];
      for (; unit != nullptr; unit = unit->parent) {
        add(trial.accounts[&unit->energy], part);
        if (unit->vm_scope == unit && unit->vm != nullptr) add(trial.accounts[&unit->vm->energy], part);
        for (const ContainerPart& inside : unit->containers)
          add(trial.accounts[&inside.container->energy], part);
      }
    }
  }
}

void IdleTrials::report(const UnitLedger& units, const VmLedger& vms, const ContainerLedger& containers,
                        Report& report) const {
  for (const Trial& trial : trials_) {
    if (trial.workloads.empty()) continue;  // no window yet
    IdleTrial& out = report.idle_trials.emplace_back();
    out.placing = trial.placing;
    out.is_complete = trial.is_complete;
    out.host = trial.workloads.back();
    const IdleTrial::Part none{{}, out.host.power ? std::optional(Microwatts{}) : std::nullopt};
    const auto part_of = [&](const EnergyAccount& account) {
      const auto part = trial.accounts.find(&account);
      return part == trial.accounts.end() ? none : part->second;
    };
    for (const auto& [id, unit] : units.all()) out.units.push_back(part_of(unit->energy));
    for (const auto& [id, vm] : vms.all())
      if (!vm.is_dormant) out.vms.push_back(part_of(vm.energy));
    for (const auto& [id, container] : containers.containers())
      out.containers.push_back(part_of(container.energy));
    for (const auto& [id, pod] : containers.pods()) out.pods.push_back(part_of(pod.energy));
  }
}

}  // namespace keplerd
