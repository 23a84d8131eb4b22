// SPDX-License-Identifier: Apache-2.0
#include "cli/history/amounts.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/fields.h"
#include "cli/output/human.h"
#include "cli/wall.h"
#include "varlink/json.h"

namespace keplerd::cli::history {

Microjoules energy_of(const Json& object, std::string_view name) {
  return {integer_field(object, name).value_or(0)};
}

Time time_of(const Json& object, std::string_view name) {
  return Time(integer_field(object, name).value_or(0));
}

std::string display_name(const Json& row) {
  const std::string name = name_text(row, "name");
  return name.empty() ? name_text(row, "id") : name;
}

std::string missing_text(Time missing, std::string_view whole) {
  constexpr Time kShortest = std::chrono::seconds(1);
  if (missing < kShortest) return "";
  return fmt::format("{} of {} are not recorded.\n",
                     format_time(std::chrono::floor<std::chrono::seconds>(missing)), whole);
}

std::int64_t largest_wall(const Json& rows) {
  std::int64_t most = 0;
  for (const Json& row : rows) most = std::max(most, integer_field(row, kWallEnergyField).value_or(0));
  return most;
}

std::string wall_cell(const ColumnUnit& unit, const Json& row) {
  const auto energy = integer_field(row, kWallEnergyField);
  return energy ? unit.text(*energy) : "";
}

}  // namespace keplerd::cli::history
