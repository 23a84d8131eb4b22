// SPDX-License-Identifier: Apache-2.0
#include "energy/power_integral.h"

#include <algorithm>

namespace keplerd {

Microjoules PowerIntegral::advance(Nanoseconds now, Microwatts power) {
  if (last_ && now - last_->now > kLongestPowerSpan) *this = {};
  if (!last_) last_ = Seen{now, power};
  const Nanoseconds span = std::max(now - last_->now, Nanoseconds{0});
  constexpr __int128 kOneMicrojoule = 2'000'000'000;
  remainder_ += (__int128{last_->power.value} + power.value) * span.count();
  energy_.value += static_cast<std::int64_t>(remainder_ / kOneMicrojoule);
  remainder_ %= kOneMicrojoule;
  last_ = Seen{last_->now + span, power};
  return energy_;
}

}  // namespace keplerd
