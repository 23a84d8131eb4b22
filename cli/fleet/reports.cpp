// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet/reports.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "cli/fields.h"

namespace keplerd::cli::fleet {
namespace {

constexpr const char* kEnergy = "energyMicrojoules";
constexpr std::array<const char*, 2> kCosts = {"costMicro", "milligramsCO2e"};
// No host draws more: 2000 years at 1 MW, so that a thousand of them can be added.
constexpr std::int64_t kMostAmount = std::int64_t{1} << 53;

// Whether all amounts in it can be added up.
bool is_possible(const Json& value) {
  if (value.is_number()) {
    const bool is_integer = value.is_number_integer() || value.is_number_unsigned();
    return is_integer && value >= 0 && value <= kMostAmount;
  }
  return !value.is_structured() || std::ranges::all_of(value, is_possible);
}

void add(Json& to, const char* name, const Json& from) {
  const auto amount = integer_field(from, name);
  if (amount) to[name] = integer_field(to, name).value_or(0) + *amount;
}

// Of a caller who does not see the host there: what its rows add up to.
std::int64_t energy_of(const Json& report) {
  if (const auto energy = integer_field(report, kEnergy)) return *energy;
  std::int64_t sum = 0;
  for (const Json& row : client::elements(field(report, "rows")))
    sum += integer_field(row, kEnergy).value_or(0);
  return sum;
}

void add_report(Json& sum, const Json& report) {
  for (const char* const name : {"recordedUsec", "unrecordedUsec", "meanRateUsec", "noIntensityUsec"})
    add(sum, name, report);
  sum[kEnergy] = sum[kEnergy].get<std::int64_t>() + energy_of(report);
  for (const auto& [account, energy] : field(report, "accounts").items())
    add(sum["accounts"], account.c_str(), field(report, "accounts"));
  if (const Json& wall = field(report, "wall"); wall.is_object()) {
    sum["wall"]["quality"] = field(wall, "quality");
    add(sum["wall"], "rowsMicrojoules", wall);
  }
  for (const char* const cost : kCosts) {
    add(sum, cost, report);
    for (const auto& [account, costs] : field(report, "accountCosts").items())
      add(sum["accountCosts"][account], cost, costs);
  }
}

// Where a host does not know it, a sum would be too small.
void keep_complete_costs(Json& sum, const std::vector<const Json*>& reports) {
  std::set<std::string> currencies;
  for (const Json* report : reports) currencies.insert(client::text(*report, "currency"));
  if (currencies.size() == 1 && !currencies.begin()->empty()) sum["currency"] = *currencies.begin();
  for (const char* const cost : kCosts) {
    const bool all = std::ranges::all_of(
        reports, [cost](const Json* report) { return integer_field(*report, cost).has_value(); });
    if (all && (cost != kCosts[0] || sum.contains("currency"))) continue;
    sum.erase(cost);
    for (Json& costs : sum["accountCosts"]) costs.erase(cost);
  }
}

}  // namespace

Json report_json(std::vector<Reply>& replies) {
  Json sum = {{"fromUsec", nullptr}, {"toUsec", nullptr}, {kEnergy, 0}};
  sum["accounts"] = sum["accountCosts"] = Json::object();
  std::vector<Json> rows;
  std::vector<const Json*> reports;
  for (Reply& reply : replies) {
    const Json& report = field(reply.value, "report");
    if (!reply.answered()) continue;
    if (!is_possible(report)) {
      reply.problem = "its report contains impossible amounts";
      continue;
    }
    for (const char* const name : {"fromUsec", "toUsec"}) {
      if (sum[name].is_null()) sum[name] = field(report, name);
    }
    add_report(sum, report);
    reports.push_back(&report);
    std::ranges::move(rows_of({reply.host, report, ""}, "rows"), std::back_inserter(rows));
  }
  keep_complete_costs(sum, reports);
  std::ranges::stable_sort(rows, [](const Json& a, const Json& b) {
    return integer_field(a, kEnergy).value_or(0) > integer_field(b, kEnergy).value_or(0);
  });
  sum["rows"] = std::move(rows);
  return sum;
}

}  // namespace keplerd::cli::fleet
