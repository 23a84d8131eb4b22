// SPDX-License-Identifier: Apache-2.0
// Rounds the parts of a sum so that they add up to the rounded sum. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace keplerd {

// Energy times a rate: microjoules * millionths per kWh. A sum of such products is exact.
using RatedEnergy = __int128;

// In millionths of the currency, or in milligrams; rounded half up.
std::int64_t cost_of(RatedEnergy priced);
std::int64_t milligrams_of(RatedEnergy emitted);

// The same of each part, rounded down or up (largest remainder) so that together they are that of their sum.
std::vector<std::int64_t> costs_of(const std::vector<RatedEnergy>& priced);
std::vector<std::int64_t> milligrams_of(const std::vector<RatedEnergy>& emitted);

}  // namespace keplerd
