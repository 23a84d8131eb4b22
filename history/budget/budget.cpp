// SPDX-License-Identifier: Apache-2.0
#include "history/budget/budget.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "config/time_span.h"

namespace keplerd::history {
namespace {

constexpr std::array<std::pair<BudgetScope, std::string_view>, 7> kScopes = {
    {{BudgetScope::kHost, "host"},
     {BudgetScope::kVm, "vm"},
     {BudgetScope::kContainer, "container"},
     {BudgetScope::kPod, "pod"},
     {BudgetScope::kUnit, "unit"},
     {BudgetScope::kSlice, "slice"},
     {BudgetScope::kUser, "user"}}};

std::string_view name_of(BudgetScope scope) {
  return std::ranges::find(kScopes, scope, &std::pair<BudgetScope, std::string_view>::first)->second;
}

Error expected() { return {"must be ENERGY/PERIOD KIND NAME, like 2kWh/day vm web, or 50kWh/month host"}; }

}  // namespace

std::string Budget::subject() const {
  std::string subject(name_of(scope));
  if (!name.empty()) subject += " " + name;
  return subject;
}

Result<Budget> parse_budget(std::string_view text) {
  text = trim(text);
  if (!is_plain_name(text)) return Error{"must be printable UTF-8"};
  std::string_view rest = text;
  const auto limit = parse_energy(trim(take_until(rest, '/')));
  if (!limit || limit->value <= 0) return expected();
  const auto period = parse_step(take_word(rest));
  if (!period || *period == Step::kFiveMinutes) return Error{"the period must be hour, day or month"};
  const std::string_view kind = take_word(rest);
  rest = trim(rest);
  const auto scope = std::ranges::find(kScopes, kind, &std::pair<BudgetScope, std::string_view>::second);
  if (scope == kScopes.end()) return Error{"the kind must be host, vm, container, pod, unit, slice or user"};
  if (rest.empty() != (scope->first == BudgetScope::kHost)) return expected();
  return Budget{std::string(text), *limit, *period, scope->first, std::string(rest)};
}

Microjoules part_of_limit(const Budget& budget, int percent) {
  const std::int64_t limit = budget.limit.value;
  return {limit / 100 * percent + (limit % 100 * percent + 99) / 100};
}

}  // namespace keplerd::history
