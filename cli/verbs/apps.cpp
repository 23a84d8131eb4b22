// SPDX-License-Identifier: Apache-2.0
// Applications by the names that people know them by: those of the caller, or of all users for root.
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include "cli/apps/app_rows.h"
#include "cli/apps/desktop_entry.h"
#include "cli/apps/desktop_files.h"
#include "cli/fields.h"
#include "cli/history/request.h"
#include "cli/output/column_unit.h"
#include "cli/output/csv.h"
#include "cli/rows.h"
#include "cli/rows_table.h"
#include "cli/screens.h"
#include "cli/verb.h"
#include "cli/verbs/ask.h"
#include "cli/verbs/history.h"
#include "cli/wall.h"
#include "varlink/json.h"

namespace keplerd::cli {
namespace {

std::string user_name(std::uint32_t user) {
  const passwd* const entry = getpwuid(user);
  return entry != nullptr ? apps::shown_name(entry->pw_name) : std::to_string(user);
}

// Unset if keplerd-history does not run or shows nothing to the caller: there is no column for it then.
std::optional<std::map<std::string, std::int64_t>> energy_today(const std::string& address) {
  const history::Time now = history_now();
  history::Subject units{"units", ""};
  const auto replies = history::query(address, units, {history::start_of_day(now), now}, "day");
  if (!replies) return std::nullopt;
  std::map<std::string, std::int64_t> today;
  for (const Json& reply : *replies) {
    for (const Json& row : client::elements(field(reply, "rows")))
      today[client::text(row, "id")] += integer_field(row, "energyMicrojoules").value_or(0);
  }
  return today;
}

std::string screen(const Context& context, const Json& status, const std::optional<Wall>& wall,
                   std::vector<Json> rows) {
  const Options& options = context.options;
  const TableStyle style = context.table_style();
  const Hidden hidden = hide_rows(rows, std::nullopt, options);
  sort_rows(rows, options.sort.empty() ? "power" : options.sort);
  const auto power = sum_without_nested(rows, std::nullopt, "powerMicrowatts");
  const std::string at_the_plug = wall ? wall->text(wall->sums(rows, std::nullopt), "shown") + "\n" : "";
  const std::size_t all = rows.size();
  if (options.limit && rows.size() > *options.limit) rows.resize(*options.limit);
  const Table table = rows_table({.columns = apps::app_columns(), .with_ended = options.all}, rows);
  if (!options.legend) return table.text(style);
  std::string out = screen_head(status, style);
  if (!table.empty()) out += table.text(style) + (options.quiet ? "" : "\n");
  if (options.quiet) return out;
  std::string footer =
      all == 0 ? "No session of a user is known" : fmt::format("{} of {} rows", rows.size(), all);
  if (hidden.ended > 0) footer += fmt::format(", {} terminated not shown (--all shows them)", hidden.ended);
  if (power) footer += fmt::format(", {} in total", ColumnUnit(Quantity::kPower, *power).text(*power));
  return out + wrap_words(footer + ". Host: " + accounts_line(status) + ".\n" + at_the_plug, style.width);
}

std::vector<Json> for_programs(const Options& options, std::vector<Json> rows) {
  sort_rows(rows, options.sort.empty() ? "energy" : options.sort);
  if (options.limit && rows.size() > *options.limit) rows.resize(*options.limit);
  return rows;
}

}  // namespace

int run_apps(const Context& context) {
  const Options& options = context.options;
  auto daemon = client::Daemon::connect(options.address);
  if (!daemon) return fail_to_connect(context, daemon.error());
  const auto status = daemon->status();
  if (!status) return context.fail(status.error().message);
  auto units = daemon->list({client::Kind::kUnits, std::nullopt, ""});
  if (!units) return context.fail(units.error().message);
  const auto wanted = wanted_wall(options.wall, *status);
  if (!wanted) return context.fail(wanted.error().message);
  const std::optional<Wall>& wall = *wanted;
  if (wall) wall->add_to(*units);

  const uid_t caller = geteuid();
  apps::DesktopFiles files(apps::DesktopDirectories::of_environment(),
                           apps::locale_keys(apps::message_locale()));
  apps::Sources sources{
      .find = [&](const auto& ids, std::uint32_t user) { return files.find(ids, user == caller); },
      .today = energy_today(options.history.address)};
  if (caller == 0) sources.user_name = user_name;
  std::vector<Json> rows = apps::app_rows(*units, sources);

  if (context.wants_json()) {
    Json object = {{"apps", for_programs(options, rows)}};
    if (wall) object["wall"] = wall->json(wall->sums(rows, std::nullopt));
    context.show_json(object);
  } else if (options.csv) {
    warn_unless_measured(context, *status);
    if (options.legend) context.out << csv_rows_header(options.wall);
    for (const Json& row : for_programs(options, std::move(rows)))
      context.out << csv_row_line(*status, row, options.wall);
  } else {
    warn_without_legend(context, *status);
    context.show(screen(context, *status, wall, std::move(rows)));
  }
  return kFine;
}

}  // namespace keplerd::cli
