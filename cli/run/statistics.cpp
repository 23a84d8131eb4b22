// SPDX-License-Identifier: Apache-2.0
#include "cli/run/statistics.h"

#include <cmath>

namespace keplerd::cli::run {
namespace {

// The continued fraction of the incomplete beta function, by Lentz's method (DLMF 8.17.22).
double beta_fraction(double a, double b, double x) {
  constexpr int kMostTerms = 500;
  constexpr double kTiny = 1e-300, kPrecise = 1e-14;
  const auto not_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / not_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / not_zero(1 + even * d);
    c = not_zero(1 + even / c);
    fraction *= c * d;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / not_zero(1 + odd * d);
    c = not_zero(1 + odd / c);
    fraction *= c * d;
    if (std::abs(c * d - 1) < kPrecise) break;
  }
  return fraction;
}

// The regularized incomplete beta function I_x(a, b).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double factor =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  // The fraction converges fast on this side of the mean only.
  return x < (a + 1) / (a + b + 2) ? factor * beta_fraction(a, b, x) / a
                                   : 1 - factor * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace

Sample sample_of(const std::vector<double>& values) {
  Sample sample;
  sample.count = values.size();
  if (values.empty()) return sample;
  const auto count = static_cast<double>(values.size());
  for (const double value : values) sample.mean += value / count;
  if (values.size() < 2) return sample;
  for (const double value : values)
    sample.variance += (value - sample.mean) * (value - sample.mean) / (count - 1);
  return sample;
}

std::optional<double> stdev_percent(const Sample& sample) {
  if (sample.count < 2 || sample.mean <= 0) return std::nullopt;
  return 100 * std::sqrt(sample.variance) / sample.mean;
}

double student_probability(double t, double degrees_of_freedom) {
  return incomplete_beta(degrees_of_freedom / 2, 0.5, degrees_of_freedom / (degrees_of_freedom + t * t));
}

std::optional<double> welch_probability(const Sample& a, const Sample& b) {
  if (a.count < 2 || b.count < 2) return std::nullopt;
  const double count_a = static_cast<double>(a.count), count_b = static_cast<double>(b.count);
  const double of_a = a.variance / count_a, of_b = b.variance / count_b;
  if (of_a + of_b <= 0) return a.mean == b.mean ? 1.0 : 0.0;
  const double t = (a.mean - b.mean) / std::sqrt(of_a + of_b);
  const double freedom =
      (of_a + of_b) * (of_a + of_b) / (of_a * of_a / (count_a - 1) + of_b * of_b / (count_b - 1));
  return student_probability(t, freedom);
}

}  // namespace keplerd::cli::run
