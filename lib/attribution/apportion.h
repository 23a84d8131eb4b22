// SPDX-License-Identifier: Apache-2.0
// Shares an integer amount of energy by weights so that the shares add up to it exactly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"

namespace keplerd {

// Largest-remainder apportionment (Hamilton's method): each gets the whole microjoules of its exact share,
// and those that remain go to the largest fractions, the first among equals first. Every share is within 1 uJ
// of the exact one, and a weight of 0 gets 0. Weights must not be negative, and at least one must be
// positive. Nothing overflows, however large they are: products are below 2^126, and sums of 2^63 weights
// below 2^126, too.
class Apportioner {
 public:
  // `shares` has the size of `weights`.
  void apportion(Microjoules amount, std::span<const std::int64_t> weights, std::span<Microjoules> shares);

 private:
  struct Remainder {
    __int128 fraction;
    std::size_t index;
  };
  std::vector<Remainder> remainders_;  // kept for its memory
};

}  // namespace keplerd
