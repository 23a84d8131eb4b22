// SPDX-License-Identifier: Apache-2.0
#include "attribution/usage_ratio_model.h"

#include <algorithm>

namespace keplerd {

void UsageRatioModel::begin(const UsageSample& usage, const Contenders& contenders) {
  const UsageRatio ratio = usage_ratio(contenders.ticks.previous, contenders.ticks.current);
  if (ratio.total > 0) last_ratio_ = ratio;

  process_.resize(usage.processes.size());
  std::ranges::transform(contenders.process, process_.begin(), &Nanoseconds::count);
  contenders_.resize(contenders.size());
  contenders_[0] = contenders.kernel.count();
  const auto groups = contenders_.begin() + 1;
  const auto outside = std::ranges::transform(contenders.own, groups, &Nanoseconds::count).out;
  std::ranges::transform(contenders.outside, outside, [this](std::size_t i) { return process_[i]; });

  other_.resize(contenders.own_since.size());
  std::ranges::transform(contenders.own_since, other_.begin(), &Nanoseconds::count);
  for (std::size_t i = 0; i < usage.processes.size(); ++i) {
    const std::size_t group = usage.processes[i].group;
    if (group != kNoGroup) other_[group] -= process_[i];
  }
  // Processes are read after their groups, and may have used more by then.
  for (std::int64_t& weight : other_) weight = std::max<std::int64_t>(weight, 0);
}

std::optional<Weighing> UsageRatioModel::weigh(const DrawnEnergy& drawn) {
  const Resource resource = drawn.zone.resource;
  if (resource != Resource::kCpu && resource != Resource::kDram) return std::nullopt;
  const UsageRatio ratio = usage_ratio(drawn.ticks.previous, drawn.ticks.current);
  const EnergySplit split = split_by_usage(drawn.energy, ratio.total > 0 ? ratio : last_ratio_);
  return Weighing{
      .idle = split.idle, .contenders = contenders_, .process = process_, .other = other_, .by_time = true};
}

}  // namespace keplerd
