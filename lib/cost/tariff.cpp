// SPDX-License-Identifier: Apache-2.0
#include "cost/tariff.h"

#include <algorithm>
#include <ctime>
#include <iterator>

#include "cost/number.h"

namespace keplerd {
namespace {

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

}  // namespace keplerd
