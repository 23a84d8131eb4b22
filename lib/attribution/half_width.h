// SPDX-License-Identifier: Apache-2.0
// How wide the 95 % interval of a share is.
#pragma once

#include <algorithm>
#include <cmath>

#include "attribution/model/arithmetic.h"
#include "base/units.h"

namespace keplerd {

// Half of it; at most four times the energy.
inline Microjoules half_width(Microjoules energy, double relative_sd) {
  return {std::llround(static_cast<double>(energy.value) * std::clamp(kNormal95 * relative_sd, 0.0, 4.0))};
}

// Of a process that has `part` of what its group has. Processes of a group are treated alike; their powers
// differ as those of workloads do.
inline double process_sd(double of_group, double part) {
  constexpr double kProcessSd = 0.3;
  return std::hypot(of_group, kProcessSd * (1 - part));
}

}  // namespace keplerd
