// SPDX-License-Identifier: Apache-2.0
// An energy counter made of a sensor that only tells power.
#pragma once

#include <optional>

#include "base/units.h"

namespace keplerd {

// Over a longer span nothing is known of the power in between.
inline constexpr Nanoseconds kLongestPowerSpan = std::chrono::seconds(60);

// The integral of power over measured time, taken as a straight line between two readings. Exact: what is
// less than a microjoule is carried over. After a span longer than kLongestPowerSpan it begins at 0 again,
// which is judged as a counter's reset: nothing is invented for the gap.
class PowerIntegral {
 public:
  // The counter at `now` (CLOCK_MONOTONIC), when the sensor tells `power`, which is not negative; 0 the first
  // time.
  Microjoules advance(Nanoseconds now, Microwatts power);

 private:
  struct Seen {
    Nanoseconds now;
    Microwatts power;
  };
  std::optional<Seen> last_;
  Microjoules energy_;
  __int128 remainder_ = 0;  // of a microjoule, in 1 / (2 x 10^9)
};

}  // namespace keplerd
