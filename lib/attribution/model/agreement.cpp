// SPDX-License-Identifier: Apache-2.0
#include "attribution/model/agreement.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "attribution/model/arithmetic.h"

namespace keplerd {
namespace {

constexpr double kLeastVariance = 1e-6;  // of ln(1 + d)

// What a filter knows of a workload: ln(1 + d), of which it had guessed 0 before it learned anything.
struct Guess {
  double weighed = 0;    // times the precision
  double precision = 0;  // 1 / its variance; 0: none
  double learned = 0;    // of that, what was added to the first guess

  double seen() const { return weighed / learned; }  // the value, without the first guess
};

Guess guess_of(const PowerFilter& filter, std::size_t slot) {
  const double factor = 1 + filter.deviation(slot);
  const double variance = filter.deviation_covariance(slot, slot) / square(factor);
  const double precision = 1 / std::max(variance, kLeastVariance);
  const double first = square(factor) / filter.deviation_variance();
  return {std::log(factor) * precision, precision, std::max(0.0, precision - first)};
}

using Guesses = std::array<Guess, kSlots>;

// What `other` knows of the workloads in the slots of `own`.
Guesses known_elsewhere(const LearnedPowers& own, const LearnedPowers& other) {
  Guesses found{};
  for (std::size_t s = 1; s < kSlots; ++s) {
    const std::uint64_t workload = own.slots->holder(s).workload;
    const std::size_t there = workload == 0 ? 0 : other.slots->slot_of(workload);
    if (there != 0) found[s] = guess_of(*other.filter, there);
  }
  return found;
}

// By how much the logarithms differ because the mean workloads of the packages do.
double difference_of(const Guesses& own, const Guesses& other) {
  double difference = 0, weights = 0;
  for (std::size_t s = 1; s < kSlots; ++s) {
    if (own[s].learned <= 0 || other[s].learned <= 0) continue;
    const double weight = 1 / (1 / own[s].learned + 1 / other[s].learned);
    difference += weight * (other[s].seen() - own[s].seen());
    weights += weight;
  }
  return weights > 0 ? difference / weights : 0;
}

}  // namespace

std::array<double, kSlots> agreed_deviations(const LearnedPowers& own,
                                             std::span<const LearnedPowers> others) {
  Guesses guesses{};
  for (std::size_t s = 1; s < kSlots; ++s) guesses[s] = guess_of(*own.filter, s);
  Guesses agreed = guesses;
  for (const LearnedPowers& other : others) {
    const Guesses found = known_elsewhere(own, other);
    const double difference = difference_of(guesses, found);
    for (std::size_t s = 1; s < kSlots; ++s) {
      agreed[s].weighed += found[s].weighed - difference * found[s].learned;
      agreed[s].precision += found[s].learned;
    }
  }
  std::array<double, kSlots> deviations{own.filter->deviation(0)};
  for (std::size_t s = 1; s < kSlots; ++s)
    deviations[s] =
        std::clamp(std::exp(agreed[s].weighed / agreed[s].precision) - 1, kLeastDeviation, kMostDeviation);
  return deviations;
}

}  // namespace keplerd
