// SPDX-License-Identifier: Apache-2.0
#include "daemon/sample_budget.h"

namespace keplerd {

std::optional<bool> SampleBudget::notice(Nanoseconds now) {
  constexpr Nanoseconds kQuiet = std::chrono::minutes(1);
  if (exceeded_) {
    exceeded_ = !budget_.is_full(now);
    return exceeded_ ? std::nullopt : std::optional(false);
  }
  if (wait(now) == Nanoseconds{0} || (reported_ && now - *reported_ < kQuiet)) return std::nullopt;
  reported_ = now;
  exceeded_ = true;
  return true;
}

}  // namespace keplerd
