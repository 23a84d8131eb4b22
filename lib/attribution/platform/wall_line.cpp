// SPDX-License-Identifier: Apache-2.0
#include "attribution/platform/wall_line.h"

#include <algorithm>
#include <cmath>

namespace keplerd {
namespace {

constexpr Nanoseconds kObservation = std::chrono::seconds(10);
constexpr double kMostOfClass = 60;    // observations of one class that count: the last ten minutes
constexpr double kLowestWatts = 1;     // of the first class
constexpr double kClassRatio = 1.08;   // of the next class to the one before: the last is at 17 kW
constexpr double kLeastSamples = 30;   // five minutes
constexpr double kLeastSpread = 0.05;  // standard deviation of the parts' power, as a part of it,
constexpr double kLeastWatts = 1;      // and in watts
constexpr double kLowestSlope = 0.8, kHighestSlope = 3;
constexpr double kMostSlopeError = 0.1;  // one standard deviation, as a part of the slope

double watts(Microjoules energy, Nanoseconds span) {
  return static_cast<double>(energy.value) / 1e6 / to_seconds(span);
}

std::size_t class_of(double watts) {
  const double number = std::log(std::max(watts, kLowestWatts) / kLowestWatts) / std::log(kClassRatio);
  return std::min(static_cast<std::size_t>(number), WallLine::kClasses - 1);
}

}  // namespace

Microwatts WallLine::Fit::power(Microwatts parts) const {
  return offset + Microwatts{std::llround(slope * static_cast<double>(parts.value))};
}

void WallLine::add(Nanoseconds span, Microjoules parts, Microjoules platform) {
  span_ += span;
  parts_ += parts;
  platform_ += platform;
  if (span_ < kObservation) return;
  const double x = watts(parts_, span_), y = watts(platform_, span_);
  interrupt();
  if (x < 0 || y < 0) return;
  Moments& moments = classes_[class_of(x)];
  const double most_before = kMostOfClass - 1;
  moments.add(x, y, 1, moments.weight > most_before ? most_before / moments.weight : 1);
  update_fit();
}

void WallLine::update_fit() {
  Moments all;
  for (const Moments& moments : classes_) all.add(moments);
  fit_.reset();
  if (all.weight < kLeastSamples || std::sqrt(all.xx) < std::max(kLeastWatts, kLeastSpread * all.x)) return;
  const double slope = all.xy / all.xx;
  const double residual = std::max(all.yy - slope * all.xy, 0.0) * all.weight / (all.weight - 2);
  const double slope_error = std::sqrt(residual / (all.xx * all.weight));
  if (slope < kLowestSlope || slope > kHighestSlope || slope_error > kMostSlopeError * slope || all.y <= 0)
    return;
  fit_ = Fit{.slope = slope,
             .offset = {std::llround((all.y - slope * all.x) * 1e6)},
             .error_percent = 100 * std::sqrt(residual) / all.y,
             .samples = static_cast<std::uint64_t>(std::llround(all.weight))};
}

WallLine::Memory WallLine::memory() const {
  Memory memory;
  for (std::size_t i = 0; i < kClasses; ++i) {
    if (classes_[i].weight > 0) memory.emplace_back(i, classes_[i]);
  }
  return memory;
}

void WallLine::restore(const Memory& memory) {
  classes_ = {};
  for (const auto& [number, moments] : memory) {
    if (number < kClasses) classes_[number] = moments;
  }
  update_fit();
}

}  // namespace keplerd
