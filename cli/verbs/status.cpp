// SPDX-License-Identifier: Apache-2.0
#include "cli/fields.h"
#include "cli/screens.h"
#include "cli/verb.h"
#include "cli/verbs/ask.h"
#include "cli/wall.h"

namespace keplerd::cli {

int run_status(const Context& context) {
  auto daemon = client::Daemon::connect(context.options.address);
  if (!daemon) return fail_to_connect(context, daemon.error());
  auto status = daemon->status();
  if (!status) return context.fail(status.error().message);
  const auto wall = wanted_wall(context.options.wall, *status);
  if (!wall) return context.fail(wall.error().message);
  std::string at_the_plug;
  if (*wall) {
    const auto sums = (*wall)->host_sums(field(*status, "host"));
    (*status)["wall"].update((*wall)->json(sums));
    at_the_plug = Wall::text(sums, "active") + "\n";
  }
  if (context.wants_json()) {
    context.show_json(status_json(std::move(*status)));
    return kFine;
  }
  warn_without_legend(context, *status);
  context.show(status_screen(*status, context.table_style()) +
               (at_the_plug.empty() ? "" : "\n" + at_the_plug));
  return kFine;
}

}  // namespace keplerd::cli
