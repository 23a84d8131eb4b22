// SPDX-License-Identifier: Apache-2.0
#include "cost/tariff.h"

#include <algorithm>
#include <ctime>
#include <iterator>

#include "cost/number.h"

namespace keplerd {
namespace {

constexpr TariffTime kGrid = std::chrono::minutes(5);

std::int64_t with_overhead(std::int64_t rate, std::int64_t pue) {
  return static_cast<std::int64_t>((static_cast<__int128>(rate) * pue + kMillion / 2) / kMillion);
}

std::optional<MicroCurrency> price_at(const Tariff& tariff, std::time_t time) {
  if (tariff.prices.empty()) return std::nullopt;
  tm local{};
  ::localtime_r(&time, &local);
  const auto last = std::find_if(tariff.prices.rbegin(), tariff.prices.rend(),
                                 [&local](const PriceRule& rule) { return applies_at(rule, local); });
  if (last == tariff.prices.rend()) return std::nullopt;
  return MicroCurrency{with_overhead(last->price.value, tariff.pue)};
}

std::optional<Micrograms> carbon_at(const Tariff& tariff, std::time_t time) {
  std::optional<Micrograms> carbon = tariff.carbon;
  if (!tariff.intensities.empty()) {
    const std::chrono::sys_seconds at{std::chrono::seconds(time)};
    const auto after = std::ranges::upper_bound(tariff.intensities, at, {}, &Intensity::start);
    if (after == tariff.intensities.begin()) return std::nullopt;
    const Intensity& current = *std::prev(after);
    if (at - current.start >= kLongestIntensity) return std::nullopt;
    carbon = current.of_kwh;
  }
  if (!carbon) return std::nullopt;
  return Micrograms{with_overhead(carbon->value, tariff.pue)};
}

std::time_t seconds_of(TariffTime time) { return std::chrono::floor<std::chrono::seconds>(time).count(); }

std::int64_t mean(__int128 sum, TariffTime length) {
  if (length <= TariffTime(0)) return 0;
  return static_cast<std::int64_t>((sum + length.count() / 2) / length.count());
}

}  // namespace

Rates rates_at(const Tariff& tariff, TariffTime time) {
  const std::time_t at = seconds_of(time);
  return {price_at(tariff, at), tariff.currency, carbon_at(tariff, at)};
}

Milligrams embodied_in(const Tariff& tariff, TariffTime length) {
  if (!tariff.embodied) return {};
  const __int128 lifetime = to_usec(tariff.lifetime);
  return {static_cast<std::int64_t>(
      (static_cast<__int128>(tariff.embodied->value) * length.count() + lifetime / 2) / lifetime)};
}

RateSeries::RateSeries(const Tariff& tariff, TariffTime from, TariffTime to) {
  const bool varies = tariff.prices.size() > 1 || !tariff.intensities.empty();  // else, one look is enough
  for (TariffTime time = from; time < to || time == from; time += varies ? kGrid : to - from) {
    const std::time_t at = seconds_of(time);
    const auto price = price_at(tariff, at);
    const auto carbon = carbon_at(tariff, at);
    Piece piece{time, price ? price->value : 0, {}, {}};
    if (carbon) piece.carbon = carbon->value;
    if (!pieces_.empty()) {
      if (pieces_.back().price == piece.price && pieces_.back().carbon == piece.carbon) continue;
      piece.before = sum_until(time);
    }
    pieces_.push_back(piece);
    if (to <= from) break;
  }
}

std::size_t RateSeries::piece_at(TariffTime time) const {
  const auto after = std::ranges::upper_bound(pieces_, time, {}, &Piece::start);
  const auto index = static_cast<std::size_t>(std::distance(pieces_.begin(), after));
  return index == 0 ? 0 : index - 1;
}

RateSeries::Sum RateSeries::sum_until(TariffTime time) const {
  const Piece& piece = pieces_[piece_at(time)];
  const TariffTime length = time - piece.start;
  Sum sum = piece.before;
  sum.length += length;
  sum.price += static_cast<__int128>(piece.price) * length.count();
  if (piece.carbon) {
    sum.known += length;
    sum.carbon += static_cast<__int128>(*piece.carbon) * length.count();
  }
  return sum;
}

RateSeries::Sum RateSeries::sum(TariffTime from, TariffTime to) const {
  Sum sum = sum_until(to);
  sum -= sum_until(from);
  return sum;
}

bool RateSeries::is_constant(TariffTime from, TariffTime to) const {
  return piece_at(from) == piece_at(to - TariffTime(1));
}

RateSeries::Sum& RateSeries::Sum::operator-=(const Sum& other) {
  length -= other.length;
  known -= other.known;
  price -= other.price;
  carbon -= other.carbon;
  return *this;
}

std::int64_t RateSeries::Sum::mean_price() const { return mean(price, length); }

std::optional<std::int64_t> RateSeries::Sum::mean_carbon() const {
  if (known <= TariffTime(0)) return std::nullopt;
  return mean(carbon, known);
}

}  // namespace keplerd
