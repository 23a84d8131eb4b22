// SPDX-License-Identifier: Apache-2.0
// The host at a glance, if no verb is given. As JSON, the status.
#include "cli/rows.h"
#include "cli/screens.h"
#include "cli/verb.h"
#include "cli/verbs/ask.h"
#include "cli/wall.h"

namespace keplerd::cli {

int run_overview(const Context& context) {
  if (context.wants_json()) return run_status(context);
  constexpr std::size_t kConsumers = 5;
  auto daemon = client::Daemon::connect(context.options.address);
  if (!daemon) return fail_to_connect(context, daemon.error());
  const auto status = daemon->status();
  if (!status) return context.fail(status.error().message);
  const auto wall = wanted_wall(context.options.wall, *status);
  if (!wall) return context.fail(wall.error().message);
  // keplerd may be older and not have a kind, or not publish it to this caller.
  const auto rows_of = [&](client::Kind kind) {
    auto rows = daemon->list({kind, std::nullopt, "energy"});
    return rows ? std::move(*rows) : std::vector<Json>();
  };
  const std::vector<Json> units = rows_of(client::Kind::kUnits);
  std::vector<Json> guests = rows_of(client::Kind::kVms);
  for (Json& row : rows_of(client::Kind::kContainers)) guests.push_back(std::move(row));
  std::vector<Json> consumers = largest_consumers(units, guests, kConsumers);
  // Without cgroup2 there are processes only.
  if (units.empty()) consumers = largest_consumers(rows_of(client::Kind::kProcesses), {}, kConsumers);
  if (*wall) (*wall)->add_to(consumers);
  warn_without_legend(context, *status);
  context.show(overview_screen(*status, consumers, *wall ? &**wall : nullptr, context.table_style()));
  return kFine;
}

}  // namespace keplerd::cli
