// SPDX-License-Identifier: Apache-2.0
// Derives an energy counter from a sensor that only reports power.
#pragma once

#include <optional>

#include "base/units.h"

namespace keplerd {

// Across a longer gap the power in between is unknown.
inline constexpr Nanoseconds kLongestPowerSpan = std::chrono::seconds(60);

// The integral of power over measured time, interpolated linearly between two readings. Exact: fractions of a
// microjoule are carried over. After a gap longer than kLongestPowerSpan it restarts at 0, which is judged as
// a counter's reset: nothing is invented for the gap.
class PowerIntegral {
 public:
  // The counter at `now` (CLOCK_MONOTONIC), when the sensor reads `power`, which is not negative; 0 the first
  // time.
  Microjoules advance(Nanoseconds now, Microwatts power);

  // The power is unknown from now on until the next call of advance(): nothing is counted in between.
  void pause() { last_.reset(); }

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
