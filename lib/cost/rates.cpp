// SPDX-License-Identifier: Apache-2.0
#include "cost/rates.h"

#include <algorithm>
#include <limits>

namespace keplerd {
namespace {

using Wide = unsigned __int128;

constexpr Wide kKilowattHour = 3'600'000'000'000;  // in microjoules

// amount * rate / divisor, rounded half up. The product of two numbers below 2^63 leaves room for the addend.
std::int64_t in_proportion(std::int64_t amount, std::int64_t rate, Wide divisor) {
  const Wide product = static_cast<Wide>(amount) * static_cast<Wide>(rate);
  constexpr Wide kMost = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min((product + divisor / 2) / divisor, kMost));
}

}  // namespace

MicroCurrency cost_of(Microjoules energy, MicroCurrency price_of_kwh) {
  return {in_proportion(energy.value, price_of_kwh.value, kKilowattHour)};
}

Milligrams carbon_of(Microjoules energy, Micrograms carbon_of_kwh) {
  constexpr Wide kMicrogramsPerMilligram = 1000;
  return {in_proportion(energy.value, carbon_of_kwh.value, kKilowattHour * kMicrogramsPerMilligram)};
}

}  // namespace keplerd
