// SPDX-License-Identifier: Apache-2.0
// Formats amounts for people: three significant digits and a suitable unit. Rounded half up; computed in
// integers, so that equal amounts always look the same. An impossible (negative) amount is "-".
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/units.h"
#include "cost/rates.h"

namespace keplerd::cli {

// "0 W", "350 uW", "12.3 mW", "1.24 kW".
std::string format_power(Microwatts power);

// "0 J", "350 mJ", "3599 J", then watt-hours: "1.00 Wh", "12.3 kWh".
std::string format_energy(Microjoules energy);

// "0 s", "350 us", "12.3 s", then as systemd.time(7) has it: "1min 30s", "2h 5min", "3d 4h".
std::string format_time(std::chrono::microseconds span);

// Without the currency, with at least two decimals: "less than 0.000001", "0.0123", "4.56", "1234.57".
std::string format_cost(MicroCurrency cost);
// The decimals with which the largest cost of a column is shown so.
int cost_decimals(MicroCurrency largest);
// "<0.01" for what would be 0.00 but is not zero.
std::string format_cost(MicroCurrency cost, int decimals);

// "less than 1 mgCO2e", "4.20 gCO2e", "1.24 kgCO2e".
std::string format_carbon(Milligrams carbon);

// A point in time in the local time zone: "Fri 2025-11-21 04:01:02 UTC".
std::string format_date(std::chrono::microseconds since_1970);
// Without its date: "04:01:02".
std::string format_clock(std::chrono::microseconds since_1970);

}  // namespace keplerd::cli
