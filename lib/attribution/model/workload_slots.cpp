// SPDX-License-Identifier: Apache-2.0
#include "attribution/model/workload_slots.h"

#include <algorithm>

#include "attribution/model/arithmetic.h"

namespace keplerd {
namespace {

constexpr double kUseSpan = 300;             // s
constexpr std::size_t kEvery = 10;           // windows between two searches for larger workloads
constexpr double kLargerBy = 1.5;            // a newcomer takes a slot from a workload that uses so much less
constexpr double kLeastUse = 1e-9;           // busy CPUs
constexpr std::size_t kMostRemembered = 64;  // workloads that ended

}  // namespace

void WorkloadSlots::follow(const CpuWindow& window, std::span<const double> use, PowerFilter& filter) {
  ++windows_;
  measure(window, use);
  release_ended(filter);
  forget_oldest();
  if (windows_ % kEvery == 1) fill(filter);
}

void WorkloadSlots::measure(const CpuWindow& window, std::span<const double> use) {
  for (std::size_t g = 0; g < use.size(); ++g) {
    if (window.contenders[g].workload == 0) continue;
    Workload& workload = workloads_[window.contenders[g].workload];
    workload.window_use += use[g];
    workload.window = windows_;
  }
  const double weight = mean_weight(window.seconds, kUseSpan);
  for (auto& [id, workload] : workloads_) {
    workload.use += weight * (workload.window_use - workload.use);
    workload.window_use = 0;
    workload.held = workload.slot == 0 ? 0 : workload.held + window.seconds;
  }
}

void WorkloadSlots::release_ended(PowerFilter& filter) {
  for (std::size_t slot = 1; slot < kSlots; ++slot) {
    if (holder_[slot] == 0 || workloads_[holder_[slot]].window == windows_) continue;
    take(slot, filter);
    filter.assign(slot, 0, filter.deviation_variance());
  }
}

// The workload in `slot` loses it.
void WorkloadSlots::take(std::size_t slot, const PowerFilter& filter) {
  Workload& workload = workloads_[holder_[slot]];
  workload.deviation = filter.deviation(slot);
  workload.variance = filter.deviation_covariance(slot, slot);
  workload.slot = 0;
  holder_[slot] = 0;
}

// Of workloads that have ended, keeps those about which something was learned, up to a bound.
void WorkloadSlots::forget_oldest() {
  std::erase_if(workloads_, [this](const auto& entry) {
    return entry.second.window != windows_ && entry.second.variance < 0;
  });
  std::vector<std::pair<std::size_t, std::uint64_t>> ended;  // by their last window
  for (const auto& [id, workload] : workloads_) {
    if (workload.window != windows_) ended.emplace_back(workload.window, id);
  }
  if (ended.size() <= kMostRemembered) return;
  std::ranges::sort(ended);
  ended.resize(ended.size() - kMostRemembered);
  for (const auto& [last, id] : ended) workloads_.erase(id);
}

// Gives free slots to the largest workloads without one, and others where the newcomer is clearly larger.
void WorkloadSlots::fill(PowerFilter& filter) {
  std::vector<std::pair<double, std::uint64_t>> waiting;
  for (const auto& [id, workload] : workloads_) {
    if (workload.slot == 0 && workload.window == windows_ && workload.use > kLeastUse)
      waiting.emplace_back(-workload.use, id);
  }
  std::ranges::sort(waiting);
  const auto use_of = [this](std::size_t slot) {
    return holder_[slot] == 0 ? -1 : workloads_[holder_[slot]].use;  // free ones first
  };
  for (const auto& [negative_use, id] : waiting) {
    std::size_t chosen = 1;
    for (std::size_t slot = 2; slot < kSlots; ++slot)
      if (use_of(slot) < use_of(chosen)) chosen = slot;
    if (holder_[chosen] != 0) {
      if (-negative_use < kLargerBy * use_of(chosen)) return;
      take(chosen, filter);
    }
    Workload& workload = workloads_[id];
    holder_[chosen] = id;
    workload.slot = chosen;
    filter.assign(chosen, workload.deviation,
                  workload.variance < 0 ? filter.deviation_variance() : workload.variance);
  }
}

std::size_t WorkloadSlots::slot_of(std::uint64_t workload) const {
  const auto found = workloads_.find(workload);
  return found == workloads_.end() ? 0 : found->second.slot;
}

WorkloadSlots::Holder WorkloadSlots::holder(std::size_t slot) const {
  const auto workload = workloads_.find(holder_[slot]);
  return workload == workloads_.end() ? Holder() : Holder{workload->first, workload->second.held};
}

std::vector<WorkloadMemory> WorkloadSlots::memory(const PowerFilter& filter) const {
  std::vector<WorkloadMemory> memory;
  for (const auto& [id, workload] : workloads_) {
    if (workload.slot != 0) {
      memory.push_back(
          {id, filter.deviation(workload.slot), filter.deviation_covariance(workload.slot, workload.slot)});
    } else if (workload.variance >= 0) {
      memory.push_back({id, workload.deviation, workload.variance});
    }
  }
  return memory;
}

void WorkloadSlots::restore(std::span<const WorkloadMemory> memory) {
  for (const WorkloadMemory& known : memory)
    workloads_[known.workload] = {.deviation = known.deviation, .variance = known.variance};
}

void WorkloadSlots::find(std::span<const ContenderUse> contenders, std::vector<std::size_t>& slots) const {
  slots.assign(contenders.size(), 0);
  for (std::size_t g = 0; g < contenders.size(); ++g) {
    const auto workload = workloads_.find(contenders[g].workload);
    if (workload != workloads_.end()) slots[g] = workload->second.slot;
  }
}

}  // namespace keplerd
