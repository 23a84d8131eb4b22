// SPDX-License-Identifier: Apache-2.0
#include "history/budget/budgets.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <pwd.h>

#include "base/parse.h"
#include "history/shares.h"
#include "history/store/crossings.h"
#include "history/store/labels.h"
#include "history/store/period_sum.h"
#include "history/store/query.h"

namespace keplerd::history {
namespace {

Kind kind_of(BudgetScope scope) {
  switch (scope) {
    case BudgetScope::kVm:
      return Kind::kVms;
    case BudgetScope::kContainer:
      return Kind::kContainers;
    case BudgetScope::kPod:
      return Kind::kPods;
    default:
      return Kind::kUnits;
  }
}

std::optional<uid_t> find_user(const std::string& name) {
  if (const auto number = parse_number<uid_t>(name)) return *number;
  const passwd* const user = ::getpwnam(name.c_str());
  if (user == nullptr) return std::nullopt;
  return user->pw_uid;
}

bool is_of_the_system(const FoundWorkload& workload) { return workload.owner.value_or(0) == 0; }

}  // namespace

// What was used in the periods of budgets: each period is read once.
class Budgets::Check {
 public:
  explicit Check(Store& store) : store_(store), labels_(store.database()) {}

  Database& database() { return store_.database(); }

  Result<Microjoules> used(const Budget& budget, const Span& period) {
    if (budget.scope == BudgetScope::kHost) return sum_of(period).host.energy();
    return budget.scope == BudgetScope::kUser ? used_by_user(budget, period)
                                              : used_by_workload(budget, period);
  }

 private:
  struct Used {
    Accounts host;
    std::vector<PeriodSum::Sum> workloads;
    std::map<std::int64_t, Microjoules> by_number;
  };
  const Used& sum_of(const Span& period);
  Result<Microjoules> used_by_workload(const Budget& budget, const Span& period);
  Result<Microjoules> used_by_user(const Budget& budget, const Span& period);

  Store& store_;
  Labels labels_;
  std::map<Span, Used> used_;
};

const Budgets::Check::Used& Budgets::Check::sum_of(const Span& period) {
  const auto [found, is_new] = used_.try_emplace(period);
  Used& used = found->second;
  if (!is_new) return used;
  PeriodSum sum(database(), {.period = period});
  while (sum.step()) {
  }
  used.host = sum.summary().accounts;
  used.workloads = sum.workloads();
  for (const PeriodSum::Sum& one : used.workloads) used.by_number.emplace(one.workload, one.amounts.energy());
  return used;
}

// Names are not unique: those of root and the system take precedence, so that no user can use up the budget
// of another workload with one of the same name.
Result<Microjoules> Budgets::Check::used_by_workload(const Budget& budget, const Span& period) {
  const Kind kind = kind_of(budget.scope);
  const Used& used = sum_of(period);
  const bool is_system = system_has(database(), kind, budget.name);
  std::set<std::optional<uid_t>> owners;
  Microjoules sum;
  for (const FoundWorkload& workload : find_workloads(database(), kind, budget.name, period.start)) {
    const auto drawn = used.by_number.find(workload.number);
    if (drawn == used.by_number.end() || (is_system && !is_of_the_system(workload))) continue;
    owners.insert(is_of_the_system(workload) ? std::nullopt : workload.owner);
    sum += drawn->second;
  }
  if (owners.size() > 1) return Error{"several users have a workload with this name: use its id"};
  return sum;
}

Result<Microjoules> Budgets::Check::used_by_user(const Budget& budget, const Span& period) {
  const auto user = find_user(budget.name);
  if (!user) return Error{"there is no such user"};
  const auto units =
      select(sum_of(period).workloads, {Kind::kUnits, {}, *user},
             [this](std::int64_t workload) { return labels_.find(workload, store_.labels_version()); });
  Microjoules used;
  for (const Share& share : shares_of(By::kUser, units)) used += share.amounts.energy();
  return used;
}

Budgets::Budgets(const std::vector<Budget>& budgets, Crossed crossed, Problem problem)
    : crossed_(std::move(crossed)), problem_(std::move(problem)) {
  for (const Budget& budget : budgets) uses_.push_back({budget, {}, {}, "not checked yet"});
}

void Budgets::check(Store& store, Time now) {
  Check check_now(store);
  for (BudgetUse& use : uses_) {
    const Span period = span_of(use.budget.period, now);
    // What was used at the end of the last one is written with the first reading after it.
    if (use.period != Span{} && use.period != period) check(check_now, use);
    use.period = period;
    check(check_now, use);
  }
}

void Budgets::check(Check& check, BudgetUse& use) {
  const auto used = check.used(use.budget, use.period);
  const std::string problem = used ? std::string() : used.error().message;
  if (use.problem != problem && !problem.empty()) problem_(use.budget, problem);
  use.problem = problem;
  use.used = used ? *used : Microjoules{};
  if (used) report(check.database(), use);
}

void Budgets::report(Database& database, const BudgetUse& use) {
  const CrossingKey key{use.budget.text, use.period.start};
  int crossed = 0;
  for (const int percent : kReportedPercents) {
    if (use.used >= part_of_limit(use.budget, percent)) crossed = percent;
  }
  if (crossed == 0 || crossed <= reported_percent(database, key)) return;
  record_crossing(database, key, crossed);  // first: once is more important than at all
  crossed_(use, crossed);
}

}  // namespace keplerd::history
