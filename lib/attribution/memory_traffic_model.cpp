// SPDX-License-Identifier: Apache-2.0
#include "attribution/memory_traffic_model.h"

#include <algorithm>
#include <cmath>

#include "attribution/model/power_filter.h"

namespace keplerd {
namespace {

constexpr double kWeights = 1LL << 50;  // the sum of the weights, about

constexpr std::size_t kOthers = 0;
// What CPU time says of memory, where no model knows better.
const double kTimeSd = std::sqrt(kMemoryDeviationVariance);

}  // namespace

void MemoryTrafficModel::begin(const UsageSample& usage, const Contenders& contenders) {
  usage_ = &usage;
  used_ = &contenders;
  owner_.assign(contenders.size(), kOthers);
}

void MemoryTrafficModel::apply(const Zone& zone, Weighing& weighing) {
  const auto traffic = std::ranges::find(usage_->memory_traffic, zone.index, &MemoryTraffic::die);
  if (traffic == usage_->memory_traffic.end() || traffic->groups.empty() || traffic->bytes <= Bytes{}) return;
  find_owners(*traffic);
  weigh(*traffic, weighing);
}

// The nearest group above a contender, or itself, that is measured.
void MemoryTrafficModel::find_owners(const MemoryTraffic& traffic) {
  std::ranges::fill(owner_, kOthers);
  for (std::size_t i = 0; i < traffic.groups.size(); ++i) owner_[1 + traffic.groups[i].group] = 1 + i;
  for (std::size_t group = 0; group < usage_->groups.size(); ++group) {  // parents come first
    const std::size_t parent = usage_->groups[group].parent;
    if (owner_[1 + group] == kOthers && parent != kNoGroup) owner_[1 + group] = owner_[1 + parent];
  }
}

Nanoseconds MemoryTrafficModel::time_of(std::size_t contender) const {
  if (contender == 0) return used_->kernel;
  if (contender <= used_->own.size()) return used_->own[contender - 1];
  return used_->process[used_->outside[contender - 1 - used_->own.size()]];
}

// Those of the other model. It has none for an owner that used no CPU of this die; its memory may be here.
void MemoryTrafficModel::find_weights(std::span<const std::int64_t> model) {
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

void MemoryTrafficModel::weigh(const MemoryTraffic& traffic, Weighing& weighing) {
  const std::span<const std::int64_t> model = weighing.contenders;
  sums_.resize(1 + traffic.groups.size());
  find_weights(model);
  std::vector<double> parts(sums_.size());  // of the traffic
  Bytes others = traffic.bytes;
  for (std::size_t i = 0; i < traffic.groups.size(); ++i) {
    parts[1 + i] =
        static_cast<double>(traffic.groups[i].bytes.value) / static_cast<double>(traffic.bytes.value);
    others -= traffic.groups[i].bytes;
  }
  parts[kOthers] =
      static_cast<double>(std::max(others, Bytes{}).value) / static_cast<double>(traffic.bytes.value);
  contenders_.assign(model.size(), 0);
  for (std::size_t i = 0; i < model.size(); ++i) {
    const double part = parts[owner_[i]];
    if (weights_[i] == 0 || part == 0) continue;
    const double weight = kWeights * part * weights_[i] / sums_[owner_[i]];
    contenders_[i] = std::max<std::int64_t>(1, std::llround(weight));
  }
  double nobody = 0;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (sums_[i] == 0) nobody += parts[i];
  weighing.nobody = std::llround(kWeights * nobody);
  bound(model, weighing);
  weighing.contenders = contenders_;
}

// What is known of others does not change. Of a measured group, the traffic is known, and the other model
// only divides it.
void MemoryTrafficModel::bound(std::span<const std::int64_t> model, Weighing& weighing) {
  if (weighing.relative_sd.empty()) return;
  relative_sd_.assign(weighing.relative_sd.begin(), weighing.relative_sd.end());
  for (std::size_t i = 0; i < model.size(); ++i) {
    if (weights_[i] == 0) continue;
    if (model[i] == 0) relative_sd_[i] = std::hypot(kTimeSd, weighing.idle_relative_sd);
    if (owner_[i] == kOthers) continue;
    const double rest = 1 - weights_[i] / sums_[owner_[i]];
    relative_sd_[i] = std::hypot(kTrafficSd, relative_sd_[i] * rest, weighing.idle_relative_sd);
  }
  weighing.relative_sd = relative_sd_;
}

}  // namespace keplerd
