// SPDX-License-Identifier: Apache-2.0
// The idle power of the processors, from windows in which they did almost nothing. Pure.
//
// Even a quiet host is a little busy, and a processor draws most for the first CPU that is awake. So power is
// not averaged, but extrapolated to no CPU time at all: the intercept of a straight line through the windows.
#pragma once

#include <span>

#include "base/result.h"

namespace keplerd::cli::calibrate {

struct QuietWindow {
  double watts = 0;  // of all processors, averaged over it
  double busy = 0;   // CPUs, averaged over it
};

struct IdleEstimate {
  double watts = 0;
  double error = 0;  // half the width of the 95 % interval, in watts
  double busy = 0;   // CPUs, averaged over all windows
};

// Of a host with so many CPUs, no more may be busy.
inline constexpr double kMostBusy = 0.05;
inline constexpr std::size_t kFewestWindows = 10;
// As a part of the idle power.
inline constexpr double kLargestError = 0.05;

// An error: there are too few windows, the host was not quiet, or the result is too uncertain.
Result<IdleEstimate> estimate_idle(std::span<const QuietWindow> windows, std::size_t cpus);

}  // namespace keplerd::cli::calibrate
