// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/history.h"

#include <cerrno>

#include "cli/fields.h"
#include "cli/history/costs.h"
#include "cli/history/export.h"
#include "cli/history/output.h"
#include "cli/verb.h"
#include "client/requests.h"
#include "varlink/json.h"

namespace keplerd::cli {

using namespace history;

Time history_now() {
  return std::chrono::duration_cast<Time>(std::chrono::system_clock::now().time_since_epoch());
}

void warn_of_rates(const Context& context, const Json& reply) {
  const std::string problem = rates_problem(reply);
  if (!problem.empty()) context.err << "keplerctl: " << problem << "; costs are not shown\n";
}

Result<std::optional<Wall>> todays_wall(const Context& context) {
  if (!context.options.wall) return std::optional<Wall>();
  auto daemon = client::Daemon::connect(context.options.address);
  if (!daemon) return daemon.error();
  const auto status = daemon->status();
  if (!status) return status.error();
  return wanted_wall(true, *status);
}

int run_history(const Context& context) {
  HistoryOptions options = context.options.history;
  const Time now = history_now();
  if (options.what == std::vector<std::string>{"export"}) return export_history(context, now);
  auto subject = subject_of(options.what);
  if (!subject) return context.fail(subject.error().message, kUsage);
  const auto period = period_of(options, now, now - std::chrono::hours(24));
  if (!period) return context.fail(period.error().message, kUsage);
  if (options.step.empty()) options.step = suitable_step(*period);
  const auto wall = todays_wall(context);
  if (!wall) return context.fail(wall.error().message);
  const auto replies = query(options.address, *subject, *period, options.step);
  if (!replies)
    return context.fail(replies.error().message, replies.error().code == ENOENT ? kNothingSuch : kFailed);
  warn_of_rates(context, replies->front());
  const Wall* const line = *wall ? &**wall : nullptr;
  if (context.options.csv) {
    context.out << history_csv(history_json(*subject, *replies, line));
  } else if (context.wants_json()) {
    context.show_json({{"history", history_json(*subject, *replies, line)}});
  } else {
    context.show(history_text(*subject, *replies, options.graph, context.table_style(), line));
  }
  return kFine;
}

}  // namespace keplerd::cli
