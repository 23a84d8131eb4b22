// SPDX-License-Identifier: Apache-2.0
// How often counters of cgroups are read.
#pragma once

#include <algorithm>

#include "base/units.h"

namespace keplerd::meters {

// How long to wait before the next reading, if the last one took as much CPU time: a second, but more if it
// would otherwise take more than a fiftieth of the time; half a minute at most.
constexpr Nanoseconds pause_after(Nanoseconds cpu_time) {
  constexpr int kMostOfTime = 50;
  return std::clamp<Nanoseconds>(cpu_time * kMostOfTime, std::chrono::seconds(1), std::chrono::seconds(30));
}

}  // namespace keplerd::meters
