// SPDX-License-Identifier: Apache-2.0
// The service that an administrator may have made for the crossing of a budget, and its environment. Pure.
#pragma once

#include <string>
#include <string_view>

#include "history/budget/budgets.h"

namespace keplerd::history {

// As systemd-escape(1) does.
std::string escape_unit_name(std::string_view text);

// "keplerd-budget@vm\x20web.service": one for each subject of budgets.
std::string budget_service(const Budget& budget);

// What the service is to know, one assignment a line, quoted as a shell reads it.
std::string budget_environment(const BudgetUse& use, int percent);

}  // namespace keplerd::history
