// SPDX-License-Identifier: Apache-2.0
#include "attribution/model/frequency_trend.h"

#include <algorithm>
#include <cmath>

#include "attribution/model/arithmetic.h"

namespace keplerd {
namespace {

// Standard deviations, of ln f: of one reading, which is of an instant; at the start; what is added in an
// hour.
constexpr double kReading = 0.05;
constexpr FrequencyTrend::Values kFirstSd{0.05, 0.3, 0.3};
constexpr double kHourlyDrift = 0.02;
// Typical of processors with a turbo: from one busy core to all, the frequency falls by a third.
constexpr double kUsualSlope = -0.35;
constexpr double kLeastLoad = 0.02;  // of the CPUs: hosts that are less busy say nothing of the frequency
constexpr std::size_t kFirstReadings = 10;  // that make up the reference

}  // namespace

void FrequencyTrend::start(double spread, double filled) {
  started_ = true;
  reference_khz_ = 0;
  readings_ = 0;
  first_spread_ = spread;
  first_filled_ = filled;
  value_ = {0, 0, kUsualSlope};
  covariance_ = {};
  for (std::size_t p = 0; p < kParameters; ++p) q(p, p) = square(kFirstSd[p]);
}

FrequencyTrend::Memory FrequencyTrend::memory() const {
  return {.reference_khz = reference_khz_,
          .first_spread = first_spread_,
          .first_filled = first_filled_,
          .value = value_,
          .variance = {q(kConstant, kConstant), q(kSpread, kSpread), q(kFilled, kFilled)}};
}

void FrequencyTrend::restore(const Memory& memory) {
  started_ = memory.variance[kConstant] > 0;
  if (!started_) return;
  start(memory.first_spread, memory.first_filled);
  reference_khz_ = memory.reference_khz;
  if (reference_khz_ > 0) readings_ = kFirstReadings;
  value_ = memory.value;
  for (std::size_t p = 0; p < kParameters; ++p) q(p, p) = std::min(memory.variance[p], square(kFirstSd[p]));
}

double FrequencyTrend::expected(const Values& at) const {
  double sum = 0;
  for (std::size_t p = 0; p < kParameters; ++p) sum += value_[p] * at[p];
  return sum;
}

void FrequencyTrend::learn(const Values& at, double log) {
  Values gain{};
  double variance = square(kReading);
  for (std::size_t a = 0; a < kParameters; ++a) {
    for (std::size_t b = 0; b < kParameters; ++b) gain[a] += q(a, b) * at[b];
    variance += at[a] * gain[a];
  }
  const bool is_first = readings_ < kFirstReadings;  // the second may be right, and the first one off
  const double most = is_first ? 1e3 : 4 * std::sqrt(variance);
  const double step = std::clamp(log - expected(at), -most, most) / variance;
  for (std::size_t a = 0; a < kParameters; ++a) {
    value_[a] += gain[a] * step;
    for (std::size_t b = 0; b <= a; ++b) q(b, a) = q(a, b) -= gain[a] * gain[b] / variance;
  }
}

// One reading may be far off, so that the first ones make up the reference together.
void FrequencyTrend::settle_reference() {
  ++readings_;
  reference_khz_ *= std::exp(value_[kConstant]);
  value_[kConstant] = 0;
}

double FrequencyTrend::follow(const ZoneActivity& activity, double seconds) {
  const double cores = static_cast<double>(std::max<std::size_t>(activity.cores, 1));
  const double spread = activity.busy_cores / cores, filled = std::min(1.0, activity.load / cores);
  const bool read = activity.khz > 0;
  const bool runs = activity.load > kLeastLoad * static_cast<double>(activity.cpus);
  if (!started_ && (read || runs)) start(spread, filled);
  if (!started_) return 0;
  for (std::size_t p = 0; p < kParameters; ++p)
    q(p, p) = std::min(square(kFirstSd[p]), q(p, p) + seconds / 3600 * square(kHourlyDrift));
  const Values at{1, spread - first_spread_, filled - first_filled_};
  if (read && reference_khz_ <= 0) reference_khz_ = activity.khz / std::exp(expected(at));
  if (read) learn(at, std::log(activity.khz / reference_khz_));
  if (read && readings_ < kFirstReadings) settle_reference();
  return std::clamp(expected(at), -1.0, 1.0);
}

}  // namespace keplerd
