// SPDX-License-Identifier: Apache-2.0
#include "attribution/model/error_correlation.h"

#include <algorithm>
#include <cmath>

#include "attribution/model/arithmetic.h"

namespace keplerd {
namespace {

constexpr double kSpan = 120;  // s, in which the correlation is learned
constexpr double kMostInflation = 60;

}  // namespace

// The lag is a time: a slow filter that learns from long windows is not taken for one whose model is wrong.
double ErrorCorrelation::inflation(double error, double seconds) {
  const double weight = mean_weight(seconds, kSpan, windows_++);
  const std::size_t lag = RecentErrors::lag(seconds);
  squared_ += weight * (square(error) - squared_);
  near_ += weight * (error * errors_.before(1) - near_);
  late_ += weight * (error * errors_.before(lag) - late_);
  errors_.add(error);
  if (squared_ <= 0) return 1;
  const double near = std::clamp(near_ / squared_, 0.0, 0.9);
  const double late = std::min(late_ / squared_, 0.95);
  const double of_near = (1 + near) / (1 - near);
  if (late <= 0.05) return of_near;
  return std::max(of_near, std::min(kMostInflation, 1 - 2 * static_cast<double>(lag) / std::log(late)));
}

}  // namespace keplerd
