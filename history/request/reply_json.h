// SPDX-License-Identifier: Apache-2.0
// Replies of org.keplerd.History as JSON. Pure.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "history/budget/budgets.h"
#include "history/request/pricing.h"
#include "history/shares.h"
#include "history/store/query.h"
#include "varlink/json_fwd.h"
#include "varlink/message.h"

namespace keplerd::history {

inline constexpr char kInterface[] = "org.keplerd.History";

// An error of the interface.
varlink::Failure failure(std::string_view name, varlink::Json parameters);

varlink::Json span_json(const Span& span, const Summary& summary);
varlink::Json accounts_json(const Accounts& accounts);
varlink::Json row_json(std::string_view kind, const Share& share);
// What the meter of the platform counted, if there is one.
void add_platform(varlink::Json& json, const std::optional<WorkloadEnergy>& platform);
varlink::Json budget_json(const BudgetUse& use);

// The rows of a report, and what is in none of them: `host` is the energy of the host; null: only the rows.
struct Divided {
  std::string_view by;
  std::vector<Share> shares;
  const Summary* host = nullptr;
};
void add_division(varlink::Json& json, const Divided& divided);
// Adds the costs of the rows and of what is in none of them: together, that of the host, if it is not null.
void add_costs(varlink::Json& json, const Pricing& pricing, const std::vector<Share>& shares,
               const RatedSummary* host);

Rated whole_of(const RatedSummary& summary);

}  // namespace keplerd::history
