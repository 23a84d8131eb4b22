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
  return std::clamp((cores_times_log_ + kUsualSlope * kUsualWeight) / (cores_squared_ + kUsualWeight),
                    kLeastSlope, kMostSlope);
}

double FrequencyTrend::follow(const ZoneActivity& activity, double seconds) {
  const double cores = activity.busy_cores / static_cast<double>(std::max<std::size_t>(activity.cores, 1));
  const bool read = activity.khz > 0;
  if (read && mean_khz_ <= 0) windows_ = 0;  // both means are of the same windows
  if (read || mean_khz_ <= 0) {
    const double weight = mean_weight(seconds, kMeanSpan, windows_++);
    mean_cores_ += weight * (cores - mean_cores_);
    if (read) mean_khz_ += weight * (activity.khz - mean_khz_);
  }
  const double ahead = cores - mean_cores_;
  if (read) {
    const double log = std::log(activity.khz / mean_khz_);
    const double weight = mean_weight(seconds, kSlopeSpan);
    cores_squared_ += weight * (ahead * ahead - cores_squared_);
    cores_times_log_ += weight * (ahead * log - cores_times_log_);
    rest_ += mean_weight(seconds, kRestSpan) * (log - slope() * ahead - rest_);
  }
  return std::clamp(slope() * ahead + rest_, -1.0, 1.0);
}

}  // namespace keplerd
