// SPDX-License-Identifier: Apache-2.0
// Costs and emissions in the replies of keplerd-history: how they are shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/output/column_unit.h"
#include "cli/output/table.h"
#include "varlink/json_fwd.h"

namespace keplerd::cli::history {

// The largest cost and emissions of some objects; unset: none of them has any.
struct LargestCosts {
  std::optional<std::int64_t> cost = {}, carbon = {};
  void include(const varlink::Json& object);
};

// The columns of costs and emissions, each in one unit. There are those that the objects have.
class CostColumns {
 public:
  // `currency`: empty if there are no costs.
  CostColumns(std::string currency, const LargestCosts& largest);

  void add_to(std::vector<Column>& columns) const;
  void add_cells(std::vector<std::string>& cells, const varlink::Json& object) const;

 private:
  std::string currency_;
  int decimals_;
  std::optional<ColumnUnit> carbon_ = {};
};

std::string currency_of(const varlink::Json& reply);

// Copies the cost and the emissions, and the currency of the reply.
void copy_costs(varlink::Json& to, const varlink::Json& from, const varlink::Json& reply);

// What to know about costs and emissions, a line each: where mean rates are applied, or no intensity is
// known. Empty: all of them are exact.
std::string cost_notes(const std::vector<varlink::Json>& replies);

// Why there are no costs; empty: nothing is wrong.
std::string rates_problem(const varlink::Json& reply);

// Adds the Software Carbon Intensity, ((E * I) + M) / R, of the host (ISO/IEC 21031). Fails if it is not
// known.
Result<Done> add_intensity_score(varlink::Json& report, std::int64_t functional_units);
std::string intensity_score_text(const varlink::Json& report);  // empty if it has none

}  // namespace keplerd::cli::history
