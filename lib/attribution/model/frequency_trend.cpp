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

}  // namespace

// By how much ln f differs from its mean where so many cores more are busy than usual: least squares, with
// the usual slope for cores that are filled first as far as little is known.
double FrequencyTrend::explained(double spread, double filled) const {
  const double a = known_.spread_squared + kUsualWeight, d = known_.filled_squared + kUsualWeight;
  const double b = known_.spread_times_filled;
  const double u = known_.spread_times_log, v = known_.filled_times_log + kUsualSlope * kUsualWeight;
  const double determinant =
      std::max(a * d - b * b, square(kUsualWeight));  // at least that, but for rounding
  const double of_spread = (d * u - b * v) / determinant, of_filled = (a * v - b * u) / determinant;
  return of_spread * spread + of_filled * filled;
}

double FrequencyTrend::follow(const ZoneActivity& activity, double seconds) {
  const double cores = static_cast<double>(std::max<std::size_t>(activity.cores, 1));
  const double spread = activity.busy_cores / cores, filled = std::min(1.0, activity.load / cores);
  const bool read = activity.khz > 0;
  if (read && known_.mean_khz <= 0) known_.windows = 0;  // all means are of the same windows
  if (read || known_.mean_khz <= 0) {
    const double weight = mean_weight(seconds, kMeanSpan, known_.windows++);
    known_.mean_spread += weight * (spread - known_.mean_spread);
    known_.mean_filled += weight * (filled - known_.mean_filled);
    if (read) known_.mean_khz += weight * (activity.khz - known_.mean_khz);
  }
  const double s = spread - known_.mean_spread, f = filled - known_.mean_filled;
  if (read) {
    const double log = std::log(activity.khz / known_.mean_khz);
    const double weight = mean_weight(seconds, kSlopeSpan);
    const auto learn = [weight](double& mean, double value) { mean += weight * (value - mean); };
    learn(known_.spread_squared, s * s);
    learn(known_.filled_squared, f * f);
    learn(known_.spread_times_filled, s * f);
    learn(known_.spread_times_log, s * log);
    learn(known_.filled_times_log, f * log);
    known_.rest += mean_weight(seconds, kRestSpan) * (log - explained(s, f) - known_.rest);
  }
  return std::clamp(explained(s, f) + known_.rest, -1.0, 1.0);
}

}  // namespace keplerd
