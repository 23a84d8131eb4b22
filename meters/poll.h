// SPDX-License-Identifier: Apache-2.0
// A reading of meters that may fail for a while, and when the next one is due. No I/O.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/units.h"
#include "meters/meter_writer.h"

namespace keplerd::meters {

struct Poll {
  std::vector<Meter> meters;  // empty if there is a problem
  std::string problem;
  Nanoseconds pause{0};  // until the next one
};

// CLOCK_BOOTTIME in microseconds.
using Clock = std::function<std::int64_t()>;

inline constexpr Nanoseconds kLongestPause = std::chrono::minutes(5);

// The pauses after failures in a row: doubled each time.
class Backoff {
 public:
  Nanoseconds next(Nanoseconds interval) {
    constexpr int kDoublings = 8;
    failures_ = std::min(failures_ + 1, kDoublings);
    return std::min<Nanoseconds>(interval * (1 << failures_), kLongestPause);
  }
  void reset() { failures_ = 0; }

 private:
  int failures_ = 0;
};

}  // namespace keplerd::meters
