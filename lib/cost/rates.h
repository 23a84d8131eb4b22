// SPDX-License-Identifier: Apache-2.0
// What a kWh costs and emits, and what an amount of energy does. In integers, rounded half up; results that
// do not fit are the largest that do. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/units.h"

namespace keplerd {

using MicroCurrency = Quantity<struct MicroCurrencyTag>;  // millionths of a unit of some currency
using Micrograms = Quantity<struct MicrogramsTag>;
using Milligrams = Quantity<struct MilligramsTag>;

// Of a kWh. Unset: not known. Amounts are not negative.
struct Rates {
  std::optional<MicroCurrency> price;
  std::string currency;              // ISO 4217: "EUR"
  std::optional<Micrograms> carbon;  // CO2 equivalents

  bool operator==(const Rates&) const = default;
};

// `energy` must not be negative.
MicroCurrency cost_of(Microjoules energy, MicroCurrency price_of_kwh);
Milligrams carbon_of(Microjoules energy, Micrograms carbon_of_kwh);

}  // namespace keplerd
