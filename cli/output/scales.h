// SPDX-License-Identifier: Apache-2.0
// The units in which amounts are shown.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace keplerd::cli {

struct Scale {
  std::string_view name;
  std::int64_t size;   // in the smallest unit
  std::int64_t limit;  // at this (rounded) value the next scale starts
};

inline constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
inline constexpr Scale kPowerScales[] = {{"uW", 1, 1000},
                                         {"mW", 1'000, 1000},
                                         {"W", 1'000'000, 1000},
                                         {"kW", 1'000'000'000, 1000},
                                         {"MW", 1'000'000'000'000, 1000},
                                         {"GW", 1'000'000'000'000'000, 1000},
                                         {"TW", 1'000'000'000'000'000'000, kNoLimit}};
inline constexpr Scale kEnergyScales[] = {{"uJ", 1, 1000},
                                          {"mJ", 1'000, 1000},
                                          {"J", 1'000'000, 3600},
                                          {"Wh", 3'600'000'000, 1000},
                                          {"kWh", 3'600'000'000'000, 1000},
                                          {"MWh", 3'600'000'000'000'000, 1000},
                                          {"GWh", 3'600'000'000'000'000'000, kNoLimit}};
inline constexpr Scale kCarbonScales[] = {{"mgCO2e", 1, 1000},
                                          {"gCO2e", 1'000, 1000},
                                          {"kgCO2e", 1'000'000, 1000},
                                          {"tCO2e", 1'000'000'000, kNoLimit}};
inline constexpr Scale kShortTimeScales[] = {{"us", 1, 1000}, {"ms", 1'000, 1000}, {"s", 1'000'000, 60}};
// In a column, where the parts of a time cannot be read as "2h 5min".
inline constexpr Scale kColumnTimeScales[] = {{"us", 1, 1000},
                                              {"ms", 1'000, 1000},
                                              {"s", 1'000'000, 10'000},
                                              {"h", 3'600'000'000, 10'000},
                                              {"d", 86'400'000'000, kNoLimit}};

}  // namespace keplerd::cli
