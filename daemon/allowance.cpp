// SPDX-License-Identifier: Apache-2.0
#include "daemon/allowance.h"

#include <algorithm>

namespace keplerd {

void Allowance::spend(Nanoseconds now, Nanoseconds cost) {
  credit_ = std::max(credit(now) - cost, -kLongestWait / kShare);
  at_ = now;
}

Nanoseconds Allowance::wait(Nanoseconds now) const { return std::max(-credit(now) * kShare, Nanoseconds{0}); }

std::optional<bool> Allowance::news(Nanoseconds now) {
  constexpr Nanoseconds kQuiet = std::chrono::minutes(1);
  if (exceeded_) {
    exceeded_ = credit(now) < kMostCredit;
    return exceeded_ ? std::nullopt : std::optional(false);
  }
  if (wait(now) == Nanoseconds{0} || (told_ && now - *told_ < kQuiet)) return std::nullopt;
  told_ = now;
  exceeded_ = true;
  return true;
}

Nanoseconds Allowance::credit(Nanoseconds now) const {
  return std::min(credit_ + (now - at_) / kShare, kMostCredit);
}

}  // namespace keplerd
