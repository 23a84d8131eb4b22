// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet/lists.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include "cli/fields.h"
#include "cli/fleet/words.h"
#include "cli/output/column_unit.h"
#include "cli/output/csv.h"
#include "cli/output/width.h"
#include "cli/rows.h"
#include "cli/rows_table.h"
#include "cli/screens.h"
#include "varlink/json.h"

namespace keplerd::cli::fleet {
namespace {

using varlink::Json;

struct Merged {
  std::vector<Json> rows;
  Hidden hidden;
  std::optional<std::int64_t> power, energy;  // of all rows that are not hidden
};

void add(std::optional<std::int64_t>& sum, std::optional<std::int64_t> part) {
  if (!part) return;
  std::int64_t total = 0;
  if (!__builtin_add_overflow(sum.value_or(0), *part, &total)) sum = total;
}

Merged merge(const ListKind& kind, const std::vector<Reply>& replies, const Options& options) {
  Merged merged;
  for (const Reply& reply : replies) {
    std::vector<Json> rows = rows_of(reply, kind.json_key);
    const Hidden hidden = hide_rows(rows, kind.kind, options);
    merged.hidden.ended += hidden.ended;
    merged.hidden.other_types += hidden.other_types;
    add(merged.power, sum_without_nested(rows, kind.kind, "powerMicrowatts"));
    add(merged.energy, sum_without_nested(rows, kind.kind, "energyMicrojoules"));
    std::ranges::move(rows, std::back_inserter(merged.rows));
  }
  return merged;
}

std::string totals_text(const Merged& merged) {
  std::string out;
  if (merged.power) out = ColumnUnit(Quantity::kPower, *merged.power).text(*merged.power);
  if (merged.energy) {
    out += out.empty() ? "" : ", ";
    out += ColumnUnit(Quantity::kEnergy, *merged.energy).text(*merged.energy);
  }
  return out;
}

// Of the rows that are listed.
std::optional<Wall::Sums> sums_at_the_plug(const ListKind& kind, const std::vector<Reply>& replies,
                                           const std::vector<Json>& listed) {
  return wall_sums(replies, [&](const Wall& wall, const Reply& reply) {
    std::vector<Json> rows;
    std::ranges::copy_if(listed, std::back_inserter(rows),
                         [&](const Json& row) { return string_field(row, "host") == reply.host; });
    return wall.sums(rows, kind.kind);
  });
}

// "2 of 3 virtual machines on 2 hosts, 1 terminated not shown (--all shows them). Total: 21.91 W, 5.50 Wh."
std::string footer(const ListKind& kind, const std::vector<Reply>& replies, const Merged& merged,
                   std::size_t shown) {
  const std::size_t all = merged.rows.size();
  std::string out = shown == all ? "" : fmt::format("{} of ", shown);
  out += fmt::format("{} {} on {}", all, all == 1 ? kind.word : kind.words, hosts_text(replies));
  if (merged.hidden.ended > 0)
    out += fmt::format(", {} terminated not shown (--all shows them)", merged.hidden.ended);
  if (merged.hidden.other_types > 0)
    out +=
        fmt::format(", {} slices and inner cgroups not shown (--type shows them)", merged.hidden.other_types);
  const std::string totals = totals_text(merged);
  out += (totals.empty() ? "" : ". Total: " + totals) + ".\n";
  const bool device_models = std::ranges::any_of(
      merged.rows, [](const Json& row) { return bool_field(row, "guestElsewhere") == true; });
  return device_models ? out + std::string(kDeviceModelOnly) + "\n" : out;
}

// What the rows say about the source of their host.
Json source_of(const std::vector<Json>& rows) {
  Json source = {{"name", "none"}};
  for (const Json& row : rows) {
    const auto quality = string_field(row, "quality");
    if (!quality) continue;
    const bool is_weak = quality == "simulated" || quality == "estimated";
    if (is_weak || !source.contains("quality")) source = {{"name", "meter"}, {"quality", *quality}};
    if (is_weak) break;
  }
  return {{"source", source}};
}

// All rows, for programs.
std::vector<Json> all_rows(const ListKind& kind, const std::vector<Reply>& replies, const Options& options) {
  std::vector<Json> rows;
  for (const Reply& reply : replies)
    std::ranges::move(rows_of(reply, kind.json_key), std::back_inserter(rows));
  sort_rows(rows, options.sort.empty() ? "energy" : options.sort);
  if (options.limit && rows.size() > *options.limit) rows.resize(*options.limit);
  return rows;
}

}  // namespace

ListKind list_kind(client::Kind kind) {
  const client::KindInfo& info = info_of(kind);
  return {info.json_key, info.word, info.words, &columns_of(kind), kind};
}

std::vector<std::string> list_notes(const ListKind& kind, const std::vector<Reply>& replies) {
  std::vector<std::pair<std::string, Json>> sources;
  for (const Reply& reply : replies) {
    const std::vector<Json> rows = rows_of(reply, kind.json_key);
    if (!rows.empty()) sources.emplace_back(reply.host, source_of(rows));
  }
  return source_notes(sources);
}

std::string list_screen(const ListKind& kind, const std::vector<Reply>& replies, const Options& options,
                        const TableStyle& style) {
  Merged merged = merge(kind, replies, options);
  sort_rows(merged.rows, options.sort.empty() ? "power" : options.sort);
  std::vector<Json> shown = merged.rows;
  if (options.limit && shown.size() > *options.limit) shown.resize(*options.limit);
  const Table table =
      rows_table({.columns = *kind.columns, .with_ended = options.all, .by_host = true}, shown);
  if (!style.header) return table.text(style);
  std::string out = wrap_words(notes_text(list_notes(kind, replies), style.bold_header), style.width);
  if (!out.empty()) out += "\n";
  if (!table.empty()) out += table.text(style) + (options.quiet ? "" : "\n");
  if (options.quiet) return out;
  out += wrap_words(footer(kind, replies, merged, shown.size()), style.width);
  if (options.wall)
    out += wrap_words(Wall::text(sums_at_the_plug(kind, replies, shown), "shown") + "\n", style.width);
  return out;
}

Json list_json(const ListKind& kind, const std::vector<Reply>& replies, const Options& options) {
  std::vector<Json> rows = all_rows(kind, replies, options);
  Json object = Json::object();
  if (options.wall) object["wall"] = Wall::sums_json(sums_at_the_plug(kind, replies, rows));
  object[std::string(kind.json_key)] = Json(std::move(rows));
  object["failures"] = failures_json(replies);
  return object;
}

std::string list_csv(const ListKind& kind, const std::vector<Reply>& replies, const Options& options) {
  std::string out = options.legend ? "host," + csv_rows_header(options.wall) : "";
  for (const Json& row : all_rows(kind, replies, options))
    out += csv_value(row, "host") + "," + csv_row_line(Json(), row, options.wall);
  return out;
}

}  // namespace keplerd::cli::fleet
