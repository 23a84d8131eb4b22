// SPDX-License-Identifier: Apache-2.0
#include "attribution/memory_traffic_model.h"

#include <algorithm>
#include <cmath>

namespace keplerd {
namespace {

constexpr double kWeights = 1LL << 50;  // the sum of the weights, about

constexpr std::size_t kOthers = 0;

}  // namespace

void MemoryTrafficModel::begin(const UsageSample& usage, const Contenders& contenders) {
  usage_ = &usage;
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

void MemoryTrafficModel::weigh(const MemoryTraffic& traffic, Weighing& weighing) {
  const std::span<const std::int64_t> model = weighing.contenders;
  sums_.assign(1 + traffic.groups.size(), 0.0);
  for (std::size_t i = 0; i < model.size(); ++i) sums_[owner_[i]] += static_cast<double>(model[i]);
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
    if (model[i] == 0 || part == 0) continue;
    const double weight = kWeights * part * static_cast<double>(model[i]) / sums_[owner_[i]];
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
    if (owner_[i] == kOthers || model[i] == 0) continue;
    const double rest = 1 - static_cast<double>(model[i]) / sums_[owner_[i]];
    relative_sd_[i] = std::hypot(kTrafficSd, relative_sd_[i] * rest);
  }
  weighing.relative_sd = relative_sd_;
}

}  // namespace keplerd
