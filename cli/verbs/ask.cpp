// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/ask.h"

#include <optional>
#include <utility>

#include "cli/output/csv.h"
#include "cli/rows.h"
#include "cli/screens.h"
#include "cli/wall.h"

namespace keplerd::cli {
namespace {

using varlink::Json;

// All rows, for programs: by energy, unless another order is requested.
Result<std::vector<Json>> list_for_programs(client::Daemon& daemon, client::Kind kind,
                                            const Options& options) {
  // With --type, the limit applies to what is left.
  const auto limit = options.types.empty() ? options.limit : std::nullopt;
  auto rows = daemon.list({kind, limit, options.sort.empty() ? "energy" : options.sort});
  if (rows && !options.types.empty()) {
    std::erase_if(*rows, [&](const Json& row) { return !has_type(row, options.types); });
    if (options.limit && rows->size() > *options.limit) rows->resize(*options.limit);
  }
  return rows;
}

Result<Wall> find_wall(client::Daemon& daemon) {
  const auto status = daemon.status();
  if (!status) return status.error();
  return Wall::of(*status);
}

int show_list_json(const Context& context, client::Daemon& daemon, client::Kind kind) {
  std::optional<Wall> wall;
  if (context.options.wall) {
    auto found = find_wall(daemon);
    if (!found) return context.fail(found.error().message);
    wall = *std::move(found);
  }
  auto rows = list_for_programs(daemon, kind, context.options);
  if (!rows) return context.fail(rows.error().message);
  if (wall) wall->add_to(*rows);
  const auto sums = wall ? wall->sums(*rows, kind) : std::nullopt;
  Json list = Json::array();
  for (Json& row : *rows) list.push_back(std::move(row));
  Json object = Json::object();
  object[std::string(info_of(kind).json_key)] = std::move(list);
  if (wall) object["wall"] = wall->json(sums);
  context.show_json(object);
  return kFine;
}

int show_list_csv(const Context& context, client::Daemon& daemon, client::Kind kind) {
  const auto status = daemon.status();
  if (!status) return context.fail(status.error().message);
  const auto rows = list_for_programs(daemon, kind, context.options);
  if (!rows) return context.fail(rows.error().message);
  warn_unless_measured(context, *status);
  if (context.options.legend) context.out << csv_rows_header();
  for (const Json& row : *rows) context.out << csv_row_line(*status, row);
  return kFine;
}

}  // namespace

int fail_to_connect(const Context& context, const Error& error) {
  return context.fail(error.message + (context.options.quiet ? "" : " (run 'keplerctl doctor' for details)"));
}

void warn_unless_measured(const Context& context, const Json& status) {
  if (const auto warning = source_warning(status)) context.fail(*warning);
}

void warn_without_legend(const Context& context, const Json& status) {
  if (!context.options.legend && !context.wants_json()) warn_unless_measured(context, status);
}

int show_list(const Context& context, client::Kind kind) {
  auto daemon = client::Daemon::connect(context.options.address);
  if (!daemon) return fail_to_connect(context, daemon.error());
  if (context.wants_json()) return show_list_json(context, *daemon, kind);
  if (context.options.csv) return show_list_csv(context, *daemon, kind);
  const auto status = daemon->status();
  if (!status) return context.fail(status.error().message);
  // Ended rows are hidden here: a limit applies to the remaining ones.
  const std::string& sort = context.options.sort;
  auto rows = daemon->list({kind, std::nullopt, sort.empty() ? "energy" : sort});
  if (!rows) return context.fail(rows.error().message);
  std::optional<Wall> wall;
  if (context.options.wall) {
    auto found = Wall::of(*status);
    if (!found) return context.fail(found.error().message);
    wall = *std::move(found);
    wall->add_to(*rows);
  }
  warn_without_legend(context, *status);
  context.show(
      list_screen({info_of(kind), *status, context.options, context.table_style(), wall ? &*wall : nullptr},
                  std::move(*rows)));
  return kFine;
}

}  // namespace keplerd::cli
