// SPDX-License-Identifier: Apache-2.0
#include "attribution/attributor.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "attribution/half_width.h"

namespace keplerd {
namespace {

// Both clocks are read together; a larger difference between them means that the host was suspended.
constexpr Nanoseconds kClockSkew = std::chrono::milliseconds(10);

constexpr std::int64_t kMostTicks = INT64_MAX / 4 / kTick.count();  // whatever /proc/stat says, sums fit

// What a process used in the window, provided that it was in the same group at both ends.
Nanoseconds process_time(const ProcessUsage& process, const UsageSample& usage) {
  if (!process.before) return Nanoseconds{0};
  const std::uint64_t group = process.group == kNoGroup ? 0 : usage.groups[process.group].incarnation;
  if (process.before->group != group) return Nanoseconds{0};
  return std::max(process.usage - process.before->usage, Nanoseconds{0});
}

bool weighs_something(std::span<const std::int64_t> weights) {
  return std::ranges::any_of(weights, [](std::int64_t weight) { return weight > 0; });
}

// Adds to each group what its descendants have.
void add_up_the_tree(std::span<const GroupUsage> groups, std::vector<Microjoules>& of_group) {
  for (std::size_t group = groups.size(); group-- > 0;)
    if (groups[group].parent != kNoGroup) of_group[groups[group].parent] += of_group[group];
}

}  // namespace

Attributor::Attributor(std::unique_ptr<Model> model) { set_model(std::move(model)); }

void Attributor::set_model(std::unique_ptr<Model> model) {
  assert(model);
  model_ = std::move(model);
}

void Attributor::set_zones(std::vector<Zone> zones, std::span<const SavedReading> saved) {
  zones_ = std::move(zones);
  deferred_.forget_zones();
  baselines_.assign(zones_.size(), std::nullopt);
  for (const SavedReading& reading : saved) {
    const auto zone = std::ranges::find(zones_, reading.zone, &Zone::id);
    if (zone == zones_.end()) continue;
    baselines_[static_cast<std::size_t>(zone - zones_.begin())] =
        Baseline{reading.counter, reading.monotonic, reading.boottime, last_ticks_, !is_watched(reading)};
  }
}

// Whether it is known who has used the processors since.
bool Attributor::is_watched(const SavedReading& reading) const {
  return resumed_ && last_->monotonic == reading.monotonic;
}

void Attributor::resume(const SavedUsage& saved) {
  last_ = Instant{.monotonic = saved.monotonic, .boottime = saved.boottime};
  last_ticks_ = saved.ticks;
  resumed_ = true;
}

void Attributor::change_zones(std::vector<Zone> zones) {
  std::vector<std::optional<Baseline>> baselines(zones.size());
  for (std::size_t i = 0; i < zones.size(); ++i) {
    const auto known = std::ranges::find(zones_, zones[i].id, &Zone::id);
    if (known != zones_.end()) baselines[i] = baselines_[static_cast<std::size_t>(known - zones_.begin())];
  }
  zones_ = std::move(zones);
  baselines_ = std::move(baselines);
  deferred_.forget_zones();
}

std::vector<SavedReading> Attributor::last_readings() const {
  std::vector<SavedReading> readings;
  for (std::size_t i = 0; i < zones_.size(); ++i) {
    if (!baselines_[i]) continue;
    readings.push_back(
        {zones_[i].id, baselines_[i]->counter, baselines_[i]->monotonic, baselines_[i]->boottime});
  }
  return readings;
}

const Attribution& Attributor::attribute(const Sample& sample) {
  assert(sample.readings.size() == zones_.size());
  result_.window = last_ ? sample.at.monotonic - last_->monotonic : Nanoseconds{0};
  result_.zones.resize(zones_.size());
  find_contenders(sample.usage);
  if (last_) model_->begin(sample.usage, contenders_);
  deferred_.divide(sample.usage, {members_, result_.process_time, own_since_}, result_.zones);
  for (std::size_t i = 0; i < zones_.size(); ++i) measure(i, sample);
  last_ = sample.at;
  last_ticks_ = sample.usage.ticks;
  resumed_ = false;
  const RulesInForce rules = model_->in_force();
  result_.bounds_errors = rules.split != RulesInForce{}.split && rules.share != RulesInForce{}.share;
  return result_;
}

// Determines which processes and groups ran or used a device in this window, and for how long they ran.
void Attributor::find_contenders(const UsageSample& usage) {
  own_times_.update(usage.groups, own_);
  deferred_.begin(usage, own_, own_since_);
  result_.group_time.resize(usage.groups.size());
  std::ranges::transform(usage.groups, result_.group_time.begin(), time_in_window);

  Nanoseconds kernel{0};
  if (usage.interrupts_apart && last_) {
    const std::int64_t ticks = usage.ticks.interrupts - last_ticks_.interrupts;
    kernel += kTick * std::clamp<std::int64_t>(ticks, 0, kMostTicks);
  }
  outside_.clear();
  members_.resize(usage.groups.size());
  for (auto& members : members_) members.clear();
  result_.process_time.assign(usage.processes.size(), Nanoseconds{0});
  used_device_.assign(usage.processes.size(), 0);
  for (const DeviceUsage& device : usage.devices) {
    for (const EngineUse& use : device.uses)
      if (use.process != kNoProcess) used_device_[use.process] = 1;
  }
  for (std::size_t i = 0; i < usage.processes.size(); ++i) {
    const ProcessUsage& process = usage.processes[i];
    const Nanoseconds time = process_time(process, usage);
    result_.process_time[i] = time;
    if (time == Nanoseconds{0} && !used_device_[i]) continue;
    if (process.group != kNoGroup) {
      members_[process.group].push_back(i);
    } else if (process.kernel_thread) {
      kernel += time;
    } else {
      outside_.push_back(i);
    }
  }
  contenders_ = {.window = result_.window,
                 .kernel = kernel,
                 .own = own_,
                 .own_since = own_since_,
                 .outside = outside_,
                 .process = result_.process_time,
                 .knows_cpus = !resumed_,
                 .ticks = {.previous = last_ticks_, .current = usage.ticks}};
}

// Computes what `zone` drew since its last good reading, and divides it.
void Attributor::measure(std::size_t zone, const Sample& sample) {
  const std::size_t groups = sample.usage.groups.size();
  ZoneAttribution& result = result_.zones[zone];
  result.verdict = StepVerdict::kCounted;
  result.read = false;
  result.span = Nanoseconds{0};
  result.energy = result.idle = result.kernel = result.unattributed = Microjoules{};
  for (auto* shares : {&result.group, &result.own, &result.other, &result.put_off})
    shares->assign(groups, {});
  result.process.assign(sample.usage.processes.size(), {});
  result.errors_known = false;
  result.counted.clear();

  const Result<Microjoules>& reading = sample.readings[zone];
  if (!reading) return;
  const std::optional<Baseline> before = baselines_[zone];
  baselines_[zone] = Baseline{*reading, sample.at.monotonic, sample.at.boottime, sample.usage.ticks};
  if (!before) return;

  result.span = sample.at.monotonic - before->monotonic;
  const bool suspended = sample.at.boottime - before->boottime - result.span > kClockSkew;
  const JudgedStep step = judge_step(zones_[zone], {before->counter, *reading, result.span, suspended});
  result.verdict = step.verdict;
  result.read = step.verdict == StepVerdict::kCounted;
  result.energy = step.energy;
  if (result.energy == Microjoules{}) return;
  result.unattributed = result.energy;  // reduced below by what is divided
  if (before->unwatched || !is_divided(zones_[zone])) return;
  const auto weighing = model_->weigh({.zone = zones_[zone],
                                       .energy = result.energy,
                                       .span = result.span,
                                       .ticks = {.previous = before->ticks, .current = sample.usage.ticks}});
  if (!weighing) return;
  divide(result, sample.usage, *weighing);
  if (weighing->by_time && deferred_.any()) put_off(zone, sample.usage, *weighing);
}

// Of groups that are behind, it is not known yet whose time they have used.
void Attributor::put_off(std::size_t zone, const UsageSample& usage, const Weighing& weighing) {
  ZoneAttribution& result = result_.zones[zone];
  for (std::size_t group = 0; group < usage.groups.size(); ++group) {
    if (!usage.groups[group].behind || result.other[group] == Microjoules{}) continue;
    const Microjoules energy = std::exchange(result.other[group], Microjoules{});
    result.put_off[group] = energy;
    const auto& sd = weighing.relative_sd;
    deferred_.put_off(usage.groups[group], zone, energy,
                      sd.empty() ? energy : half_width(energy, sd[1 + group]));
  }
}

void Attributor::divide(ZoneAttribution& zone, const UsageSample& usage, const Weighing& weighing) {
  assert(weighing.idle >= Microjoules{} && weighing.idle <= zone.energy);
  assert(weighing.contenders.size() == contenders_.size());
  zone.idle = weighing.idle;
  zone.unattributed = zone.energy - weighing.idle;
  if (!weighs_something(weighing.contenders)) return;
  weights_.assign(weighing.contenders.begin(), weighing.contenders.end());
  weights_.push_back(weighing.nobody);
  shares_.resize(weights_.size());
  apportioner_.apportion(zone.unattributed, weights_, shares_);
  zone.unattributed = shares_.back();

  zone.kernel = shares_[0];
  std::copy_n(shares_.begin() + 1, own_.size(), zone.own.begin());
  for (std::size_t i = 0; i < outside_.size(); ++i) zone.process[outside_[i]] = shares_[1 + own_.size() + i];
  divide_groups(zone, usage, weighing);
  zone.counted.assign(weighing.counted.begin(), weighing.counted.end());
  bound_errors(zone, usage, weighing.relative_sd);
}

// Each group's own energy, split between its processes and its other account; then the sums up the tree.
void Attributor::divide_groups(ZoneAttribution& zone, const UsageSample& usage, const Weighing& weighing) {
  assert(weighing.process.size() == usage.processes.size() && weighing.other.size() == usage.groups.size());
  for (std::size_t group = 0; group < usage.groups.size(); ++group) {
    if (zone.own[group] == Microjoules{}) continue;
    weights_.clear();
    for (const std::size_t process : members_[group]) weights_.push_back(weighing.process[process]);
    weights_.push_back(weighing.other[group]);
    if (!weighs_something(weights_)) {
      zone.other[group] = zone.own[group];
      continue;
    }
    shares_.resize(weights_.size());
    apportioner_.apportion(zone.own[group], weights_, shares_);
    for (std::size_t i = 0; i < members_[group].size(); ++i) zone.process[members_[group][i]] = shares_[i];
    zone.other[group] = shares_.back();
  }
  zone.group = zone.own;
  add_up_the_tree(usage.groups, zone.group);
}

// Errors of a model do not average out: those of a group and its children add up.
void Attributor::bound_errors(ZoneAttribution& zone, const UsageSample& usage,
                              std::span<const double> relative_sd) const {
  zone.errors_known = !relative_sd.empty();
  if (!zone.errors_known) return;
  zone.group_error.assign(own_.size(), {});
  zone.process_error.assign(usage.processes.size(), {});
  for (std::size_t i = 0; i < outside_.size(); ++i) {
    const std::size_t process = outside_[i];
    zone.process_error[process] = half_width(zone.process[process], relative_sd[1 + own_.size() + i]);
  }
  for (std::size_t group = 0; group < own_.size(); ++group) {
    if (zone.own[group] == Microjoules{}) continue;
    const double of_group = relative_sd[1 + group];
    zone.group_error[group] = half_width(zone.own[group], of_group);
    for (const std::size_t process : members_[group]) {
      const auto part =
          static_cast<double>(zone.process[process].value) / static_cast<double>(zone.own[group].value);
      zone.process_error[process] = half_width(zone.process[process], process_sd(of_group, part));
    }
  }
  add_up_the_tree(usage.groups, zone.group_error);
}

}  // namespace keplerd
