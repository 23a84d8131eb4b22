// SPDX-License-Identifier: Apache-2.0
#include "history/budget/budgets.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <pwd.h>

#include "base/parse.h"
#include "history/shares.h"
#include "history/store/crossings.h"
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

// Names are not unique: those of root and the system take precedence, so that no user can use up the budget
// of another workload with one of the same name.
Result<Microjoules> used_by_workload(Database& database, const BudgetUse& use) {
  const Kind kind = kind_of(use.budget.scope);
  std::vector<WorkloadEnergy> found;
  for (const std::string& id : find_ids(database, {kind, {}, {}}, use.budget.name)) {
    for (WorkloadEnergy& workload : energy_of(database, use.period, {kind, id, {}}))
      found.push_back(std::move(workload));
  }
  const auto of_the_system = [](const WorkloadEnergy& one) { return one.key.is_of_the_system(); };
  const bool system_has_one = !find_ids(database, {kind, {}, 0}, use.budget.name).empty();
  if (system_has_one || std::ranges::any_of(found, of_the_system))
    std::erase_if(found, [&](const WorkloadEnergy& one) { return !of_the_system(one); });
  std::set<std::optional<uid_t>> owners;
  Microjoules used;
  for (const WorkloadEnergy& workload : found) {
    owners.insert(workload.key.is_of_the_system() ? std::nullopt : workload.key.owner);
    used += workload.amounts.energy();
  }
  if (owners.size() > 1) return Error{"several users have a workload with this name: use its id"};
  return used;
}

std::optional<uid_t> find_user(const std::string& name) {
  if (const auto number = parse_number<uid_t>(name)) return *number;
  const passwd* const user = ::getpwnam(name.c_str());
  if (user == nullptr) return std::nullopt;
  return user->pw_uid;
}

Result<Microjoules> used_by_user(Database& database, const BudgetUse& use) {
  const auto user = find_user(use.budget.name);
  if (!user) return Error{"there is no such user"};
  Microjoules used;
  for (const Share& share : shares_of(By::kUser, energy_of(database, use.period, {Kind::kUnits, {}, *user})))
    used += share.amounts.energy();
  return used;
}

Result<Microjoules> used_in(Database& database, const BudgetUse& use) {
  if (use.budget.scope == BudgetScope::kHost) return summary_of(database, use.period).accounts.energy();
  return use.budget.scope == BudgetScope::kUser ? used_by_user(database, use)
                                                : used_by_workload(database, use);
}

}  // namespace

Budgets::Budgets(const std::vector<Budget>& budgets, Crossed crossed) : crossed_(std::move(crossed)) {
  for (const Budget& budget : budgets) uses_.push_back({budget, {}, {}, "not checked yet"});
}

void Budgets::check(Database& database, Time now) {
  for (BudgetUse& use : uses_) {
    const Span period = span_of(use.budget.period, now);
    // What was used at the end of the last one is written with the first reading after it.
    if (use.period != Span{} && use.period != period) check(database, use);
    use.period = period;
    check(database, use);
  }
}

void Budgets::check(Database& database, BudgetUse& use) {
  const auto used = used_in(database, use);
  use.problem = used ? std::string() : used.error().message;
  use.used = used ? *used : Microjoules{};
  if (used) report(database, use);
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
