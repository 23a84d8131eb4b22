// SPDX-License-Identifier: Apache-2.0
#include "base/time_budget.h"

#include <algorithm>

namespace keplerd {

void TimeBudget::spend(Nanoseconds now, Nanoseconds cost) {
  saved_ = std::max(saved(now) - cost, -limits_.most_wait / limits_.share);
  at_ = now;
}

Nanoseconds TimeBudget::wait(Nanoseconds now) const {
  return std::max(-saved(now) * limits_.share, Nanoseconds{0});
}

Nanoseconds TimeBudget::saved(Nanoseconds now) const {
  return std::min(saved_ + (now - at_) / limits_.share, limits_.most_saved);
}

}  // namespace keplerd
