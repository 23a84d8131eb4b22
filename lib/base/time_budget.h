// SPDX-License-Identifier: Apache-2.0
// Limits the time that some work may take: in the long run a share of all time, with saved time available at
// once. Once overdrawn, work has to wait. No I/O.
#pragma once

#include "base/units.h"

namespace keplerd {

class TimeBudget {
 public:
  struct Limits {
    int share;               // one part in this many
    Nanoseconds most_saved;  // also the initial balance
    Nanoseconds most_wait;
  };
  explicit TimeBudget(Limits limits) : limits_(limits), saved_(limits.most_saved) {}

  // Records work that ended at `now` (CLOCK_MONOTONIC) and took `cost`.
  void spend(Nanoseconds now, Nanoseconds cost);

  // The time from `now` until work may start again; 0: at once.
  Nanoseconds wait(Nanoseconds now) const;

  bool is_full(Nanoseconds now) const { return saved(now) == limits_.most_saved; }

 private:
  Nanoseconds saved(Nanoseconds now) const;

  Limits limits_;
  Nanoseconds saved_;  // at `at_`; negative: overdrawn
  Nanoseconds at_{0};
};

}  // namespace keplerd
