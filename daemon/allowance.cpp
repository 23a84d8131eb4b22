// SPDX-License-Identifier: Apache-2.0
#include "daemon/allowance.h"

namespace keplerd {

std::optional<bool> Allowance::news(Nanoseconds now) {
  constexpr Nanoseconds kQuiet = std::chrono::minutes(1);
  if (exceeded_) {
    exceeded_ = !budget_.is_full(now);
    return exceeded_ ? std::nullopt : std::optional(false);
  }
  if (wait(now) == Nanoseconds{0} || (told_ && now - *told_ < kQuiet)) return std::nullopt;
  told_ = now;
  exceeded_ = true;
  return true;
}

}  // namespace keplerd
