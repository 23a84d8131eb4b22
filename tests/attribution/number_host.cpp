// SPDX-License-Identifier: Apache-2.0
#include "attribution/number_host.h"

#include <algorithm>

namespace keplerd {

Zone package_zone(int index) {
  return {.id = zone_id("test", "package", index),
          .name = "package",
          .index = index,
          .in_total = true,
          .range = {262'143'328'850},
          .largest_limit = {200'000'000}};
}

Zone dram_zone(int index) {
  return {.id = zone_id("test", "dram", index),
          .name = "dram",
          .index = index,
          .in_total = true,
          .range = {65'712'999'613},
          .largest_limit = {},
          .resource = Resource::kDram};
}

NumberHost::NumberHost(std::vector<Zone> zones)
    : zones_(std::move(zones)),
      counters_(zones_.size(), Microjoules{1'000'000'000}),
      failing_(zones_.size(), false) {}

int NumberHost::add_group(int parent) {
  const int group = ++last_;
  const auto around = groups_.find(parent);
  const std::string above = around == groups_.end() ? "" : around->second.path;
  groups_[group] = {.parent = parent, .path = above + "/g" + std::to_string(group)};
  if (!first_) groups_[group].reported = Nanoseconds{0};
  paths_[group] = groups_[group].path;
  return group;
}

void NumberHost::remove_group(int group) {
  std::erase_if(processes_, [&](const auto& entry) { return entry.second.group == group; });
  std::vector<int> children;
  for (const auto& [id, other] : groups_) {
    if (other.parent == group) children.push_back(id);
  }
  for (const int child : children) remove_group(child);
  groups_.erase(group);
}

int NumberHost::add_process(int group, Kind kind) {
  const int process = ++last_;
  processes_[process] = {.id = {process, static_cast<std::uint64_t>(process)}, .group = group, .kind = kind};
  // As in the reader: a new process outside any group used all its time in this window.
  if (!first_ && group == kRoot) processes_[process].reported = ProcessUsage::Before{};
  return process;
}

void NumberHost::run(int process, Nanoseconds time) {
  processes_.at(process).usage += time;
  run_group(processes_.at(process).group, time);
}

void NumberHost::run_group(int group, Nanoseconds time) {
  for (; group != kRoot; group = groups_.at(group).parent) groups_.at(group).usage += time;
}

void NumberHost::run_ticks(std::int64_t busy, std::int64_t idle, std::int64_t interrupts) {
  ticks_.busy += busy;
  ticks_.idle += idle;
  ticks_.interrupts += interrupts;
}

void NumberHost::draw(Microjoules energy, std::size_t zone) {
  counters_[zone] += energy;
  const Microjoules range = zones_[zone].range;
  while (range > Microjoules{} && counters_[zone] > range) counters_[zone] -= range;
}

Sample NumberHost::sample(Nanoseconds after) {
  now_ += after;
  Sample sample;
  sample.at = {.monotonic = now_, .boottime = now_ + asleep_};
  for (std::size_t i = 0; i < zones_.size(); ++i) {
    if (failing_[i]) sample.readings.emplace_back(Error{"Input/output error"});
    if (!failing_[i]) sample.readings.emplace_back(counters_[i]);
  }
  sample.usage.ticks = ticks_;
  sample.usage.interrupts_apart = interrupts_apart_;
  report_cpus(sample.usage);
  report_groups(sample.usage);
  report_processes(sample.usage);
  first_ = false;
  return sample;
}

void NumberHost::report_cpus(UsageSample& usage) {
  if (cpus_ == 0) return;
  std::int64_t busy = ticks_.busy - reported_ticks_.busy;
  const std::int64_t total = (busy + ticks_.idle - reported_ticks_.idle) / cpus_;
  for (int number = 0; number < cpus_; ++number) {
    const std::int64_t of_it = std::clamp<std::int64_t>(busy, 0, std::max<std::int64_t>(total, 0));
    busy -= of_it;
    usage.cpus.push_back({.number = number,
                          .core = static_cast<std::size_t>(number),
                          .busy = of_it,
                          .total = first_ ? 0 : std::max<std::int64_t>(total, 0)});
  }
  usage.cpu_classes = {CpuSet(static_cast<std::size_t>(cpus_), 1)};
  reported_ticks_ = ticks_;
}

void NumberHost::report_groups(UsageSample& usage) {
  for (auto& [id, group] : groups_) {
    const Nanoseconds reported = std::max(group.usage - group.skew, group.reported.value_or(Nanoseconds{0}));
    group.skew = Nanoseconds{0};
    group.index = usage.groups.size();
    group.behind = !group.read && !first_ && (group.behind || reported != group.reported);
    usage.groups.push_back({.incarnation = static_cast<std::uint64_t>(id),
                            .parent = group.parent == kRoot ? kNoGroup : groups_.at(group.parent).index,
                            .path = paths_.at(id),
                            .usage = reported,
                            .before = group.reported,
                            .behind = group.behind});
    group.reported = reported;
  }
}

void NumberHost::report_processes(UsageSample& usage) {
  for (auto& [id, process] : processes_) {
    const bool stayed =
        process.reported && process.reported->group == static_cast<std::uint64_t>(process.group);
    process.index = kNoProcess;
    if (process.group != kRoot && stayed && groups_.at(process.group).behind) continue;
    process.index = usage.processes.size();
    usage.processes.push_back({.id = process.id,
                               .comm = "task",
                               .kernel_thread = process.kind == Kind::kKernelThread,
                               .group = process.group == kRoot ? kNoGroup : groups_.at(process.group).index,
                               .usage = process.usage,
                               .before = process.reported});
    process.reported = ProcessUsage::Before{static_cast<std::uint64_t>(process.group), process.usage};
  }
}

}  // namespace keplerd
