// SPDX-License-Identifier: Apache-2.0
// Limits what samples cost: a quarter of a processor in the long run, with a second available at once. If a
// flood of processes or cgroups makes samples slower, fewer are taken; once it is over, all of them again. No
// I/O.
#pragma once

#include <optional>

#include "base/time_budget.h"
#include "base/units.h"

namespace keplerd {

class SampleBudget {
 public:
  // Records a sample that ended at `now` (CLOCK_MONOTONIC) and took `cost` of CPU time.
  void spend(Nanoseconds now, Nanoseconds cost) { budget_.spend(now, cost); }

  // The time from `now` until the next sample may begin: kLongestWait at most.
  Nanoseconds wait(Nanoseconds now) const { return budget_.wait(now); }

  static constexpr Nanoseconds kLongestWait = std::chrono::seconds(10);

  // What to report at `now`: true if the next sample must wait, at most once a minute; false if that was
  // reported and the budget is full again.
  std::optional<bool> notice(Nanoseconds now);

 private:
  TimeBudget budget_{{.share = 4, .most_saved = std::chrono::seconds(1), .most_wait = kLongestWait}};
  std::optional<Nanoseconds> reported_;  // when the budget was last exceeded
  bool exceeded_ = false;                // and reported as such
};

}  // namespace keplerd
