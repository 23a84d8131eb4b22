// SPDX-License-Identifier: Apache-2.0
#include "accuracy/rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "attribution/learned_model.h"
#include "attribution/make_model.h"
#include "attribution/model/arithmetic.h"

namespace keplerd::accuracy {
namespace {

Nanoseconds nanoseconds(double seconds) { return Nanoseconds(std::llround(seconds * 1e9)); }
Microjoules microjoules(double joules) { return {std::llround(joules * 1e6)}; }
double joules(Microjoules energy) { return static_cast<double>(energy.value) / 1e6; }

ModelRules rules_of(Rule rule) {
  using Split = ModelRules::Split;
  using Share = ModelRules::Share;
  switch (rule) {
    case Rule::kUsageRatio:
      return {.split = Split::kUsageRatio, .share = Share::kCpuTime};
    case Rule::kFloor:
      return {.split = Split::kBaseline, .share = Share::kCpuTime};
    case Rule::kInstructions:
      return {.split = Split::kBaseline, .share = Share::kInstructions};
    case Rule::kLearned:
    case Rule::kNoFrequency:
    case Rule::kHalfCounted:
    case Rule::kCounted:
    case Rule::kMisses:
    case Rule::kPooled:
      break;
  }
  return {};
}

std::unique_ptr<Model> model_of(Rule rule) {
  if (rule == Rule::kPooled) return std::make_unique<LearnedModel>(rules_of(rule), 1);
  return make_model(rules_of(rule));
}

}  // namespace

std::string_view rule_name(Rule rule) {
  constexpr std::array<std::string_view, 9> kNames{"usage ratio",  "floor x CPU",  "learned",
                                                   "no frequency", "half counted", "counted",
                                                   "misses",       "instructions", "pooled"};
  return kNames[static_cast<std::size_t>(rule)];
}

Divider::Divider(Rule rule, const Host& host)
    : rule_(rule),
      host_(host),
      attributor_(model_of(rule)),
      counters_(static_cast<std::size_t>(host.processors().packages), 0) {
  std::vector<Zone> zones;
  for (int package = 0; package < host.processors().packages; ++package)
    zones.push_back({.id = fmt::format("powercap:{}:{}", host.zone(), package),
                     .name = std::string(host.zone()),
                     .index = package,
                     .in_total = true,
                     .resource = rapl_resource(host.zone())});
  attributor_.set_zones(std::move(zones));
  classes_.emplace_back(static_cast<std::size_t>(host.processors().cpus()), std::uint8_t{1});
  begin_sample();
  for (std::size_t i = 0; i < host.workloads().size(); ++i)
    if (host.workloads()[i].born <= 0) add_group(find_workload(i), Nanoseconds{0});
  add_counters({});
  attributor_.attribute(sample_);
}

Divider::Group& Divider::find_workload(std::size_t index) {
  const auto known = services_.find(index);
  if (known != services_.end()) return known->second;
  const Workload& workload = host_.workloads()[index];
  Group group{.path = fmt::format("/{}/{}.service", workload.parent, index),
              .incarnation = ++last_incarnation_};
  if (!workload.parent.empty()) {
    group.parent = slices_.at(workload.parent).index;
  } else {
    group.path.erase(0, 1);
  }
  if (!workload.cpus.empty()) {
    const auto [found, is_new] = class_ids_.emplace(workload.cpus, classes_.size());
    if (is_new) {
      CpuSet& set = classes_.emplace_back(classes_[0].size(), std::uint8_t{0});
      for (const int cpu : workload.cpus) set[static_cast<std::size_t>(cpu)] = 1;
    }
    group.cpu_class = found->second;
  }
  return services_.emplace(index, std::move(group)).first->second;
}

// The slices exist from the start, before what is in them.
void Divider::begin_sample() {
  sample_.usage.groups.clear();
  for (const Workload& workload : host_.workloads()) {
    if (workload.parent.empty() || slices_.contains(workload.parent)) continue;
    slices_.emplace(workload.parent,
                    Group{.path = "/" + workload.parent, .incarnation = ++last_incarnation_});
  }
  for (auto& [name, slice] : slices_) add_group(slice, Nanoseconds{0});
}

void Divider::add_group(Group& group, Nanoseconds used) {
  group.index = sample_.usage.groups.size();
  sample_.usage.groups.push_back({.incarnation = group.incarnation,
                                  .parent = group.parent,
                                  .path = group.path,
                                  .usage = group.usage + used,
                                  .before = group.usage,
                                  .cpu_class = group.cpu_class});
  group.usage += used;
  if (group.parent == kNoGroup) return;
  GroupUsage& slice = sample_.usage.groups[group.parent];
  slice.usage += used;
  for (auto& [name, known] : slices_)
    if (known.index == group.parent) known.usage += used;
}

void Divider::add_groups(const Window& window) {
  begin_sample();
  for (const Window::Usage& usage : window.usage)
    add_group(find_workload(usage.workload), nanoseconds(usage.cpu_seconds));
}

void Divider::add_cpus(const Window& window) {
  UsageSample& usage = sample_.usage;
  usage.cpus.clear();
  for (std::size_t c = 0; c < window.busy.size(); ++c) {
    const Processors& processors = host_.processors();
    const int cpu = static_cast<int>(c);
    const int package = processors.package_of(cpu);
    const std::int64_t total = std::llround(100 * window.seconds);
    const std::int64_t busy = std::llround(100 * window.seconds * window.busy[c]);
    usage.cpus.push_back({.number = cpu,
                          .package = package,
                          .die = package,
                          .core = static_cast<std::size_t>(processors.core_of(cpu)),
                          .busy = busy,
                          .total = total,
                          .khz = rule_ == Rule::kNoFrequency ? 0 : std::llround(window.khz[c])});
    usage.ticks.busy += busy;
    usage.ticks.idle += total - busy;
  }
  usage.cpu_classes = classes_;
}

void Divider::add_counters(const Window& window) {
  sample_.at.monotonic += nanoseconds(window.seconds);
  sample_.at.boottime = sample_.at.monotonic;
  sample_.readings.clear();
  for (std::size_t package = 0; package < counters_.size(); ++package) {
    if (!window.energy.empty()) counters_[package] += window.energy[package];
    sample_.readings.emplace_back(microjoules(counters_[package]));
  }
}

const Estimate& Divider::divide(const Window& window) {
  add_groups(window);
  add_cpus(window);
  add_counters(window);
  add_counts(window);
  read_result(window);
  return estimate_;
}

bool Divider::is_measured(std::size_t workload) const {
  return host_.workloads()[workload].parent.empty() && (rule_ != Rule::kHalfCounted || workload % 2 == 0);
}

void Divider::add_counts(const Window& window) {
  sample_.usage.counts.clear();
  const auto dies = static_cast<double>(counters_.size());
  const auto add = [&](CountKind kind, auto of_usage) {
    for (std::size_t die = 0; die < counters_.size(); ++die) {
      GroupCounts counts{.source = {kind, static_cast<int>(die)}, .all = {}, .groups = {}};
      for (const Window::Usage& usage : window.usage) {
        const Count count{std::llround(of_usage(usage, die))};
        counts.all += count;
        if (is_measured(usage.workload))
          counts.groups.push_back({find_workload(usage.workload).index, count});
      }
      sample_.usage.counts.push_back(std::move(counts));
    }
  };
  using Usage = Window::Usage;
  switch (rule_) {
    case Rule::kHalfCounted:
    case Rule::kCounted:
      if (host_.zone() == "dram") {  // the same on all dies
        add(CountKind::kMemoryTraffic, [&](const Usage& usage, std::size_t) { return usage.bytes / dies; });
      } else {
        add(CountKind::kCoreEnergy,
            [](const Usage& usage, std::size_t die) { return usage.cores.at(die) * 1e6; });
      }
      break;
    case Rule::kMisses:
      add(CountKind::kCacheMisses, [&](const Usage& usage, std::size_t) { return usage.misses / dies; });
      break;
    case Rule::kInstructions:
      add(CountKind::kInstructions,
          [](const Usage& usage, std::size_t die) { return usage.instructions.at(die); });
      break;
    default:
      break;
  }
}

void Divider::read_result(const Window& window) {
  const Attribution& attribution = attributor_.attribute(sample_);
  estimate_.idle = 0;
  estimate_.energy.assign(window.usage.size(), 0);
  estimate_.relative_sd.assign(window.usage.size(), 0);
  for (const ZoneAttribution& zone : attribution.zones) {
    estimate_.idle += joules(zone.idle);
    for (std::size_t i = 0; i < window.usage.size(); ++i) {
      const std::size_t group = find_workload(window.usage[i].workload).index;
      estimate_.energy[i] += joules(zone.group[group]);
      estimate_.relative_sd[i] += joules(zone.group_errors()[group]) / kNormal95;
    }
  }
  for (std::size_t i = 0; i < window.usage.size(); ++i)
    estimate_.relative_sd[i] /= std::max(estimate_.energy[i], 1e-12);
}

}  // namespace keplerd::accuracy
