// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/fields.h"
#include "cli/history/amounts.h"
#include "cli/history/costs.h"
#include "cli/history/graph.h"
#include "cli/history/output.h"
#include "cli/output/column_unit.h"
#include "cli/output/csv.h"
#include "cli/output/human.h"
#include "cli/output/width.h"
#include "client/kinds.h"
#include "varlink/json.h"

namespace keplerd::cli::history {
namespace {

constexpr int kBarWidth = 20;

// The mean of the time recorded; unset if that is too short.
std::optional<Microwatts> power_of(const Json& entry) {
  const Time recorded = time_of(entry, "recordedUsec");
  if (recorded < kShortestPowerSpan) return std::nullopt;
  return mean_power(energy_of(entry), recorded);
}

std::string bar(std::int64_t part, std::int64_t most, bool unicode) {
  if (most <= 0 || part <= 0) return "";
  const auto length = static_cast<int>(static_cast<__int128>(part) * kBarWidth / most);
  std::string out;
  for (int i = 0; i < std::max(length, 1); ++i) out += unicode ? "\u2588" : "#";
  return out;
}

std::string word_of(const Subject& subject) {
  if (subject.kind == "host") return "host";
  const client::KindInfo* const kind = client::find_kind(subject.kind);
  return kind == nullptr ? printable(subject.kind)
                         : std::string(subject.id.empty() ? kind->words : kind->word);
}

Time missing_in(const std::vector<Json>& replies) {
  Time missing{0};
  for (const Json& reply : replies)
    missing += time_of(reply, "toUsec") - time_of(reply, "fromUsec") - time_of(reply, "recordedUsec");
  return missing;
}

std::string currency_in(const Json& rows) {
  const auto found = std::ranges::find_if(rows, [](const Json& row) { return !currency_of(row).empty(); });
  return found == rows.end() ? "" : currency_of(*found);
}

std::string history_table(const Json& history, bool is_one, const TableStyle& style) {
  std::vector<Column> columns = {{.header = "START", .align = Align::kLeft, .leaves = 0}};
  if (!is_one)
    columns.push_back({.header = "NAME", .align = Align::kLeft, .gives_way = Keep::kStart, .leaves = 0});
  columns.push_back({.header = "ENERGY", .leaves = 0});
  columns.push_back({.header = "POWER", .leaves = 1});
  std::int64_t most = 0, most_power = 0, most_platform = 0;
  LargestCosts largest;
  for (const Json& entry : history) {
    most = std::max(most, energy_of(entry).value);
    most_power = std::max(most_power, power_of(entry).value_or(Microwatts{0}).value);
    most_platform = std::max(most_platform, energy_of(entry, kPlatform).value);
    largest.include(entry);
  }
  const std::int64_t most_wall = largest_wall(history);
  if (most_wall > 0) columns.push_back({.header = "WALL"});
  if (most_platform > 0) columns.push_back({.header = "PLATFORM", .leaves = 1});
  const CostColumns costs(currency_in(history), largest);
  costs.add_to(columns);
  columns.push_back({.header = "", .align = Align::kLeft, .leaves = 4});
  Table table(std::move(columns));
  const ColumnUnit unit(Quantity::kEnergy, std::max(most, most_wall)),
      power_unit(Quantity::kPower, most_power), platform_unit(Quantity::kEnergy, most_platform);
  for (const Json& entry : history) {
    const Microjoules energy = energy_of(entry);
    const auto power = power_of(entry);
    std::vector<std::string> cells = {format_minute(time_of(entry, "fromUsec"))};
    if (!is_one) cells.push_back(display_name(entry));
    cells.push_back(unit.text(energy.value));
    cells.push_back(power ? power_unit.text(power->value) : "");
    if (most_wall > 0) cells.push_back(wall_cell(unit, entry));
    if (most_platform > 0)
      cells.push_back(entry.contains(kPlatform) ? platform_unit.text(energy_of(entry, kPlatform).value) : "");
    costs.add_cells(cells, entry);
    cells.push_back(bar(energy.value, most, style.unicode));
    table.add_row(std::move(cells));
  }
  return table.text(style);
}

// Each span with the energy of all its rows.
std::vector<Json> span_energies(const Subject& subject, std::vector<Json> replies) {
  if (subject.kind == "host") return replies;
  for (Json& reply : replies) {
    std::int64_t sum = 0;
    for (const Json& row : client::elements(field(reply, "rows"))) sum += energy_of(row).value;
    reply[std::string(kEnergy)] = sum;
  }
  return replies;
}

}  // namespace

Json history_json(const Subject& subject, const std::vector<Json>& replies, const Wall* wall) {
  Json list = Json::array();
  // What identifies it, when, how much, and what that cost.
  const auto add = [&](const Json& reply, Json entry, const Json& amounts) {
    for (const char* const name : {"fromUsec", "toUsec"}) entry[name] = field(reply, name);
    for (const char* const name : {"energyMicrojoules", "activeMicrojoules", "idleMicrojoules"})
      entry[name] = field(amounts, name);
    entry["recordedUsec"] = field(reply, "recordedUsec");
    if (wall != nullptr) wall->add_energy_to(entry);
    copy_costs(entry, amounts, reply);
    list.push_back(std::move(entry));
  };
  for (const Json& reply : replies) {
    if (integer_field(reply, "recordedUsec").value_or(0) == 0) continue;
    if (subject.kind == "host") {
      Json host = reply;
      const std::int64_t idle = energy_of(field(reply, "accounts"), "idle").value;
      host["activeMicrojoules"] = energy_of(reply).value - idle;
      host["idleMicrojoules"] = idle;
      add(reply, {{"id", "host"}, {"name", "host"}, {"kind", "host"}}, host);
      list.back()["accounts"] = field(reply, "accounts");
      for (const char* const name : {"platformMicrojoules", "platformMeter"})
        if (reply.contains(name)) list.back()[name] = reply[name];
      continue;
    }
    for (const Json& row : client::elements(field(reply, "rows"))) {
      Json entry = Json::object();
      for (const char* const name : {"id", "name", "kind", "ownerUid"})
        if (row.contains(name)) entry[name] = row[name];
      add(reply, std::move(entry), row);
    }
  }
  return list;
}

std::string history_csv(const Json& history) {
  constexpr std::array<std::string_view, 14> kNames = {
      "fromUsec",          "toUsec",          "id",           "name",      "kind",     kEnergy,
      "activeMicrojoules", "idleMicrojoules", "recordedUsec", "costMicro", "currency", "milligramsCO2e",
      kPlatform,           kWallEnergyField};
  const std::span<const std::string_view> names = kNames;
  return csv_lines(history, largest_wall(history) > 0 ? names : names.first(kNames.size() - 1));
}

std::string history_text(const Subject& subject, const std::vector<Json>& replies, bool graph,
                         const TableStyle& style, const Wall* wall) {
  const Json history = history_json(subject, replies, wall);
  if (history.empty()) return "Nothing is recorded in this time.\n";
  const bool is_one = subject.kind == "host" || !subject.id.empty();
  std::int64_t sum = 0;
  for (const Json& entry : history) sum += energy_of(entry).value;
  std::string out;
  if (style.header) {
    const std::string name = is_one && subject.kind != "host" ? display_name(history.back()) + ", " : "";
    out = fmt::format("{}{}: {}\n\n", name, word_of(subject), format_energy({sum}));
  }
  out += graph ? power_graph(span_energies(subject, replies), style) : history_table(history, is_one, style);
  if (style.header) {
    const std::string notes = (is_one ? missing_text(missing_in(replies)) : "") + cost_notes(replies);
    if (!notes.empty()) out += wrap_words("\n" + notes, style.width);
  }
  return out;
}

}  // namespace keplerd::cli::history
