// SPDX-License-Identifier: Apache-2.0
// `keplerctl budgets`: the budgets of keplerd-history, how much of them is used, and when they will be used
// up. Pure.
#pragma once

#include <string>

#include "cli/history/period.h"
#include "cli/output/table.h"
#include "varlink/json_fwd.h"

namespace keplerd::cli::history {

// The budgets in a reply of ListBudgets. Those whose use is known get `percentUsed`, in whole percent, and
// `usedUpUsec` if they will be used up in their present period, if the rest of it is like what is over. At
// least a hundredth of it must be over.
varlink::Json budgets_json(const varlink::Json& reply, Time now);

std::string budgets_text(const varlink::Json& budgets, const TableStyle& style);
std::string budgets_csv(const varlink::Json& budgets);

}  // namespace keplerd::cli::history
