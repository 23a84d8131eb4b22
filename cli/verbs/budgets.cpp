// SPDX-License-Identifier: Apache-2.0
#include "cli/history/budgets.h"

#include "cli/history/request.h"
#include "cli/verb.h"
#include "cli/verbs/history.h"
#include "varlink/json.h"

namespace keplerd::cli {

using namespace history;

int run_budgets(const Context& context) {
  const auto reply = list_budgets(context.options.history.address);
  if (!reply) return context.fail(reply.error().message);
  const varlink::Json budgets = budgets_json(*reply, history_now());
  if (context.options.csv) {
    context.out << budgets_csv(budgets);
  } else if (context.wants_json()) {
    context.show_json({{"budgets", budgets}});
  } else {
    context.show(budgets_text(budgets, context.table_style()));
  }
  return kFine;
}

}  // namespace keplerd::cli
