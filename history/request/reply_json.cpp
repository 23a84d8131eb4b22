// SPDX-License-Identifier: Apache-2.0
#include "history/request/reply_json.h"

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "varlink/json.h"

namespace keplerd::history {

using varlink::Json;

namespace {

void add_amounts(Json& json, const Amounts& amounts) {
  json["energyMicrojoules"] = amounts.energy().value;
  json["activeMicrojoules"] = amounts.active.value;
  json["idleMicrojoules"] = amounts.idle.value;
}

}  // namespace

varlink::Failure failure(std::string_view name, Json parameters) {
  return {std::string(kInterface) + "." + std::string(name), std::move(parameters)};
}

Json span_json(const Span& span, const Summary& summary) {
  return {{"fromUsec", span.start.count()},
          {"toUsec", span.end.count()},
          {"recordedUsec", summary.recorded.count()}};
}

Json accounts_json(const Accounts& accounts) {
  return {{"idle", accounts.idle.value},
          {"kernel", accounts.kernel.value},
          {"workloads", accounts.workloads.value},
          {"unattributed", accounts.unattributed.value}};
}

Json row_json(std::string_view kind, const Share& share) {
  Json json = {{"id", share.id}};
  if (!share.name.empty()) json["name"] = share.name;
  json["kind"] = kind;
  if (share.owner) json["ownerUid"] = *share.owner;
  add_amounts(json, share.amounts);
  return json;
}

void add_platform(Json& json, const std::optional<WorkloadEnergy>& platform) {
  if (!platform) return;
  json["platformMicrojoules"] = platform->amounts.energy().value;
  json["platformMeter"] = platform->key.id;
}

Json budget_json(const BudgetUse& use) {
  Json json = {{"budget", use.budget.text},
               {"subject", use.budget.subject()},
               {"limitMicrojoules", use.budget.limit.value},
               {"fromUsec", use.period.start.count()},
               {"toUsec", use.period.end.count()}};
  if (use.problem.empty()) {
    json["usedMicrojoules"] = use.used.value;
  } else {
    json["problem"] = use.problem;
  }
  return json;
}

Rated whole_of(const RatedSummary& summary) {
  Rated whole = summary.idle;
  for (const Rated& other : {summary.kernel, summary.workloads, summary.unattributed}) whole += other;
  return whole;
}

void add_division(Json& json, const Divided& divided) {
  Microjoules listed;
  json["rows"] = Json::array();
  for (const Share& share : divided.shares) {
    listed += share.amounts.energy();
    json["rows"].push_back(row_json(divided.by, share));
  }
  if (divided.host == nullptr) return;
  const Accounts& accounts = divided.host->accounts;
  json["energyMicrojoules"] = accounts.energy().value;
  json["accounts"] = {{"idle", accounts.idle.value},
                      {"kernel", accounts.kernel.value},
                      {"unattributed", accounts.unattributed.value},
                      {"other", (accounts.workloads - listed).value}};
}

void add_costs(Json& json, const Pricing& pricing, const std::vector<Share>& shares,
               const RatedSummary* host) {
  constexpr std::array<const char*, 4> kAccounts = {"idle", "kernel", "unattributed", "other"};
  // All fields first: an object that grows moves its values.
  if (host != nullptr) {
    for (const char* const name : kAccounts) json["accountCosts"][name] = Json::object();
  }
  std::vector<Pricing::Part> parts;
  for (std::size_t i = 0; i < shares.size(); ++i) parts.push_back({json["rows"][i], shares[i].rated});
  if (host == nullptr) {
    pricing.add(parts);
    return;
  }
  Rated other = host->workloads;
  for (const Share& share : shares) other -= share.rated;
  const std::array<Rated, 4> rated = {host->idle, host->kernel, host->unattributed, other};
  for (std::size_t i = 0; i < kAccounts.size(); ++i)
    parts.push_back({json["accountCosts"][kAccounts[i]], rated[i]});
  pricing.add(parts);
  pricing.add(json, whole_of(*host));
}

}  // namespace keplerd::history
