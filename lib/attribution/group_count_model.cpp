// SPDX-License-Identifier: Apache-2.0
#include "attribution/group_count_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "attribution/model/power_filter.h"

namespace keplerd {
namespace {

constexpr double kWeights = 1LL << 50;  // the sum of the weights, about

constexpr std::size_t kOthers = 0;
// How many more events those that are not measured can have caused in the same time than all on average. The
// rest is that of nobody: an idle CPU that polls executes instructions, too.
constexpr double kMostEvents = 10;
// By what the energy that a meter of this coverage counts is divided, the best first. kCpuTime promises that
// it is by nothing else.
std::span<const CountKind> kinds_of(Coverage coverage, ModelRules::Share share) {
  static constexpr std::array kMemory = {CountKind::kMemoryTraffic, CountKind::kCacheMisses};
  static constexpr std::array kCores = {CountKind::kCoreEnergy};
  static constexpr std::array kInstructions = {CountKind::kInstructions};
  static constexpr std::array kCycles = {CountKind::kCycles};
  if (share == ModelRules::Share::kCpuTime) return {};
  if (coverage == Coverage::kDram) return kMemory;
  if (coverage != Coverage::kCpu) return {};
  if (share == ModelRules::Share::kInstructions) return kInstructions;
  if (share == ModelRules::Share::kCycles) return kCycles;
  return kCores;
}

// Relative standard deviations.
struct Deviations {
  double count;  // of the energy from what is counted
  double time;   // from CPU time, where no model knows better
};
Deviations deviations_of(CountKind kind) {
  static const double kOfMemory = std::sqrt(kMemoryDeviationVariance),
                      kOfCores = std::sqrt(kDeviationVariance);
  switch (kind) {
    case CountKind::kMemoryTraffic:
      return {kTrafficSd, kOfMemory};
    case CountKind::kCacheMisses:
      return {kCacheMissSd, kOfMemory};
    case CountKind::kCoreEnergy:
      return {kCoreEnergySd, kOfCores};
    case CountKind::kInstructions:
    case CountKind::kCycles:
      break;
  }
  return {kOfCores, kOfCores};
}

bool is_event(CountKind kind) { return kind != CountKind::kMemoryTraffic && kind != CountKind::kCoreEnergy; }

double number(Count count) { return static_cast<double>(count.value); }

}  // namespace

void GroupCountModel::begin(const UsageSample& usage, const Contenders& contenders) {
  usage_ = &usage;
  used_ = &contenders;
  owner_.assign(contenders.size(), kOthers);
}

// "uncore" is what the cores are not, and what no meter has measured does not follow what is counted.
const GroupCounts* GroupCountModel::find_counts(const Zone& zone) const {
  if (zone.name == "uncore" || zone.quality > Quality::kModelled) return nullptr;
  for (const CountKind kind : kinds_of(coverage_of(zone), share_)) {
    const auto counts =
        std::ranges::find(usage_->counts, CountSource{kind, zone.index}, &GroupCounts::source);
    if (counts != usage_->counts.end() && !counts->groups.empty() && counts->all > Count{}) return &*counts;
  }
  return nullptr;
}

bool GroupCountModel::apply(const DrawnEnergy& drawn, Weighing& weighing) {
  const GroupCounts* const counts = find_counts(drawn.zone);
  if (counts == nullptr) return false;
  find_owners(*counts);
  find_parts(*counts, counted_part(*counts, drawn, weighing.idle), weighing);
  const auto [of_count, of_time] = deviations_of(counts->source.kind);
  bound(weighing.contenders, of_count, of_time, weighing);
  weigh(weighing);
  counted_.clear();
  for (const GroupCounts::OfGroup& one : counts->groups) counted_.push_back(one.group);
  weighing.counted = counted_;
  return true;
}

// How much of a zone's active energy is what was counted. What is no energy stands for all of it.
double GroupCountModel::counted_part(const GroupCounts& counts, const DrawnEnergy& drawn,
                                     Microjoules idle) const {
  if (counts.source.kind != CountKind::kCoreEnergy) return 1;
  const double windows = to_seconds(drawn.span) / to_seconds(std::max(used_->window, Nanoseconds{1}));
  const double active = std::max<double>(static_cast<double>((drawn.energy - idle).value), 1);
  return std::min(1.0, number(counts.all) * windows / active);
}

// The nearest group above a contender, or itself, that is measured.
void GroupCountModel::find_owners(const GroupCounts& counts) {
  std::ranges::fill(owner_, kOthers);
  for (std::size_t i = 0; i < counts.groups.size(); ++i) owner_[1 + counts.groups[i].group] = 1 + i;
  for (std::size_t group = 0; group < usage_->groups.size(); ++group) {  // parents come first
    const std::size_t parent = usage_->groups[group].parent;
    if (owner_[1 + group] == kOthers && parent != kNoGroup) owner_[1 + group] = owner_[1 + parent];
  }
}

Nanoseconds GroupCountModel::time_of(std::size_t contender) const {
  if (contender == 0) return used_->kernel;
  if (contender <= used_->own.size()) return used_->own[contender - 1];
  return used_->process[used_->outside[contender - 1 - used_->own.size()]];
}

// Those of the other model. It has none for an owner that used no CPU of this die; its memory may be here.
void GroupCountModel::find_weights(std::span<const std::int64_t> model) {
  std::ranges::fill(sums_, 0.0);
  weights_.assign(model.begin(), model.end());
  for (std::size_t i = 0; i < model.size(); ++i) sums_[owner_[i]] += weights_[i];
  const std::vector<double> known = sums_;
  for (std::size_t i = 0; i < model.size(); ++i) {
    if (known[owner_[i]] > 0) continue;
    weights_[i] = static_cast<double>(time_of(i).count());
    sums_[owner_[i]] += weights_[i];
  }
}

// The part of all CPU time that is not that of a group that is measured.
double GroupCountModel::time_of_others() const {
  double others = 0, all = 0;
  for (std::size_t i = 0; i < owner_.size(); ++i) {
    const auto time = static_cast<double>(time_of(i).count());
    all += time;
    if (owner_[i] == kOthers) others += time;
  }
  return all > 0 ? others / all : 0;
}

// Of each owner: what was counted, and what is left of the energy by the other model.
void GroupCountModel::find_parts(const GroupCounts& counts, double counted, const Weighing& weighing) {
  sums_.resize(1 + counts.groups.size());
  find_weights(weighing.contenders);
  parts_.assign(sums_.size(), 0);
  Count others = counts.all;
  for (std::size_t i = 0; i < counts.groups.size(); ++i) {
    parts_[1 + i] = counted * number(counts.groups[i].count) / number(counts.all);
    others -= counts.groups[i].count;
  }
  parts_[kOthers] = counted * number(std::max(others, Count{})) / number(counts.all);
  nobody_ = 0;
  if (is_event(counts.source.kind)) {
    const double possible = std::min(parts_[kOthers], kMostEvents * time_of_others());
    nobody_ = parts_[kOthers] - possible;
    parts_[kOthers] = possible;
  }
  by_count_ = parts_;
  const double all = std::accumulate(weighing.contenders.begin(), weighing.contenders.end(), 0.0);
  const double left = all > 0 ? 1 - counted : 0;
  const double awake = std::accumulate(weighing.awake.begin(), weighing.awake.end(), 0.0);
  const double by_awake = awake > 0 ? std::min(left, awake) / awake : 0;
  for (std::size_t i = 0; i < weighing.contenders.size() && left > 0; ++i) {
    if (by_awake > 0) parts_[owner_[i]] += by_awake * weighing.awake[i];
    parts_[owner_[i]] += (left - by_awake * awake) * static_cast<double>(weighing.contenders[i]) / all;
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) by_count_[i] /= std::max(parts_[i], 1e-300);
}

void GroupCountModel::weigh(Weighing& weighing) {
  contenders_.assign(owner_.size(), 0);
  for (std::size_t i = 0; i < owner_.size(); ++i) {
    const double part = parts_[owner_[i]];
    if (weights_[i] == 0 || part == 0) continue;
    const double weight = kWeights * part * weights_[i] / sums_[owner_[i]];
    contenders_[i] = std::max<std::int64_t>(1, std::llround(weight));
  }
  double nobody = nobody_;
  for (std::size_t i = 0; i < parts_.size(); ++i)
    if (sums_[i] == 0) nobody += parts_[i];
  weighing.nobody = std::llround(kWeights * nobody);
  weighing.contenders = contenders_;
}

// What is known of others does not change. Of a measured group, the count is known, and the other model only
// divides it, and what is not counted.
void GroupCountModel::bound(std::span<const std::int64_t> model, double count_sd, double time_sd,
                            Weighing& weighing) {
  if (weighing.relative_sd.empty()) return;
  relative_sd_.assign(weighing.relative_sd.begin(), weighing.relative_sd.end());
  for (std::size_t i = 0; i < model.size(); ++i) {
    if (weights_[i] == 0) continue;
    if (model[i] == 0) relative_sd_[i] = std::hypot(time_sd, weighing.idle_relative_sd);
    if (owner_[i] == kOthers) continue;
    const double counted = by_count_[owner_[i]];
    const double rest = 1 - counted * weights_[i] / sums_[owner_[i]];
    relative_sd_[i] = std::hypot(count_sd * counted, relative_sd_[i] * rest, weighing.idle_relative_sd);
  }
  weighing.relative_sd = relative_sd_;
}

}  // namespace keplerd
