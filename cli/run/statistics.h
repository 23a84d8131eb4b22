// SPDX-License-Identifier: Apache-2.0
// The mean of repeated runs, and whether two series differ by more than their noise. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace keplerd::cli::run {

struct Sample {
  std::size_t count = 0;
  double mean = 0;
  double variance = 0;  // of the population that they are drawn from: divided by count - 1
};

Sample sample_of(const std::vector<double>& values);

// The standard deviation as a share of the mean, in percent. Unset with fewer than two values, or a mean of
// 0.
std::optional<double> stdev_percent(const Sample& sample);

// Welch's t-test: the probability that two series of the same mean differ at least as much as these. Unset
// if one of them has fewer than two values. (B. L. Welch, Biometrika 34, 1947: degrees of freedom after
// Satterthwaite.)
std::optional<double> welch_probability(const Sample& a, const Sample& b);

// A difference that is as improbable as this is called larger than the noise.
inline constexpr double kSignificant = 0.05;

// P(|T| >= |t|) for Student's t distribution.
double student_probability(double t, double degrees_of_freedom);

}  // namespace keplerd::cli::run
