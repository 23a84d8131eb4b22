// SPDX-License-Identifier: Apache-2.0
// How much of each budget is used up in its present period, and which were crossed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "history/budget/budget.h"
#include "history/store/store.h"

namespace keplerd::history {

// A budget is reported when this much of it is used up; the highest comes last.
inline constexpr int kReportedPercents[] = {80, 100};

struct BudgetUse {
  Budget budget;
  Span period;  // the present one; empty before the first check
  Microjoules used;
  std::string problem;  // why it is not known what was used; empty: it is
};

class Budgets {
 public:
  // `crossed` is called once in a period for each of kReportedPercents; if several were crossed since the
  // last check, only for the highest.
  using Crossed = std::function<void(const BudgetUse& use, int percent)>;
  // `problem` is called when it is not known what was used, once for each reason.
  using Problem = std::function<void(const Budget& budget, const std::string& reason)>;
  Budgets(const std::vector<Budget>& budgets, Crossed crossed, Problem problem);

  // What is recorded in the periods that contain `now`: energy of which it is not known that it was used in
  // that period, because of an interruption, is not counted. Throws DatabaseError.
  void check(Store& store, Time now);

  const std::vector<BudgetUse>& uses() const { return uses_; }

 private:
  class Check;
  void check(Check& check, BudgetUse& use);
  void report(Database& database, const BudgetUse& use);

  std::vector<BudgetUse> uses_;
  Crossed crossed_;
  Problem problem_;
};

}  // namespace keplerd::history
