// SPDX-License-Identifier: Apache-2.0
#include "attribution/split.h"

#include <algorithm>

namespace keplerd {
namespace {

constexpr std::int64_t kMostTicks = INT64_MAX / kTick.count();

}  // namespace

UsageRatio usage_ratio(const CpuTicks& previous, const CpuTicks& current) {
  const std::int64_t total = current.busy + current.idle - previous.busy - previous.idle;
  const std::int64_t busy = std::max<std::int64_t>(current.busy - previous.busy, 0);
  if (total <= 0) return {busy, busy};
  return {std::min(busy, total), total};
}

std::optional<CpuUse> cpu_use(const CpuTicks& previous, const CpuTicks& current) {
  const UsageRatio ratio = usage_ratio(previous, current);
  if (ratio.total <= 0 || ratio.total > kMostTicks) return std::nullopt;
  return CpuUse{kTick * ratio.busy, kTick * ratio.total};
}

EnergySplit split_by_usage(Microjoules energy, UsageRatio ratio) {
  const auto product = static_cast<__int128>(energy.value) * ratio.busy;
  const Microjoules active{
      static_cast<std::int64_t>((2 * product + ratio.total) / (2 * static_cast<__int128>(ratio.total)))};
  return {active, energy - active};
}

}  // namespace keplerd
