// SPDX-License-Identifier: Apache-2.0
#include "attribution/platform/rest_power.h"

#include <cmath>

namespace keplerd {
namespace {

constexpr double kSpan = 300;           // of the means, in seconds
constexpr double kLeastForError = 60;   // seconds
constexpr double kLeastToObject = 240;  // seconds of weight: about eight minutes
constexpr double kMeterError = 0.03;    // one standard deviation of a meter, as a part of its power

}  // namespace

void RestPower::add(Nanoseconds span, Microjoules parts, Microjoules platform) {
  const double seconds = to_seconds(span);
  const double x = static_cast<double>(parts.value) / 1e6 / seconds;
  const double y = static_cast<double>(platform.value) / 1e6 / seconds;
  moments_.add(x, y, seconds, std::exp(-seconds / kSpan));
  const double rest = y - x;
  // Two independent values differ by twice the variance of one.
  if (last_) scatter_ += mean_weight(seconds, kSpan) * (square(rest - *last_) / 2 - scatter_);
  last_ = rest;
}

double RestPower::meters_variance() const {
  return square(kMeterError * moments_.x) + square(kMeterError * moments_.y);
}

std::optional<Microwatts> RestPower::error() const {
  if (moments_.weight < kLeastForError) return std::nullopt;
  return Microwatts{std::llround(kNormal95 * std::sqrt(meters_variance() + scatter_) * 1e6)};
}

std::optional<RestPower::Contradiction> RestPower::contradiction() const {
  if (moments_.weight < kLeastToObject) return std::nullopt;
  if (moments_.x - moments_.y <= kNormal95 * std::sqrt(meters_variance())) return std::nullopt;
  return Contradiction{{std::llround(moments_.x * 1e6)}, {std::llround(moments_.y * 1e6)}};
}

}  // namespace keplerd
