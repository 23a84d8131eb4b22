// SPDX-License-Identifier: Apache-2.0
#include "attribution/model/window_doubt.h"

#include <algorithm>
#include <cmath>

#include "attribution/model/arithmetic.h"

namespace keplerd {
namespace {

constexpr double kBeginsOrEnds = 0.5;                     // of the load, from one window to the next
constexpr double kMostUneven = 0.03;                      // of the power of what ran
constexpr double kSeenWindows = 3, kUnseenWindows = 100;  // in which the seen part of it grows, or shrinks

// The chance that any CPU was awake is calculated as if they were independent. Where load begins or ends
// within a window, all that runs does so in the same part of it.
double awake_doubt(const PowerObservation& o, double last_load, double awake_watts) {
  const bool begins_or_ends = std::abs(o.load - last_load) > kBeginsOrEnds * std::max(o.load, last_load);
  return begins_or_ends ? awake_watts * (o.awake - o.least_awake) : 0;
}

// Power rises steeply at first, and more slowly later: if the load changes within a window, the mean power is
// lower than that at the mean load, by up to about this.
double uneven_doubt(const PowerObservation& o, double last_load, const WindowDoubt::Powers& powers) {
  return std::min(kMostUneven * powers.dynamic, powers.per_cpu * square(o.load - last_load) / o.cpus);
}

}  // namespace

void WindowDoubt::find(const PowerObservation& o, const Powers& powers) {
  awake_squared_ = square(awake_doubt(o, last_load_, powers.awake));
  uneven_squared_ = square(uneven_doubt(o, last_load_, powers));
  last_load_ = o.load;
}

void WindowDoubt::judge(double error, double expected, double noise) {
  if (uneven_squared_ <= noise) return;
  const double seen = square(error) - expected - awake_squared_;
  const double part = std::clamp(seen / uneven_squared_, 0.0, 1.0);
  seen_part_ += (part - seen_part_) / (part > seen_part_ ? kSeenWindows : kUnseenWindows);
}

}  // namespace keplerd
