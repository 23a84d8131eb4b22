// SPDX-License-Identifier: Apache-2.0
#include "cli/history/output.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cli/fields.h"
#include "cli/output/column_unit.h"
#include "cli/output/csv.h"
#include "cli/output/human.h"
#include "client/kinds.h"
#include "varlink/json.h"

namespace keplerd::cli::history {
namespace {

constexpr int kBarWidth = 20;
constexpr std::string_view kEnergy = "energyMicrojoules";

Microjoules energy_of(const Json& object, std::string_view name = kEnergy) {
  return {integer_field(object, name).value_or(0)};
}

Time time_of(const Json& object, std::string_view name) {
  return Time(integer_field(object, name).value_or(0));
}

void add_cost(Json& object, const Rates& rates) {
  const Microjoules energy = energy_of(object);
  if (rates.price) {
    object["costMicro"] = cost_of(energy, *rates.price).value;
    object["currency"] = rates.currency;
  }
  if (rates.carbon) object["milligramsCO2e"] = carbon_of(energy, *rates.carbon).value;
}

// The columns of costs and emissions, if the rates are known.
void add_cost_columns(std::vector<Column>& columns, const Rates& rates) {
  if (rates.price) columns.push_back({.header = "COST", .leaves = 2});
  if (rates.carbon) columns.push_back({.header = "EMISSIONS", .leaves = 3});
}

void add_cost_cells(std::vector<std::string>& cells, const Rates& rates, Microjoules energy) {
  if (rates.price) cells.push_back(format_cost(cost_of(energy, *rates.price)) + " " + rates.currency);
  if (rates.carbon) cells.push_back(format_carbon(carbon_of(energy, *rates.carbon)));
}

std::string header_of(std::string by) {
  std::ranges::transform(by, by.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return by;
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

std::string display_name(const Json& row) {
  const std::string name = name_text(row, "name");
  return name.empty() ? name_text(row, "id") : name;
}

// "3h 5min are not recorded."
std::string missing_text(Time missing) {
  constexpr Time kShortest = std::chrono::seconds(1);
  if (missing < kShortest) return "";
  return fmt::format("{} of this time are not recorded.\n",
                     format_time(std::chrono::floor<std::chrono::seconds>(missing)));
}

template <std::size_t kCount>
std::string csv(const Json& rows, const std::array<std::string_view, kCount>& names) {
  std::string out;
  for (const std::string_view name : names) out.append(out.empty() ? "" : ",").append(name);
  out += "\n";
  for (const Json& row : rows) {
    std::string line;
    for (const std::string_view name : names)
      line += (name == names.front() ? "" : ",") + csv_value(row, name);
    out += line + "\n";
  }
  return out;
}

}  // namespace

Json history_json(const Subject& subject, const std::vector<Json>& replies, const Rates& rates) {
  Json list = Json::array();
  const auto add = [&](const Json& reply, Json entry) {
    for (const char* const name : {"fromUsec", "toUsec", "recordedUsec"}) entry[name] = field(reply, name);
    add_cost(entry, rates);
    list.push_back(std::move(entry));
  };
  for (const Json& reply : replies) {
    if (integer_field(reply, "recordedUsec").value_or(0) == 0) continue;
    if (subject.kind == "host") {
      const Json& accounts = field(reply, "accounts");
      const std::int64_t idle = energy_of(accounts, "idle").value;
      add(reply, {{"id", "host"},
                  {"name", "host"},
                  {"kind", "host"},
                  {kEnergy, energy_of(reply).value},
                  {"activeMicrojoules", energy_of(reply).value - idle},
                  {"idleMicrojoules", idle},
                  {"accounts", accounts}});
      continue;
    }
    for (const Json& row : client::elements(field(reply, "rows"))) add(reply, row);
  }
  return list;
}

std::string history_csv(const Json& history) {
  constexpr std::array<std::string_view, 11> kNames = {
      "fromUsec",          "toUsec",          "id",           "name",      "kind",    kEnergy,
      "activeMicrojoules", "idleMicrojoules", "recordedUsec", "costMicro", "currency"};
  return csv(history, kNames);
}

std::string history_text(const Subject& subject, const std::vector<Json>& replies, const Rates& rates,
                         const TableStyle& style) {
  const Json history = history_json(subject, replies, rates);
  if (history.empty()) return "Nothing is recorded in this time.\n";
  const bool is_one = subject.kind == "host" || !subject.id.empty();
  std::int64_t most = 0, sum = 0;
  for (const Json& entry : history) most = std::max(most, energy_of(entry).value);

  std::vector<Column> columns = {{.header = "START", .align = Align::kLeft, .leaves = 0}};
  if (!is_one)
    columns.push_back({.header = "NAME", .align = Align::kLeft, .gives_way = Keep::kStart, .leaves = 0});
  columns.push_back({.header = "ENERGY", .leaves = 0});
  columns.push_back({.header = "POWER", .leaves = 1});
  add_cost_columns(columns, rates);
  columns.push_back({.header = "", .align = Align::kLeft, .leaves = 4});
  Table table(std::move(columns));
  const ColumnUnit unit(Quantity::kEnergy, most);
  Time missing{0};
  for (const Json& reply : replies)
    missing += time_of(reply, "toUsec") - time_of(reply, "fromUsec") - time_of(reply, "recordedUsec");
  for (const Json& entry : history) {
    const Microjoules energy = energy_of(entry);
    const Time recorded = time_of(entry, "recordedUsec");
    sum += energy.value;
    std::vector<std::string> cells = {format_minute(time_of(entry, "fromUsec"))};
    if (!is_one) cells.push_back(display_name(entry));
    cells.push_back(unit.text(energy.value));
    cells.push_back(recorded >= kShortestPowerSpan ? format_power(mean_power(energy, recorded)) : "");
    add_cost_cells(cells, rates, energy);
    cells.push_back(bar(energy.value, most, style.unicode));
    table.add_row(std::move(cells));
  }
  std::string out;
  if (style.header) {
    const std::string name = is_one && subject.kind != "host" ? display_name(history.back()) + ", " : "";
    out = fmt::format("{}{}: {}\n\n", name, word_of(subject), format_energy({sum}));
  }
  out += table.text(style);
  if (style.header && is_one) {
    const std::string note = missing_text(missing);
    if (!note.empty()) out += "\n" + note;
  }
  return out;
}

Json report_json(Json report, const Rates& rates) {
  for (Json& row : report["rows"]) add_cost(row, rates);
  if (report.contains(kEnergy)) add_cost(report, rates);
  return report;
}

std::string report_csv(const Json& report) {
  constexpr std::array<std::string_view, 8> kNames = {
      "id", "name", "kind", kEnergy, "activeMicrojoules", "idleMicrojoules", "costMicro", "currency"};
  Json rows = report.at("rows");
  // What is in no row, so that the column adds up to the host.
  for (const auto& [account, energy] : field(report, "accounts").items())
    rows.push_back({{"id", account}, {"kind", "account"}, {kEnergy, energy}});
  return csv(rows, kNames);
}

std::string report_text(const Json& report, const std::string& by, const Rates& rates,
                        const TableStyle& style) {
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
  add_cost_columns(columns, rates);
  Table table(std::move(columns));
  const ColumnUnit unit(Quantity::kEnergy, total.value);
  const auto add = [&](const std::string& name, Microjoules energy) {
    std::vector<std::string> cells = {name, unit.text(energy.value),
                                      format_percent(energy.value, total.value)};
    add_cost_cells(cells, rates, energy);
    table.add_row(std::move(cells));
  };
  for (const Json& row : report.at("rows")) {
    if (energy_of(row).value > 0) add(display_name(row), energy_of(row));
  }
  for (const auto& [name, label] : kAccounts) {
    const Microjoules energy = energy_of(accounts, name);
    if (energy.value > 0) add(label, energy);
  }
  add("Total", total);
  std::string out;
  if (style.header)
    out = fmt::format("{} to {}\n\n", format_minute(time_of(report, "fromUsec")),
                      format_minute(time_of(report, "toUsec")));
  out += table.text(style);
  if (style.header) {
    const std::string note = missing_text(time_of(report, "unrecordedUsec"));
    out += "\nEnergy of the zones that keplerd meters; a meter at the wall shows more.\n" + note;
  }
  return out;
}

}  // namespace keplerd::cli::history
