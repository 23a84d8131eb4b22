// SPDX-License-Identifier: Apache-2.0
#include "cost/rounding.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace keplerd {
namespace {

constexpr RatedEnergy kKilowattHour = 3'600'000'000'000;  // in microjoules
constexpr RatedEnergy kMilligram = kKilowattHour * 1000;  // rates are micrograms per kWh

RatedEnergy divide_down(RatedEnergy value, RatedEnergy divisor) {
  const RatedEnergy quotient = value / divisor;
  return value % divisor < 0 ? quotient - 1 : quotient;
}

std::int64_t narrow(RatedEnergy value) {
  constexpr RatedEnergy kMost = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::clamp(value, -kMost, kMost));
}

std::int64_t rounded(RatedEnergy value, RatedEnergy divisor) {
  return narrow(divide_down(value + divisor / 2, divisor));
}

std::vector<std::int64_t> parts_of(const std::vector<RatedEnergy>& values, RatedEnergy divisor) {
  std::vector<std::int64_t> parts;
  std::vector<RatedEnergy> remainders;
  RatedEnergy missing = rounded(std::accumulate(values.begin(), values.end(), RatedEnergy{0}), divisor);
  for (const RatedEnergy value : values) {
    parts.push_back(narrow(divide_down(value, divisor)));
    remainders.push_back(value - divide_down(value, divisor) * divisor);
    missing -= parts.back();
  }
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return remainders[i]; });
  for (const std::size_t i : order) {
    if (missing-- <= 0) break;
    ++parts[i];
  }
  return parts;
}

}  // namespace

std::int64_t cost_of(RatedEnergy priced) { return rounded(priced, kKilowattHour); }
std::int64_t milligrams_of(RatedEnergy emitted) { return rounded(emitted, kMilligram); }

std::vector<std::int64_t> costs_of(const std::vector<RatedEnergy>& priced) {
  return parts_of(priced, kKilowattHour);
}
std::vector<std::int64_t> milligrams_of(const std::vector<RatedEnergy>& emitted) {
  return parts_of(emitted, kMilligram);
}

}  // namespace keplerd
