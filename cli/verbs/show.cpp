// SPDX-License-Identifier: Apache-2.0
#include "cli/fields.h"
#include "cli/resolve.h"
#include "cli/screens.h"
#include "cli/verb.h"
#include "cli/verbs/ask.h"
#include "cli/wall.h"

namespace keplerd::cli {

int run_show(const Context& context) {
  const std::string& wanted = context.options.id;
  auto daemon = client::Daemon::connect(context.options.address);
  if (!daemon) return fail_to_connect(context, daemon.error());
  const auto status = daemon->status();
  if (!status) return context.fail(status.error().message);
  // A program means what it says.
  const auto matches = resolve(*daemon, wanted, !context.wants_json());
  if (!matches) return context.fail(matches.error().message);

  if (matches->ids.empty())
    return context.fail(nothing_such(wanted, sees_everything(*status), !context.options.quiet), kNothingSuch);
  if (!is_unique(*matches)) return context.fail(ambiguity(wanted, *matches));
  Json row = matches->rows.front();
  const auto wall = wanted_wall(context.options.wall, *status);
  if (!wall) return context.fail(wall.error().message);
  if (*wall) (*wall)->add_to_details(row);
  if (context.wants_json()) {
    context.show_json(row);
    return kFine;
  }
  warn_without_legend(context, *status);
  const TableStyle style = context.table_style();
  context.show((style.header ? screen_head(*status, style) : "") + row_screen(row, style));
  return kFine;
}

}  // namespace keplerd::cli
