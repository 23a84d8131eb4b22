// SPDX-License-Identifier: Apache-2.0
#include "meters/power_check.h"

#include <cerrno>
#include <string>

namespace keplerd::meters {
namespace {

std::string watts(Microwatts power) { return std::to_string(power.value / 1'000'000) + " W"; }

Error implausible(std::string message) { return {.message = std::move(message), .code = EDOM}; }

}  // namespace

Result<Done> PowerCheck::check(Microwatts power) {
  if (power > kMostPlausible)
    return implausible("its power of " + watts(power) + " is implausible: possibly it is in milliwatts");
  if (power < kLeastPlausible)
    return implausible("its power is less than 1 W, which cannot be that of a host");
  if (last_ && (power.value / kMostChange > last_->value || last_->value / kMostChange > power.value))
    return implausible("its power of " + watts(power) + " is implausible after " + watts(*last_) +
                       ": possibly it is in another unit (if it is correct, restart the service)");
  last_ = power;
  return Done{};
}

}  // namespace keplerd::meters
