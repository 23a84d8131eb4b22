// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/history.h"

#include <cerrno>

#include "cli/fields.h"
#include "cli/history/output.h"
#include "cli/verb.h"
#include "varlink/json.h"

namespace keplerd::cli {

using namespace history;

Time history_now() {
  return std::chrono::duration_cast<Time>(std::chrono::system_clock::now().time_since_epoch());
}

Rates history_rates(const Context& context) {
  auto rates = load_rates_file(context.options.history.cost_config);
  if (rates) return *std::move(rates);
  context.err << "keplerctl: " << printable(rates.error().message) << "; costs are not shown\n";
  return {};
}

int run_history(const Context& context) {
  HistoryOptions options = context.options.history;
  const Time now = history_now();
  auto subject = subject_of(options.what);
  if (!subject) return context.fail(subject.error().message, kUsage);
  const auto period = period_of(options, now, now - std::chrono::hours(24));
  if (!period) return context.fail(period.error().message, kUsage);
  if (options.step.empty()) options.step = suitable_step(*period);
  const auto replies = query(options.address, *subject, *period, options.step);
  if (!replies)
    return context.fail(replies.error().message, replies.error().code == ENOENT ? kNothingSuch : kFailed);
  const Rates rates = history_rates(context);
  if (context.options.csv) {
    context.out << history_csv(history_json(*subject, *replies, rates));
  } else if (context.wants_json()) {
    context.show_json({{"history", history_json(*subject, *replies, rates)}});
  } else {
    context.show(history_text(*subject, *replies, rates, context.table_style()));
  }
  return kFine;
}

}  // namespace keplerd::cli
