// SPDX-License-Identifier: Apache-2.0
// Amounts and times in the replies of keplerd-history, as text. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/units.h"
#include "cli/history/period.h"
#include "cli/output/column_unit.h"
#include "varlink/json_fwd.h"

namespace keplerd::cli::history {

inline constexpr std::string_view kEnergy = "energyMicrojoules", kPlatform = "platformMicrojoules";

// 0 if the field is absent.
Microjoules energy_of(const varlink::Json& object, std::string_view name = kEnergy);
Time time_of(const varlink::Json& object, std::string_view name);

// Its name; its id if it has none.
std::string display_name(const varlink::Json& row);

// "3h 5min of this time are not recorded."; empty if nothing is missing.
std::string missing_text(Time missing, std::string_view whole = "this time");

// The energy at the plug: the largest one of some rows, 0 if none has any; and a row's cell.
std::int64_t largest_wall(const varlink::Json& rows);
std::string wall_cell(const ColumnUnit& unit, const varlink::Json& row);

}  // namespace keplerd::cli::history
