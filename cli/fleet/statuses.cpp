// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet/statuses.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/fields.h"
#include "cli/fleet/words.h"
#include "cli/output/column_unit.h"
#include "cli/output/width.h"
#include "cli/screens.h"
#include "varlink/json.h"

namespace keplerd::cli::fleet {
namespace {

using varlink::Json;

struct Amount {
  const char* header;
  std::string_view field;
  Quantity quantity;
  int leaves;
};
constexpr std::array<Amount, 4> kAmounts = {{{"POWER", "powerMicrowatts", Quantity::kPower, 0},
                                             {"ACTIVE", "activeMicrowatts", Quantity::kPower, 1},
                                             {"IDLE", "idleMicrowatts", Quantity::kPower, 2},
                                             {"ENERGY", "energyMicrojoules", Quantity::kEnergy, 3}}};

// Of a column, in the unit of its total.
struct AmountColumn {
  std::vector<std::optional<std::int64_t>> values;
  std::optional<std::int64_t> total;

  void add(std::optional<std::int64_t> value) {
    values.push_back(value);
    std::int64_t sum = 0;
    if (value && !__builtin_add_overflow(total.value_or(0), *value, &sum)) total = sum;
  }
};

std::vector<const Reply*> answered(const std::vector<Reply>& replies) {
  std::vector<const Reply*> out;
  for (const Reply& reply : replies) {
    if (reply.answered()) out.push_back(&reply);
  }
  return out;
}

std::optional<Wall::Sums> host_wall_sums(const Wall& wall, const Reply& reply) {
  return wall.host_sums(field(reply.value, "host"));
}

}  // namespace

std::vector<std::string> status_notes(const std::vector<Reply>& replies) {
  std::vector<std::pair<std::string, Json>> sources;
  for (const Reply* reply : answered(replies)) sources.emplace_back(reply->host, reply->value);
  return source_notes(sources);
}

std::string status_screen(const std::vector<Reply>& replies, bool wall, const TableStyle& style) {
  const auto hosts = answered(replies);
  std::vector<Column> columns = {
      {.header = "HOST", .align = Align::kLeft, .gives_way = Keep::kStart, .leaves = 0}};
  std::array<AmountColumn, kAmounts.size()> amounts;
  for (std::size_t i = 0; i < kAmounts.size(); ++i) {
    columns.push_back({.header = kAmounts[i].header, .leaves = kAmounts[i].leaves});
    for (const Reply* host : hosts)
      amounts[i].add(integer_field(field(host->value, "host"), kAmounts[i].field));
  }
  columns.push_back({.header = "SOURCE", .align = Align::kLeft, .leaves = 4});
  Table table(std::move(columns));
  const auto text = [](const Amount& amount, const AmountColumn& column, std::optional<std::int64_t> value) {
    return value ? ColumnUnit(amount.quantity, column.total.value_or(*value)).text(*value) : "-";
  };
  for (std::size_t row = 0; row < hosts.size(); ++row) {
    std::vector<std::string> cells = {printable(hosts[row]->host)};
    for (std::size_t i = 0; i < kAmounts.size(); ++i)
      cells.push_back(text(kAmounts[i], amounts[i], amounts[i].values[row]));
    cells.push_back(source_text(hosts[row]->value));
    table.add_row(std::move(cells));
  }
  if (!hosts.empty()) {
    std::vector<std::string> cells = {"total, " + hosts_text(replies)};
    for (std::size_t i = 0; i < kAmounts.size(); ++i)
      cells.push_back(text(kAmounts[i], amounts[i], amounts[i].total));
    cells.emplace_back();
    table.add_row(std::move(cells));
  }
  if (!style.header) return table.text(style);
  std::string notes = wrap_words(notes_text(status_notes(replies), style.bold_header), style.width);
  if (!notes.empty() && !table.empty()) notes += "\n";
  std::string out = notes + table.text(style);
  if (wall) out += "\n" + wrap_words(wall_text(replies, "active", &host_wall_sums) + "\n", style.width);
  return out;
}

Json statuses_json(const std::vector<Reply>& replies) {
  Json hosts = Json::array();
  for (const Reply* reply : answered(replies))
    hosts.push_back({{"host", reply->host}, {"status", reply->value}});
  return {{"hosts", std::move(hosts)}, {"failures", failures_json(replies)}};
}

}  // namespace keplerd::cli::fleet
