// SPDX-License-Identifier: Apache-2.0
#include "attribution/group_count_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "attribution/model/power_filter.h"

namespace keplerd {
namespace {

constexpr double kWeights = 1LL << 50;  // the sum of the weights, about

constexpr std::size_t kOthers = 0;
// What is counted of what a zone measures. "uncore" is what the cores are not, a platform is more than its
// processors, and what no meter has measured does not follow what is counted.
std::optional<CountKind> kind_of(const Zone& zone) {
  if (zone.name == "uncore" || zone.quality > Quality::kModelled) return std::nullopt;
  switch (coverage_of(zone)) {
    case Coverage::kDram:
      return CountKind::kMemoryTraffic;
    case Coverage::kCpu:
      return CountKind::kCoreEnergy;
    case Coverage::kGpu:
    case Coverage::kPlatform:
    case Coverage::kOther:
      break;
  }
  return std::nullopt;
}

// Relative standard deviations.
struct Deviations {
  double count;  // of the energy from what is counted
  double time;   // from CPU time, where no model knows better
};
Deviations deviations_of(CountKind kind) {
  return kind == CountKind::kMemoryTraffic ? Deviations{kTrafficSd, std::sqrt(kMemoryDeviationVariance)}
                                           : Deviations{kCoreEnergySd, std::sqrt(kDeviationVariance)};
}

double number(Count count) { return static_cast<double>(count.value); }

}  // namespace

void GroupCountModel::begin(const UsageSample& usage, const Contenders& contenders) {
  usage_ = &usage;
  used_ = &contenders;
  owner_.assign(contenders.size(), kOthers);
}

void GroupCountModel::apply(const DrawnEnergy& drawn, Weighing& weighing) {
  const auto kind = kind_of(drawn.zone);
  if (!kind) return;
  const auto counts =
      std::ranges::find(usage_->counts, CountSource{*kind, drawn.zone.index}, &GroupCounts::source);
  if (counts == usage_->counts.end() || counts->groups.empty() || counts->all <= Count{}) return;
  find_owners(*counts);
  find_parts(*counts, counted_part(*counts, drawn, weighing.idle), weighing);
  const auto [of_count, of_time] = deviations_of(*kind);
  bound(weighing.contenders, of_count, of_time, weighing);
  weigh(weighing);
  counted_.clear();
  for (const GroupCounts::OfGroup& one : counts->groups) counted_.push_back(one.group);
  weighing.counted = counted_;
}

// How much of a zone's active energy is what was counted. Traffic is no energy: it stands for all of it.
double GroupCountModel::counted_part(const GroupCounts& counts, const DrawnEnergy& drawn,
                                     Microjoules idle) const {
  if (counts.source.kind == CountKind::kMemoryTraffic) return 1;
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
  double nobody = 0;
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
