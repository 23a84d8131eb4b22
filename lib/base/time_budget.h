// SPDX-License-Identifier: Apache-2.0
// Time that some work may take: a share of all time in the long run, and what was saved up at once. Who has
// overdrawn it waits. No I/O.
#pragma once

#include "base/units.h"

namespace keplerd {

class TimeBudget {
 public:
  struct Limits {
    int share;               // one part of so many
    Nanoseconds most_saved;  // which there is at first
    Nanoseconds most_wait;
  };
  explicit TimeBudget(Limits limits) : limits_(limits), saved_(limits.most_saved) {}

  // Work has ended at `now` (CLOCK_MONOTONIC) and has taken `cost`.
  void spend(Nanoseconds now, Nanoseconds cost);

  // From `now` until there may be work again; 0: at once.
  Nanoseconds wait(Nanoseconds now) const;

  bool is_full(Nanoseconds now) const { return saved(now) == limits_.most_saved; }

 private:
  Nanoseconds saved(Nanoseconds now) const;

  Limits limits_;
  Nanoseconds saved_;  // at `at_`; negative: overdrawn
  Nanoseconds at_{0};
};

}  // namespace keplerd
