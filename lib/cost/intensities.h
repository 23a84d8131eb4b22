// SPDX-License-Identifier: Apache-2.0
// The carbon intensity of the grid over time, from a CSV file of Electricity Maps or WattTime. Pure.
//
// Sources: Electricity Maps' datasets have "Datetime (UTC)" and "Carbon intensity gCO2eq/kWh (Life cycle)"
// (formerly "(LCA)"), with the 2 as a subscript. WattTime's have "timestamp" or "point_time", and "MOER" or
// "value" in pounds of CO2 per MWh.
#pragma once

#include <chrono>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cost/rates.h"

namespace keplerd {

struct Intensity {
  std::chrono::sys_seconds start;
  Micrograms of_kwh;

  bool operator==(const Intensity&) const = default;
};

// Each is valid until the next one begins, but no longer than this.
inline constexpr std::chrono::seconds kLongestIntensity = std::chrono::hours(1);

// In order, one per time: the last one that the file has. The first line names the columns, and may be
// repeated. Lines without a value are skipped. An error's message begins with "LINE: ".
Result<std::vector<Intensity>> parse_intensities(std::string_view csv);

}  // namespace keplerd
