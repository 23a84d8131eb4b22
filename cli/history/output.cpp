// SPDX-License-Identifier: Apache-2.0
#include "cli/history/output.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/fields.h"
#include "cli/history/costs.h"
#include "cli/history/graph.h"
#include "cli/output/column_unit.h"
#include "cli/output/csv.h"
#include "cli/output/human.h"
#include "cli/output/width.h"
#include "client/kinds.h"
#include "varlink/json.h"

namespace keplerd::cli::history {
namespace {

constexpr int kBarWidth = 20;
constexpr std::string_view kEnergy = "energyMicrojoules", kPlatform = "platformMicrojoules";

Microjoules energy_of(const Json& object, std::string_view name = kEnergy) {
  return {integer_field(object, name).value_or(0)};
}

Time time_of(const Json& object, std::string_view name) {
  return Time(integer_field(object, name).value_or(0));
}

// The mean of the time recorded; unset if that is too short.
std::optional<Microwatts> power_of(const Json& entry) {
  const Time recorded = time_of(entry, "recordedUsec");
  if (recorded < kShortestPowerSpan) return std::nullopt;
  return mean_power(energy_of(entry), recorded);
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

// "3h 5min of this time are not recorded."
std::string missing_text(Time missing, std::string_view whole = "this time") {
  constexpr Time kShortest = std::chrono::seconds(1);
  if (missing < kShortest) return "";
  return fmt::format("{} of {} are not recorded.\n",
                     format_time(std::chrono::floor<std::chrono::seconds>(missing)), whole);
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
  if (most_platform > 0) columns.push_back({.header = "PLATFORM", .leaves = 1});
  const CostColumns costs(currency_in(history), largest);
  costs.add_to(columns);
  columns.push_back({.header = "", .align = Align::kLeft, .leaves = 4});
  Table table(std::move(columns));
  const ColumnUnit unit(Quantity::kEnergy, most), power_unit(Quantity::kPower, most_power),
      platform_unit(Quantity::kEnergy, most_platform);
  for (const Json& entry : history) {
    const Microjoules energy = energy_of(entry);
    const auto power = power_of(entry);
    std::vector<std::string> cells = {format_minute(time_of(entry, "fromUsec"))};
    if (!is_one) cells.push_back(display_name(entry));
    cells.push_back(unit.text(energy.value));
    cells.push_back(power ? power_unit.text(power->value) : "");
    if (most_platform > 0)
      cells.push_back(entry.contains(kPlatform) ? platform_unit.text(energy_of(entry, kPlatform).value) : "");
    costs.add_cells(cells, entry);
    cells.push_back(bar(energy.value, most, style.unicode));
    table.add_row(std::move(cells));
  }
  return table.text(style);
}

// What the energy of a report does not contain.
std::string platform_text(const Json& report) {
  constexpr char kZones[] = "Energy of the zones that keplerd meters";
  if (!report.contains(kPlatform)) return fmt::format("{}; a meter at the wall shows more.\n", kZones);
  return fmt::format("{}. In the same time, {} counted {} for the whole host.\n", kZones,
                     name_text(report, "platformMeter"), energy_text(report, kPlatform));
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

Json history_json(const Subject& subject, const std::vector<Json>& replies) {
  Json list = Json::array();
  // What identifies it, when, how much, and what that cost.
  const auto add = [&](const Json& reply, Json entry, const Json& amounts) {
    for (const char* const name : {"fromUsec", "toUsec"}) entry[name] = field(reply, name);
    for (const char* const name : {"energyMicrojoules", "activeMicrojoules", "idleMicrojoules"})
      entry[name] = field(amounts, name);
    entry["recordedUsec"] = field(reply, "recordedUsec");
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
  constexpr std::array<std::string_view, 13> kNames = {"fromUsec",
                                                       "toUsec",
                                                       "id",
                                                       "name",
                                                       "kind",
                                                       kEnergy,
                                                       "activeMicrojoules",
                                                       "idleMicrojoules",
                                                       "recordedUsec",
                                                       "costMicro",
                                                       "currency",
                                                       "milligramsCO2e",
                                                       kPlatform};
  return csv_lines(history, kNames);
}

std::string history_text(const Subject& subject, const std::vector<Json>& replies, bool graph,
                         const TableStyle& style) {
  const Json history = history_json(subject, replies);
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

Json report_json(Json report) {
  for (Json& row : report["rows"]) copy_costs(row, row, report);
  return report;
}

std::string report_csv(const Json& report) {
  constexpr std::array<std::string_view, 10> kNames = {
      "host",      "id",       "name",          "kind", kEnergy, "activeMicrojoules", "idleMicrojoules",
      "costMicro", "currency", "milligramsCO2e"};
  Json rows = report.at("rows");
  // What is in no row, so that the column adds up to the host.
  for (const auto& [account, energy] : field(report, "accounts").items()) {
    Json row = {{"id", account}, {"kind", "account"}, {kEnergy, energy}};
    copy_costs(row, field(field(report, "accountCosts"), account), report);
    rows.push_back(std::move(row));
  }
  const std::span<const std::string_view> names = kNames;
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
  const ColumnUnit unit(Quantity::kEnergy, total.value);
  const auto add = [&](const std::string& name, Microjoules energy, const Json& priced) {
    std::vector<std::string> cells = {name, unit.text(energy.value),
                                      format_percent(energy.value, total.value)};
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
    out +=
        wrap_words("\n" + platform_text(report) + note + cost_notes({report}) + intensity_score_text(report),
                   style.width);
  }
  return out;
}

}  // namespace keplerd::cli::history
