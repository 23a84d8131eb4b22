// SPDX-License-Identifier: Apache-2.0
// What energy costs and emits at each time: what cost.conf says. Pure, but for the time zone.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "cost/intensities.h"
#include "cost/price_rule.h"
#include "cost/rates.h"

namespace keplerd {

struct Tariff {
  std::vector<PriceRule> prices;  // the last one that applies counts; empty: not known
  std::string currency;           // ISO 4217: "EUR"
  std::optional<Micrograms> carbon;
  std::vector<Intensity> intensities;  // instead of `carbon`
  // What the site draws for each kWh of the host, in millionths of a kWh.
  std::int64_t pue = 1'000'000;
  // What it took to make the host, and the time that this is spread over.
  std::optional<Milligrams> embodied;
  Nanoseconds lifetime = std::chrono::hours(24 * 1461);

  bool operator==(const Tariff&) const = default;
  bool has_price() const { return !prices.empty(); }
  bool has_carbon() const { return carbon || !intensities.empty(); }
};

using TariffTime = std::chrono::microseconds;  // since the epoch

// Of a kWh that the host draws: with what the site needs in addition (PUE).
Rates rates_at(const Tariff& tariff, TariffTime time);

// The part of the embodied emissions that belongs to so long a time.
Milligrams embodied_in(const Tariff& tariff, TariffTime length);

}  // namespace keplerd
