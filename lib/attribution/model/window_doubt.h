// SPDX-License-Identifier: Apache-2.0
// By how much the power of a window may differ from what a filter predicts for its means, because it is not
// known what happened within the window. Power is in watts.
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

  // Sets the doubt about the next window.
  void find(const PowerObservation& observation, const Powers& powers);

  // The mean square of the error that it expects, W^2.
  double squared() const { return awake_squared_ + seen_part_ * uneven_squared_; }

  // Learns from the error of that window. `expected`: its mean square without this doubt; `noise`: the part
  // of that which comes from the counter and the model, not from uncertain parameters.
  void judge(double error, double expected, double noise);

  // Expects all of it again.
  void forget() { seen_part_ = 1; }

 private:
  double last_load_ = 0;
  double awake_squared_ = 0;   // because CPUs were busy at the same time
  double uneven_squared_ = 0;  // at most, because the load changed
  double seen_part_ = 1;       // of that: what errors have shown, 0 to 1
};

}  // namespace keplerd
