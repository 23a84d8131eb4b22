// SPDX-License-Identifier: Apache-2.0
#include "attribution/model/agreement.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "attribution/model/arithmetic.h"

namespace keplerd {
namespace {

constexpr double kLeastVariance = 1e-6;  // of ln(1 + d)
// A filter keeps its powers near the first guess until it has learned enough. Without that guess, they are
// larger by this factor or less: those of a filter that has become uncertain again are not kept near it.
constexpr double kMostLarger = 2;

// What a filter knows of a workload.
struct Guess {
  double log = 0;        // ln(1 + d)
  double precision = 0;  // 1 / its variance; 0: none
  double learned = 0;    // of that, what was added to the first guess
  double seen = 0;       // ln(1 + d), without the first guess, by which it is 0
};

// None of a filter that has lost its footing.
Guess guess_of(const PowerFilter& filter, std::size_t slot) {
  const double factor = 1 + filter.deviation(slot);
  const double variance = filter.deviation_covariance(slot, slot) / square(factor);
  if (!(variance > 0) || !std::isfinite(variance) || !std::isfinite(factor)) return {};
  const double precision = 1 / std::max(variance, kLeastVariance);
  const double first = square(factor) / filter.deviation_variance();
  const double learned = precision - first, log = std::log(factor);
  if (learned <= 0) return {log, precision, 0, log};
  return {log, precision, learned, log * std::min(kMostLarger, precision / learned)};
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

// By how much the logarithms differ because the mean workloads of the packages do, which is 0 as far as
// nothing is known. Unset if fewer than two workloads are known on both.
std::optional<double> difference_of(const Guesses& own, const Guesses& other, double first_precision) {
  double difference = 0, weights = 0;
  std::size_t common = 0;
  for (std::size_t s = 1; s < kSlots; ++s) {
    if (own[s].learned <= 0 || other[s].learned <= 0) continue;
    const double weight = 1 / (1 / own[s].learned + 1 / other[s].learned);
    difference += weight * (other[s].seen - own[s].seen);
    weights += weight;
    ++common;
  }
  return common >= 2 ? std::optional(difference / (weights + first_precision)) : std::nullopt;
}

}  // namespace

std::array<double, kSlots> agreed_deviations(const LearnedPowers& own,
                                             std::span<const LearnedPowers> others) {
  std::array<double, kSlots> deviations{};
  for (std::size_t s = 0; s < kSlots; ++s) deviations[s] = own.filter->deviation(s);
  if (others.empty()) return deviations;
  Guesses guesses{};
  for (std::size_t s = 1; s < kSlots; ++s) guesses[s] = guess_of(*own.filter, s);
  std::array<double, kSlots> weighed{}, learned{};  // by the others
  for (const LearnedPowers& other : others) {
    const Guesses found = known_elsewhere(own, other);
    const auto difference = difference_of(guesses, found, 1 / own.filter->deviation_variance());
    if (!difference) continue;
    for (std::size_t s = 1; s < kSlots; ++s) {
      weighed[s] += (found[s].seen - *difference) * found[s].learned;
      learned[s] += found[s].learned;
    }
  }
  for (std::size_t s = 1; s < kSlots; ++s) {
    if (learned[s] <= 0 || guesses[s].precision <= 0) continue;
    const double log =
        (guesses[s].log * guesses[s].precision + weighed[s]) / (guesses[s].precision + learned[s]);
    deviations[s] = std::clamp(std::exp(log) - 1, kLeastDeviation, kMostDeviation);
  }
  return deviations;
}

}  // namespace keplerd
