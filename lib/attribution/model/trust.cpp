// SPDX-License-Identifier: Apache-2.0
#include "attribution/model/trust.h"

#include <algorithm>

#include "attribution/model/arithmetic.h"

namespace keplerd {
namespace {

constexpr double kSpan = 600;                    // s
constexpr double kMostSquare = 25;               // times the noise: a jump counts no more
constexpr double kDistrust = 1.3, kTrust = 1.1;  // learned over pooled square error
constexpr double kWarmUp = 60;                   // s

// 0 up to `low`, 1 from `high` on.
double ramp(double value, double low, double high) {
  return std::clamp((value - low) / (high - low), 0.0, 1.0);
}

}  // namespace

void Trust::judge(double learned, double pooled, double noise, double seconds) {
  const double most = kMostSquare * std::max(noise, 1e-9);
  const double weight = mean_weight(seconds, kSpan, windows_);
  const double late = errors_.before(RecentErrors::lag(seconds));
  learned_squared_ += weight * (std::min(learned * learned, most) - learned_squared_);
  pooled_squared_ += weight * (std::min(pooled * pooled, most) - pooled_squared_);
  learned_lag10_ += weight * (std::clamp(learned * late, -most, most) - learned_lag10_);
  errors_.add(learned);
  ++windows_;
  seconds_ += seconds;
  const double ratio = pooled_squared_ > 0 ? learned_squared_ / pooled_squared_ : 1;
  // Errors that last for ten seconds: workloads change faster than they are learned. Where the learned filter
  // is not clearly better either, its weights follow chance.
  const double lag = learned_squared_ > 0 ? learned_lag10_ / learned_squared_ : 0;
  const double trails =
      ramp(lag, limits_.lag[0], limits_.lag[1]) * ramp(ratio, limits_.ratio[0], limits_.ratio[1]);
  value_ = std::min(1.0, seconds_ / kWarmUp) * (1 - ramp(ratio, kTrust, kDistrust)) * (1 - trails);
}

void Trust::restore(const Memory& memory) {
  learned_squared_ = memory.learned_squared;
  pooled_squared_ = memory.pooled_squared;
  learned_lag10_ = memory.learned_lag10;
  seconds_ = memory.seconds;
  windows_ = static_cast<std::size_t>(std::min(seconds_, kWarmUp));
  value_ = memory.value;
}

}  // namespace keplerd
