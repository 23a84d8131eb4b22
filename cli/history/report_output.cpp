// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "cli/fields.h"
#include "cli/history/amounts.h"
#include "cli/history/costs.h"
#include "cli/history/output.h"
#include "cli/output/column_unit.h"
#include "cli/output/csv.h"
#include "cli/output/human.h"
#include "cli/output/width.h"
#include "varlink/json.h"

namespace keplerd::cli::history {
namespace {

constexpr std::string_view kWallRows = "rowsMicrojoules";

std::string header_of(std::string by) {
  std::ranges::transform(by, by.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return by;
}

// What the energy of a report does not contain.
std::string platform_text(const Json& report) {
  constexpr char kZones[] = "Energy of the zones that keplerd meters";
  if (!report.contains(kPlatform)) return fmt::format("{}; a meter at the wall shows more.\n", kZones);
  return fmt::format("{}. In the same time, {} counted {} for the whole host.\n", kZones,
                     name_text(report, "platformMeter"), energy_text(report, kPlatform));
}

// "At the plug (modelled): 1.20 kWh of these rows."
std::string wall_note(const Json& report) {
  const Json& wall = field(report, "wall");
  if (!wall.is_object()) return "";
  return fmt::format("At the plug (modelled): {} of these rows.\n", energy_text(wall, kWallRows));
}

// The costs of what a user sees who does not see the host.
Json total_of_rows(const Json& report) {
  Json total = Json::object();
  for (const char* const name : {"costMicro", "milligramsCO2e"}) {
    for (const Json& row : report.at("rows")) {
      if (const auto amount = integer_field(row, name))
        total[name] = integer_field(total, name).value_or(0) + *amount;
    }
  }
  return total;
}

// Of several hosts, which the rows name.
bool has_hosts(const Json& report) {
  return std::ranges::any_of(report.at("rows"), [](const Json& row) { return row.contains("host"); });
}

}  // namespace

std::string csv_lines(const Json& objects, std::span<const std::string_view> names) {
  std::string out;
  for (const std::string_view name : names) out.append(out.empty() ? "" : ",").append(name);
  out += "\n";
  for (const Json& object : objects) {
    std::string line;
    for (const std::string_view& name : names)
      line += (&name == names.data() ? "" : ",") + csv_value(object, name);
    out += line + "\n";
  }
  return out;
}

void add_wall(Json& report, const Wall& wall) {
  std::int64_t sum = 0;
  for (Json& row : report["rows"]) {
    wall.add_energy_to(row);
    const std::int64_t energy = integer_field(row, kWallEnergyField).value_or(0);
    if (__builtin_add_overflow(sum, energy, &sum)) return;  // no host has drawn as much
  }
  report["wall"] = {{"quality", Wall::kQuality}, {kWallRows, sum}};
}

Json report_json(Json report) {
  for (Json& row : report["rows"]) copy_costs(row, row, report);
  return report;
}

std::string report_csv(const Json& report) {
  constexpr std::array<std::string_view, 11> kNames = {"host",
                                                       "id",
                                                       "name",
                                                       "kind",
                                                       kEnergy,
                                                       "activeMicrojoules",
                                                       "idleMicrojoules",
                                                       "costMicro",
                                                       "currency",
                                                       "milligramsCO2e",
                                                       kWallEnergyField};
  Json rows = report.at("rows");
  // What is in no row, so that the column adds up to the host.
  for (const auto& [account, energy] : field(report, "accounts").items()) {
    Json row = {{"id", account}, {"kind", "account"}, {kEnergy, energy}};
    copy_costs(row, field(field(report, "accountCosts"), account), report);
    rows.push_back(std::move(row));
  }
  std::span<const std::string_view> names = kNames;
  if (!report.contains("wall")) names = names.first(kNames.size() - 1);
  return csv_lines(rows, has_hosts(report) ? names : names.subspan(1));
}

std::string report_text(const Json& report, const std::string& by, const TableStyle& style) {
  const Json& accounts = field(report, "accounts");
  Microjoules total = energy_of(report);
  const bool has_host = report.contains(kEnergy);
  if (!has_host) {
    for (const Json& row : report.at("rows")) total += energy_of(row);
  }
  const std::array<std::pair<const char*, const char*>, 4> kAccounts = {{{"other", "Other workloads"},
                                                                         {"idle", "Idle"},
                                                                         {"kernel", "Kernel"},
                                                                         {"unattributed", "Unattributed"}}};
  std::vector<Column> columns = {
      {.header = header_of(by), .align = Align::kLeft, .gives_way = Keep::kStart, .leaves = 0},
      {.header = "ENERGY", .leaves = 0},
      {.header = "SHARE", .leaves = 1}};
  const std::int64_t most_wall = largest_wall(report.at("rows"));
  if (most_wall > 0) columns.push_back({.header = "WALL"});
  const bool by_host = has_hosts(report);
  if (by_host)
    columns.insert(columns.begin(),
                   {.header = "HOST", .align = Align::kLeft, .gives_way = Keep::kStart, .leaves = 0});
  const Json whole = has_host ? report : total_of_rows(report);
  LargestCosts largest;
  largest.include(whole);
  const CostColumns costs(currency_of(report), largest);
  costs.add_to(columns);
  Table table(std::move(columns));
  const ColumnUnit unit(Quantity::kEnergy, std::max(total.value, most_wall));
  const auto add = [&](const std::string& name, Microjoules energy, const Json& priced) {
    std::vector<std::string> cells = {name, unit.text(energy.value),
                                      format_percent(energy.value, total.value)};
    if (most_wall > 0) cells.push_back(wall_cell(unit, priced));
    if (by_host) cells.insert(cells.begin(), name_text(priced, "host"));
    costs.add_cells(cells, priced);
    table.add_row(std::move(cells));
  };
  for (const Json& row : report.at("rows")) {
    if (energy_of(row).value > 0) add(display_name(row), energy_of(row), row);
  }
  for (const auto& [name, label] : kAccounts) {
    const Microjoules energy = energy_of(accounts, name);
    if (energy.value > 0) add(label, energy, field(field(report, "accountCosts"), name));
  }
  add("Total", total, whole);
  std::string out;
  if (style.header)
    out = fmt::format("{} to {}\n\n", format_minute(time_of(report, "fromUsec")),
                      format_minute(time_of(report, "toUsec")));
  out += table.text(style);
  if (style.header) {
    const std::string note =
        missing_text(time_of(report, "unrecordedUsec"), by_host ? "the time of the hosts" : "this time");
    out += wrap_words("\n" + platform_text(report) + wall_note(report) + note + cost_notes({report}) +
                          intensity_score_text(report),
                      style.width);
  }
  return out;
}

}  // namespace keplerd::cli::history
