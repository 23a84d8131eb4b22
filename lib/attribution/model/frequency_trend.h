// SPDX-License-Identifier: Apache-2.0
// How fast the processors of a zone ran in a window, compared with their mean. A frequency is read at one
// instant, and the number of busy cores, which it follows, is known for the whole window: so what is learned
// is how the frequency follows the busy cores, and, slowly, what else moves it (a governor, heat). Without
// any reading, a usual slope stands in.
#pragma once

#include <cstddef>

#include "attribution/model/placement.h"

namespace keplerd {

class FrequencyTrend {
 public:
  // Learns from a window of `seconds`; returns ln(f / its mean), between -1 and 1.
  double follow(const ZoneActivity& activity, double seconds);

 private:
  double slope() const;

  std::size_t windows_ = 0;                         // that the means were learned from
  double mean_khz_ = 0;                             // 0: never read
  double mean_cores_ = 0;                           // share of the cores that is busy
  double cores_squared_ = 0, cores_times_log_ = 0;  // of the deviations from the means
  double rest_ = 0;                                 // of ln f, not explained by the cores
};

}  // namespace keplerd
