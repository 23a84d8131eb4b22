// SPDX-License-Identifier: Apache-2.0
// The rates of a period. They change at multiples of five minutes only, as spans of energy do. Pure, but for
// the time zone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "cost/tariff.h"

namespace keplerd {

class RateSeries {
 public:
  // Of no time yet. `from` must be such a multiple.
  RateSeries(std::shared_ptr<const Tariff> tariff, TariffTime from);
  RateSeries(const Tariff& tariff, TariffTime from, TariffTime to);

  const Tariff& tariff() const { return *tariff_; }
  TariffTime start() const { return start_; }

  // Extends it to `to`, a multiple of five minutes, at most by so many of them. Returns whether that is
  // reached.
  bool extend(TariffTime to, int steps = std::numeric_limits<int>::max());

  // Sums over a time, which can be subtracted: of the part of a span that is not covered by others.
  struct Sum {
    TariffTime length{0}, known{0};  // known: of the intensity
    __int128 price = 0, carbon = 0;  // times microseconds

    Sum& operator-=(const Sum& other);
    std::int64_t mean_price() const;   // 0 if there is no time
    std::int64_t mean_carbon() const;  // where it is not known, it is 0
  };
  // Of a time that it covers.
  Sum sum(TariffTime from, TariffTime to) const;
  bool is_constant(TariffTime from, TariffTime to) const;

 private:
  struct Piece {
    TariffTime start{0};
    std::int64_t price = 0;
    std::optional<std::int64_t> carbon;
    Sum before;  // from the beginning of the series to `start`
  };
  Piece piece_of(TariffTime time) const;
  std::size_t piece_at(TariffTime time) const;
  Sum sum_until(TariffTime time) const;

  std::shared_ptr<const Tariff> tariff_;
  bool varies_;
  TariffTime start_, end_;
  std::vector<Piece> pieces_;  // neighbours differ; at least one
};

}  // namespace keplerd
