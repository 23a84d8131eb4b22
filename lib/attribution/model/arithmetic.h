// SPDX-License-Identifier: Apache-2.0
// Squares, seconds, the width of intervals, and the weight of the newest value in an exponential mean.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>

#include "base/units.h"

namespace keplerd {

// Half the width of a 95 % interval, in standard deviations.
inline constexpr double kNormal95 = 1.96;

inline double to_seconds(Nanoseconds time) { return std::chrono::duration<double>(time).count(); }

inline double square(double value) { return value * value; }

// The weight of a window of `seconds` in a mean over about `span` seconds.
inline double mean_weight(double seconds, double span) { return 1 - std::exp(-seconds / span); }

// Likewise, but at the start all `windows` so far and this one count alike.
inline double mean_weight(double seconds, double span, std::size_t windows) {
  return std::max(mean_weight(seconds, span), 1 / static_cast<double>(windows + 1));
}

}  // namespace keplerd
