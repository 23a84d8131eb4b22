// SPDX-License-Identifier: Apache-2.0
#include "cost/rate_series.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace keplerd {
namespace {

constexpr TariffTime kGrid = std::chrono::minutes(5);

std::int64_t mean(__int128 sum, TariffTime length) {
  if (length <= TariffTime(0)) return 0;
  return static_cast<std::int64_t>((sum + length.count() / 2) / length.count());
}

}  // namespace

RateSeries::RateSeries(std::shared_ptr<const Tariff> tariff, TariffTime from)
    : tariff_(std::move(tariff)),
      varies_(tariff_->prices.size() > 1 || !tariff_->intensities.empty()),
      start_(from),
      end_(from) {
  pieces_.push_back(piece_of(from));
}

RateSeries::RateSeries(const Tariff& tariff, TariffTime from, TariffTime to)
    : RateSeries(std::make_shared<const Tariff>(tariff), from) {
  extend(to);
}

RateSeries::Piece RateSeries::piece_of(TariffTime time) const {
  const Rates rates = rates_at(*tariff_, time);
  Piece piece{time, rates.price ? rates.price->value : 0, {}, {}};
  if (rates.carbon) piece.carbon = rates.carbon->value;
  return piece;
}

bool RateSeries::extend(TariffTime to, int steps) {
  if (!varies_) end_ = std::max(end_, to);
  for (; end_ < to && steps > 0; end_ += kGrid, --steps) {
    Piece piece = piece_of(end_);
    if (pieces_.back().price == piece.price && pieces_.back().carbon == piece.carbon) continue;
    piece.before = sum_until(end_);
    pieces_.push_back(piece);
  }
  return end_ >= to;
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

std::int64_t RateSeries::Sum::mean_carbon() const { return mean(carbon, length); }

}  // namespace keplerd
