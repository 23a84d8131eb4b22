// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/ask.h"

#include <cerrno>
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
Result<client::Listed> list_for_programs(client::Daemon& daemon, client::Kind kind, const Options& options) {
  // With --type, the limit applies to what is left.
  const auto limit = options.types.empty() ? options.limit : std::nullopt;
  auto listed =
      daemon.list_with_policy({kind, limit, options.sort.empty() ? "energy" : options.sort, options.idle});
  if (listed && !options.types.empty()) {
    auto& rows = listed->rows;
    std::erase_if(rows, [&](const Json& row) { return !has_type(row, options.types); });
    if (options.limit && rows.size() > *options.limit) rows.resize(*options.limit);
  }
  return listed;
}

int fail_to_list(const Context& context, const Error& error) {
  if (error.code == EACCES && !context.options.idle.empty()) {
    return context.fail(
        "--idle: access denied: only root and members of the group keplerd may see what other "
        "idle policies would place");
  }
  return context.fail(error.message);
}

Result<std::optional<Wall>> find_wall(const Context& context, client::Daemon& daemon) {
  if (!context.options.wall) return std::optional<Wall>();
  const auto status = daemon.status();
  if (!status) return status.error();
  return wanted_wall(true, *status);
}

int show_list_json(const Context& context, client::Daemon& daemon, client::Kind kind) {
  const auto found = find_wall(context, daemon);
  if (!found) return context.fail(found.error().message);
  const std::optional<Wall>& wall = *found;
  auto listed = list_for_programs(daemon, kind, context.options);
  if (!listed) return fail_to_list(context, listed.error());
  if (wall) wall->add_to(listed->rows);
  const auto sums = wall ? wall->sums(listed->rows, kind) : std::nullopt;
  Json list = Json::array();
  for (Json& row : listed->rows) list.push_back(std::move(row));
  Json object = Json::object();
  object[std::string(info_of(kind).json_key)] = std::move(list);
  if (wall) object["wall"] = wall->json(sums);
  if (!context.options.idle.empty()) {
    Json& policy = object["policy"] = {{"idle", context.options.idle}};
    if (listed->policy_host) policy["hostMicrowatts"] = *listed->policy_host;
  }
  context.show_json(object);
  return kFine;
}

int show_list_csv(const Context& context, client::Daemon& daemon, client::Kind kind) {
  const auto status = daemon.status();
  if (!status) return context.fail(status.error().message);
  auto listed = list_for_programs(daemon, kind, context.options);
  if (!listed) return fail_to_list(context, listed.error());
  const auto wall = wanted_wall(context.options.wall, *status);
  if (!wall) return context.fail(wall.error().message);
  const bool with_wall = wall->has_value();
  if (with_wall) (*wall)->add_to(listed->rows);
  warn_unless_measured(context, *status);
  if (context.options.legend) context.out << csv_rows_header(with_wall);
  for (const Json& row : listed->rows) context.out << csv_row_line(*status, row, with_wall);
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
  auto listed =
      daemon->list_with_policy({kind, std::nullopt, sort.empty() ? "energy" : sort, context.options.idle});
  if (!listed) return fail_to_list(context, listed.error());
  const auto found = wanted_wall(context.options.wall, *status);
  if (!found) return context.fail(found.error().message);
  const std::optional<Wall>& wall = *found;
  if (wall) wall->add_to(listed->rows);
  warn_without_legend(context, *status);
  context.show(list_screen({info_of(kind), *status, context.options, context.table_style(),
                            wall ? &*wall : nullptr, listed->policy_host},
                           std::move(listed->rows)));
  return kFine;
}

}  // namespace keplerd::cli
