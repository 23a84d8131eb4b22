// SPDX-License-Identifier: Apache-2.0
// What samples may cost: a quarter of a processor in the long run, and a second of it at once. Where a host
// is flooded with processes or cgroups so that one sample takes longer, fewer are taken; when the flood is
// over, all of them again. No I/O.
#pragma once

#include <optional>

#include "base/units.h"

namespace keplerd {

class Allowance {
 public:
  // A sample has ended at `now` (CLOCK_MONOTONIC) and has taken `cost` of CPU time.
  void spend(Nanoseconds now, Nanoseconds cost);

  // From `now` until the next sample may begin: kLongestWait at most.
  Nanoseconds wait(Nanoseconds now) const;

  static constexpr Nanoseconds kLongestWait = std::chrono::seconds(10);

  // What is to be told at `now`: true where the next sample must wait, once a minute at most; false where
  // that was told and all of the allowance is there again.
  std::optional<bool> news(Nanoseconds now);

 private:
  Nanoseconds credit(Nanoseconds now) const;

  static constexpr int kShare = 4;  // one part of so many
  static constexpr Nanoseconds kMostCredit = std::chrono::seconds(1);

  Nanoseconds credit_ = kMostCredit;  // CPU time, at `at_`
  Nanoseconds at_{0};
  std::optional<Nanoseconds> told_;  // when it was last exceeded
  bool exceeded_ = false;            // and told so
};

}  // namespace keplerd
