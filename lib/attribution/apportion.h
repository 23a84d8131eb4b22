// SPDX-License-Identifier: Apache-2.0
// Divides an integer amount of energy in proportion to weights, so that the shares add up to it exactly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"

namespace keplerd {

// Largest-remainder apportionment (Hamilton's method): each share is the whole microjoules of its exact
// value, and the microjoules left over go to the largest fractions, ties to the lower index. Every share is
// within 1 uJ of the exact value, and a weight of 0 gets 0. Weights must not be negative, and at least one
// must be positive. Nothing overflows, however large the weights: products are below 2^126, and so are sums
// of 2^63 weights.
class Apportioner {
 public:
  // `shares` must have the size of `weights`.
  void apportion(Microjoules amount, std::span<const std::int64_t> weights, std::span<Microjoules> shares);

 private:
  struct Remainder {
    __int128 fraction;
    std::size_t index;
  };
  std::vector<Remainder> remainders_;  // kept to reuse its memory
};

}  // namespace keplerd
