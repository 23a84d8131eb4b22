// SPDX-License-Identifier: Apache-2.0
// keplerctl without a verb.
#include <algorithm>

#include "cli/fields.h"
#include "cli/output/column_unit.h"
#include "cli/rows.h"
#include "cli/screens.h"
#include "cli/wall.h"
#include "varlink/json.h"

namespace keplerd::cli {
namespace {

std::string kind_text(const Json& row) {
  const std::string kind = name_text(row, "kind");
  return kind == "unit" || kind == "group" ? unit_type(row) : kind;
}

// The name is enough here: `units` shows whose init.scope it is.
std::string consumers_table(const std::vector<Json>& rows, const Json& host, bool with_wall,
                            const TableStyle& style) {
  std::vector<Column> columns = {{"POWER"},
                                 {.header = "ENERGY", .leaves = 2},
                                 {.header = "SHARE", .leaves = 3},
                                 {.header = "KIND", .align = Align::kLeft, .leaves = 1},
                                 {.header = "NAME", .align = Align::kLeft, .gives_way = Keep::kStart}};
  if (with_wall) columns.insert(columns.begin() + 1, {"WALL"});
  Table table(std::move(columns));
  const auto largest = [&](std::string_view name) {
    std::int64_t most = 0;
    for (const Json& row : rows) most = std::max(most, integer_field(row, name).value_or(0));
    return most;
  };
  const ColumnUnit power(Quantity::kPower, largest("powerMicrowatts"));
  const ColumnUnit energy(Quantity::kEnergy, largest("energyMicrojoules"));
  const ColumnUnit wall(Quantity::kPower, largest(kWallField));
  for (const Json& row : rows) {
    std::vector<std::string> cells = {
        power.text(integer_field(row, "powerMicrowatts").value_or(-1)),
        energy.text(integer_field(row, "energyMicrojoules").value_or(-1)),
        share_text(row, "energyMicrojoules", integer_field(host, "energyMicrojoules")), kind_text(row),
        name_text(row, "name")};
    if (with_wall) cells.insert(cells.begin() + 1, wall.text(integer_field(row, kWallField).value_or(-1)));
    table.add_row(std::move(cells));
  }
  return table.text(style);
}

}  // namespace

std::string overview_screen(const Json& status, const std::vector<Json>& consumers, const Wall* wall,
                            const TableStyle& style) {
  std::string out = style.header ? screen_head(status, style) : "";
  const std::string platform = platform_line(status);
  if (style.header && !platform.empty()) {
    out.pop_back();  // the blank line
    out += wrap_words(platform, style.width) + "\n\n";
  }
  const bool measured = !host_line(status).empty();
  const bool accounts = measured && sees_everything(status);
  if (accounts) out += accounts_table(status, style);
  if (measured && !consumers.empty()) {
    out += accounts ? "\n" : "";
    out += consumers_table(consumers, field(status, "host"), wall != nullptr, style);
  }
  if (wall != nullptr && style.header)
    out +=
        "\n" + wrap_words(wall->text(wall->host_sums(field(status, "host")), "active") + "\n", style.width);
  return out;
}

}  // namespace keplerd::cli
