// SPDX-License-Identifier: Apache-2.0
// What energy costs and emits at each time: what cost.conf says. Pure, but for the time zone.
#pragma once

#include <chrono>
#include <cstddef>
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

// The rates of a period. They change at multiples of five minutes only, as spans of energy do.
class RateSeries {
 public:
  // `from` and `to` must be such multiples.
  RateSeries(const Tariff& tariff, TariffTime from, TariffTime to);

  // Sums over a time, which can be subtracted: of the part of a span that is not covered by others.
  struct Sum {
    TariffTime length{0}, known{0};  // known: of the intensity
    __int128 price = 0, carbon = 0;  // times microseconds

    Sum& operator-=(const Sum& other);
    std::int64_t mean_price() const;                  // 0 if there is no time
    std::optional<std::int64_t> mean_carbon() const;  // of the time for which it is known
  };
  Sum sum(TariffTime from, TariffTime to) const;
  bool is_constant(TariffTime from, TariffTime to) const;

 private:
  struct Piece {
    TariffTime start{0};
    std::int64_t price = 0;
    std::optional<std::int64_t> carbon;
    Sum before;  // from the beginning of the series to `start`
  };
  std::size_t piece_at(TariffTime time) const;
  Sum sum_until(TariffTime time) const;

  std::vector<Piece> pieces_;  // neighbours differ
};

}  // namespace keplerd
