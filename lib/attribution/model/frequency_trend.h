// SPDX-License-Identifier: Apache-2.0
// How fast the processors of a zone ran in a window, compared with their mean. A frequency is read at one
// instant, and the number of busy cores, which it follows, is known for the whole window: so what is learned
// is how the frequency follows the busy cores, and, slowly, what else moves it (a governor, heat). Without
// any reading, a usual slope stands in.
//
// How many cores were busy depends on where threads ran, which is not known: between the number if each CPU
// was busy at random (spread), and that if the kernel filled idle cores first. Both are followed.
#pragma once

#include <cstddef>

#include "attribution/model/placement.h"

namespace keplerd {

class FrequencyTrend {
 public:
  // What it has learned, worth keeping for another run: the filters' parameters are those at this mean.
  struct Memory {
    std::size_t windows = 0;                  // that the means were learned from
    double mean_khz = 0;                      // 0: never read
    double mean_spread = 0, mean_filled = 0;  // share of the cores that is busy
    // Means of products: of the deviations from these means, and of ln f.
    double spread_squared = 0, filled_squared = 0, spread_times_filled = 0;
    double spread_times_log = 0, filled_times_log = 0;
    double rest = 0;  // of ln f, not explained by the cores
  };

  // Learns from a window of `seconds`; returns ln(f / its mean), between -1 and 1.
  double follow(const ZoneActivity& activity, double seconds);

  const Memory& memory() const { return known_; }
  void restore(const Memory& memory) { known_ = memory; }

 private:
  double explained(double spread, double filled) const;

  Memory known_;
};

}  // namespace keplerd
