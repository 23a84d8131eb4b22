// SPDX-License-Identifier: Apache-2.0
#include "cli/calibrate/idle_estimate.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace keplerd::cli::calibrate {
namespace {

constexpr double kOf95Percent = 1.96;  // standard errors

// CPU time is not read at the instant of the counters, which makes the line too flat: by at most this part of
// what it says that the load draws.
constexpr double kFlattened = 0.3;

// In CPUs: a smaller deviation is none, and a smaller load draws nothing that matters.
constexpr double kLeastDeviation = 1e-5;
constexpr double kLeastBusy = 0.005;

// What a line through the windows is made of.
struct Sums {
  double count = 0, busy = 0, watts = 0;  // the latter two are means
  double busy_busy = 0, busy_watts = 0;   // of the differences from them
};

Sums sums_of(std::span<const QuietWindow> windows) {
  Sums sums{.count = static_cast<double>(windows.size())};
  for (const QuietWindow& window : windows) {
    sums.busy += window.busy / sums.count;
    sums.watts += window.watts / sums.count;
  }
  for (const QuietWindow& window : windows) {
    sums.busy_busy += (window.busy - sums.busy) * (window.busy - sums.busy);
    sums.busy_watts += (window.busy - sums.busy) * (window.watts - sums.watts);
  }
  return sums;
}

}  // namespace

Result<IdleEstimate> estimate_idle(std::span<const QuietWindow> windows, std::size_t cpus) {
  if (windows.size() < kFewestWindows)
    return Error{fmt::format("only {} samples were taken; at least {} are needed (--for)", windows.size(),
                             kFewestWindows)};
  const Sums sums = sums_of(windows);
  const double share = sums.busy / static_cast<double>(std::max<std::size_t>(cpus, 1));
  if (share > kMostBusy)
    return Error{fmt::format("the host is not idle: its CPUs were {:.1f}% busy, at most {:.0f}% are allowed",
                             100 * share, 100 * kMostBusy)};
  // Without differences in load, what it draws is unknown.
  const bool varies = sums.busy_busy > kLeastDeviation * kLeastDeviation * sums.count;
  if (!varies && sums.busy > kLeastBusy)
    return Error{fmt::format("the load was too steady: {:.2f} CPUs were busy all the time", sums.busy)};
  // Work never lowers the power.
  const double slope = varies ? std::max(0.0, sums.busy_watts / sums.busy_busy) : 0;
  IdleEstimate idle{.watts = sums.watts - slope * sums.busy, .error = 0, .busy = sums.busy};
  double squares = 0;
  for (const QuietWindow& window : windows) {
    const double rest = window.watts - idle.watts - slope * window.busy;
    squares += rest * rest;
  }
  const double extrapolated = varies ? sums.busy * sums.busy / sums.busy_busy : 0;
  const double random =
      kOf95Percent * std::sqrt(squares / (sums.count - 2) * (1 / sums.count + extrapolated));
  idle.error = std::hypot(random, kFlattened * slope * sums.busy);
  if (!(idle.watts > 0)) return Error{"no energy was counted"};
  if (idle.error > kLargestError * idle.watts)
    return Error{
        fmt::format("the power varied too much: {:.3g} W +-{:.2g} W; try again, or for longer (--for)",
                    idle.watts, idle.error)};
  return idle;
}

}  // namespace keplerd::cli::calibrate
