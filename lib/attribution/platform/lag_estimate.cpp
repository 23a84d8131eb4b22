// SPDX-License-Identifier: Apache-2.0
#include "attribution/platform/lag_estimate.h"

#include <algorithm>

namespace keplerd {
namespace {

constexpr double kHalfLife = 120;       // seconds
constexpr double kLeastSeconds = 60;    // of observation
constexpr double kLeastPart = 0.02;     // standard deviation of the parts' power, as a part of it,
constexpr double kLeastWatts = 0.5;     // and in watts
constexpr double kLeastMatch = 0.6;     // correlation
constexpr double kLeastContrast = 0.1;  // by which the best candidate is better than the worst
constexpr double kLeastGain = 0.03;     // by which another one is better than that in use

double watts(Microjoules energy, double seconds) { return static_cast<double>(energy.value) / 1e6 / seconds; }

}  // namespace

void LagEstimate::add(const PlatformStep& step, const EnergyHistory& parts) {
  const Nanoseconds span = step.to - step.from;
  if (span < kShortestPowerSpan || span > kLongestStep) return;
  std::array<double, kCandidates> powers{};
  const double seconds = to_seconds(span);
  for (std::size_t i = 0; i < kCandidates; ++i) {
    const Nanoseconds lag = kLagStep * static_cast<std::int64_t>(i);
    const auto energy = parts.between(step.from - lag, step.to - lag);
    if (!energy) return;
    powers[i] = watts(*energy, seconds);
  }
  const double platform = watts(step.energy, seconds);
  const double kept = std::exp2(-seconds / kHalfLife);
  for (std::size_t i = 0; i < kCandidates; ++i) candidates_[i].add(powers[i], platform, seconds, kept);
  choose();
}

void LagEstimate::restore(Nanoseconds lag) {
  lag_ = std::clamp(lag / kLagStep * kLagStep, Nanoseconds{0}, kLargestLag);
}

void LagEstimate::choose() {
  const auto [worst, best] = std::ranges::minmax_element(candidates_, {}, &Moments::correlation);
  const double spread = std::sqrt(best->xx);
  if (best->weight < kLeastSeconds || spread < std::max(kLeastWatts, kLeastPart * best->x)) return;
  if (best->correlation() < kLeastMatch || best->correlation() - worst->correlation() < kLeastContrast)
    return;
  if (lag_) {
    const auto present = static_cast<std::size_t>(*lag_ / kLagStep);
    if (best->correlation() < candidates_[present].correlation() + kLeastGain) return;
  }
  lag_ = kLagStep * (best - candidates_.begin());
}

}  // namespace keplerd
