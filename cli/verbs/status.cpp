// SPDX-License-Identifier: Apache-2.0
#include "cli/screens.h"
#include "cli/verb.h"
#include "cli/verbs/ask.h"

namespace keplerd::cli {

int run_status(const Context& context) {
  auto daemon = client::Daemon::connect(context.options.address);
  if (!daemon) return fail_to_connect(context, daemon.error());
  auto status = daemon->status();
  if (!status) return context.fail(status.error().message);
  if (context.wants_json()) {
    context.show_json(status_json(std::move(*status)));
    return kFine;
  }
  warn_without_legend(context, *status);
  context.show(status_screen(*status, context.table_style()));
  return kFine;
}

}  // namespace keplerd::cli
