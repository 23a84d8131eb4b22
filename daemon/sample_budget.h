// SPDX-License-Identifier: Apache-2.0
// What samples may cost: a quarter of a processor in the long run, and a second of it at once. Where a host
// is flooded with processes or cgroups so that one sample takes longer, fewer are taken; when the flood is
// over, all of them again. No I/O.
#pragma once

#include <optional>

#include "base/time_budget.h"
#include "base/units.h"

namespace keplerd {

class SampleBudget {
 public:
  // A sample has ended at `now` (CLOCK_MONOTONIC) and has taken `cost` of CPU time.
  void spend(Nanoseconds now, Nanoseconds cost) { budget_.spend(now, cost); }

  // From `now` until the next sample may begin: kLongestWait at most.
  Nanoseconds wait(Nanoseconds now) const { return budget_.wait(now); }

  static constexpr Nanoseconds kLongestWait = std::chrono::seconds(10);

  // What is to be reported at `now`: true where the next sample must wait, once a minute at most; false where
  // that was reported and all of the budget is there again.
  std::optional<bool> notice(Nanoseconds now);

 private:
  TimeBudget budget_{{.share = 4, .most_saved = std::chrono::seconds(1), .most_wait = kLongestWait}};
  std::optional<Nanoseconds> reported_;  // when it was last exceeded
  bool exceeded_ = false;                // and reported so
};

}  // namespace keplerd
