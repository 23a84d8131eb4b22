// SPDX-License-Identifier: Apache-2.0
#include "ledger/size_weights.h"

#include <algorithm>
#include <map>

namespace keplerd {
namespace {

using Part = std::optional<double>;  // of what the host has; unset: not limited

// Unset counts as more than any.
Part least(Part a, Part b) { return !a ? b : !b ? a : std::min(*a, *b); }

// CPU, or memory.
struct SoldResource {
  std::vector<Part> of_groups;     // own limits
  std::vector<Part> of_workloads;  // likewise
};

Part part_of(double limit, double host) { return host > 0 ? std::min(limit / host, 1.0) : Part(); }

SoldResource cpu_of(const UsageSample& usage, std::span<const SizedWorkload> workloads) {
  using Seconds = std::chrono::duration<double>;
  SoldResource cpu;
  for (const GroupLimits& limits : usage.limits) {
    Part part;
    if (limits.cpu_time) part = part_of(Seconds(*limits.cpu_time).count(), usage.host.cpus);
    cpu.of_groups.push_back(limits.vcpus ? least(part, part_of(*limits.vcpus, usage.host.cpus)) : part);
  }
  for (const SizedWorkload& workload : workloads)
    cpu.of_workloads.push_back(workload.size.vcpus ? part_of(*workload.size.vcpus, usage.host.cpus) : Part());
  return cpu;
}

SoldResource memory_of(const UsageSample& usage, std::span<const SizedWorkload> workloads) {
  const auto part = [host = static_cast<double>(usage.host.memory)](std::optional<std::int64_t> bytes) {
    return bytes ? part_of(static_cast<double>(*bytes), host) : Part();
  };
  SoldResource memory;
  for (const GroupLimits& limits : usage.limits) memory.of_groups.push_back(part(limits.memory));
  for (const SizedWorkload& workload : workloads) memory.of_workloads.push_back(part(workload.size.memory));
  return memory;
}

// What each workload has of the resource.
std::vector<Part> divide(const UsageSample& usage, std::span<const SizedWorkload> workloads,
                         const SoldResource& resource) {
  const std::size_t count = usage.groups.size();
  std::vector<Part> least_above = resource.of_groups;
  least_above.resize(count);
  for (std::size_t i = 0; i < count; ++i)  // parents first
    if (const std::size_t parent = usage.groups[i].parent; parent != kNoGroup)
      least_above[i] = least(least_above[i], least_above[parent]);

  std::vector<Part> parts = resource.of_workloads;
  std::vector<double> together(count), kept(count, 1.0);
  for (std::size_t w = 0; w < workloads.size(); ++w) {
    const std::size_t group = workloads[w].group;
    if (group == kNoGroup) continue;
    parts[w] = least(parts[w], least_above[group]);
    together[group] += parts[w].value_or(0);
  }
  for (std::size_t i = count; i-- > 0;) {  // children first
    if (const Part limit = resource.of_groups.empty() ? Part() : resource.of_groups[i];
        limit && together[i] > *limit) {
      kept[i] = *limit / together[i];
      together[i] = *limit;
    }
    if (const std::size_t parent = usage.groups[i].parent; parent != kNoGroup)
      together[parent] += together[i];
  }
  for (std::size_t i = 0; i < count; ++i)
    if (const std::size_t parent = usage.groups[i].parent; parent != kNoGroup) kept[i] *= kept[parent];
  for (std::size_t w = 0; w < workloads.size(); ++w)
    if (parts[w] && workloads[w].group != kNoGroup) *parts[w] *= kept[workloads[w].group];
  return parts;
}

double mean(Part a, Part b) { return a && b ? (*a + *b) / 2 : a ? *a : b.value_or(0); }

// Reduces those of `weights` that `is_of` selects so that their sum is at most `most`; returns the sum.
template <class IsOf>
double limit_sum(std::vector<double>& weights, double most, IsOf is_of) {
  double sum = 0;
  for (std::size_t w = 0; w < weights.size(); ++w)
    if (is_of(w)) sum += weights[w];
  if (sum <= most) return sum;
  for (std::size_t w = 0; w < weights.size(); ++w)
    if (is_of(w)) weights[w] *= most / sum;
  return most;
}

}  // namespace

std::vector<double> size_weights(const UsageSample& usage, std::span<const SizedWorkload> workloads) {
  const auto cpu = divide(usage, workloads, cpu_of(usage, workloads));
  const auto memory = divide(usage, workloads, memory_of(usage, workloads));
  std::vector<double> weights;
  std::map<Uid, double> claimed;
  for (std::size_t w = 0; w < workloads.size(); ++w) {
    weights.push_back(mean(cpu[w], memory[w]));
    if (workloads[w].claimant) claimed[*workloads[w].claimant] += weights[w];
  }
  const double sold = limit_sum(weights, 1, [&](std::size_t w) { return !workloads[w].claimant; });
  for (std::size_t w = 0; w < workloads.size(); ++w)
    if (workloads[w].claimant) weights[w] /= std::max(claimed[*workloads[w].claimant], 1.0);
  limit_sum(weights, 1 - sold, [&](std::size_t w) { return workloads[w].claimant.has_value(); });
  return weights;
}

}  // namespace keplerd
