// SPDX-License-Identifier: Apache-2.0
#include "cli/history/costs.h"
#include "cli/history/output.h"
#include "cli/verb.h"
#include "cli/verbs/history.h"
#include "varlink/json.h"

namespace keplerd::cli {

using namespace history;

int run_report(const Context& context) {
  const HistoryOptions& options = context.options.history;
  const Time now = history_now();
  const auto period = period_of(options, now, start_of_month(now));
  if (!period) return context.fail(period.error().message, kUsage);
  const auto wall = todays_wall(context);
  if (!wall) return context.fail(wall.error().message);
  auto divided = report(options.address, *period, options.by);
  if (!divided) return context.fail(divided.error().message);
  warn_of_rates(context, *divided);
  if (*wall) add_wall(*divided, **wall);
  if (options.functional_units > 0) {
    if (const auto added = add_intensity_score(*divided, options.functional_units); !added)
      return context.fail(added.error().message);
  }
  if (context.options.csv) {
    context.out << report_csv(report_json(*divided));
  } else if (context.wants_json()) {
    context.show_json({{"report", report_json(*divided)}});
  } else {
    context.show(report_text(*divided, options.by, context.table_style()));
  }
  return kFine;
}

}  // namespace keplerd::cli
