// SPDX-License-Identifier: Apache-2.0
#include "attribution/model/frequency_trend.h"

#include <algorithm>
#include <cmath>

#include "attribution/model/arithmetic.h"

namespace keplerd {
namespace {

constexpr double kMeanSpan = 600, kSlopeSpan = 3600, kRestSpan = 600;  // s
// Typical of processors with a turbo: from one busy core to all, the frequency falls by a third.
constexpr double kUsualSlope = -0.35;
constexpr double kUsualWeight = 3e-5;  // as the variance of the busy share that outweighs it
constexpr double kLeastSlope = -2, kMostSlope = 0.5;

}  // namespace

double FrequencyTrend::slope() const {
  return std::clamp(
      (known_.cores_times_log + kUsualSlope * kUsualWeight) / (known_.cores_squared + kUsualWeight),
      kLeastSlope, kMostSlope);
}

double FrequencyTrend::follow(const ZoneActivity& activity, double seconds) {
  const double cores = activity.busy_cores / static_cast<double>(std::max<std::size_t>(activity.cores, 1));
  const bool read = activity.khz > 0;
  if (read && known_.mean_khz <= 0) known_.windows = 0;  // both means are of the same windows
  if (read || known_.mean_khz <= 0) {
    const double weight = mean_weight(seconds, kMeanSpan, known_.windows++);
    known_.mean_cores += weight * (cores - known_.mean_cores);
    if (read) known_.mean_khz += weight * (activity.khz - known_.mean_khz);
  }
  const double ahead = cores - known_.mean_cores;
  if (read) {
    const double log = std::log(activity.khz / known_.mean_khz);
    const double weight = mean_weight(seconds, kSlopeSpan);
    known_.cores_squared += weight * (ahead * ahead - known_.cores_squared);
    known_.cores_times_log += weight * (ahead * log - known_.cores_times_log);
    known_.rest += mean_weight(seconds, kRestSpan) * (log - slope() * ahead - known_.rest);
  }
  return std::clamp(slope() * ahead + known_.rest, -1.0, 1.0);
}

}  // namespace keplerd
