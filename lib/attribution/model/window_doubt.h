// SPDX-License-Identifier: Apache-2.0
// By how much the power of a window may be off from what a filter predicts for its means, because it is not
// known what happened within the window. Power is in watts, doubts are squares of it.
#pragma once

#include "attribution/model/power_observation.h"

namespace keplerd {

class WindowDoubt {
 public:
  // What a filter knows, W: drawn while any CPU is awake; by a busy CPU, or 0 if power rises in proportion to
  // the load; and by what ran in this window.
  struct Powers {
    double awake = 0;
    double per_cpu = 0;
    double dynamic = 0;
  };

  // Sets the doubt in the next window.
  void find(const PowerObservation& observation, const Powers& powers);

  double squared() const { return awake_squared_ + seen_part_ * uneven_squared_; }

  // Learns from the error of that window. `expected`: its mean square without this doubt, `noise` of which is
  // not due to what the filter does not know.
  void judge(double error, double expected, double noise);

  void forget() { seen_part_ = 1; }

 private:
  double last_load_ = 0;
  double awake_squared_ = 0;   // because CPUs were busy at the same time
  double uneven_squared_ = 0;  // at most, because the load changed
  double seen_part_ = 1;       // of that: what errors have shown, 0 to 1
};

}  // namespace keplerd
