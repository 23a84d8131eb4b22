// SPDX-License-Identifier: Apache-2.0
#include "history/interface.h"

#include <algorithm>
#include <array>
#include <utility>

#include "history/follower.h"
#include "history/pricing.h"
#include "history/shares.h"
#include "history/store/query.h"
#include "history_idl.h"
#include "varlink/fields.h"

namespace keplerd::history {
namespace {

using varlink::Answer;
using varlink::Call;
using varlink::Failure;
using varlink::integer_field;
using varlink::Json;
using varlink::Reply;
using varlink::string_field;

constexpr char kInterface[] = "org.keplerd.History";
constexpr std::string_view kHost = "host";
constexpr std::size_t kMostSpans = 10'000;
constexpr Time kLast = std::chrono::hours(24 * 366 * 400);  // far enough, and calculations do not overflow

Failure failure(std::string_view name, Json parameters) {
  return {std::string(kInterface) + "." + std::string(name), std::move(parameters)};
}

Json span_json(const Span& span, const Summary& summary) {
  return {{"fromUsec", span.start.count()},
          {"toUsec", span.end.count()},
          {"recordedUsec", summary.recorded.count()}};
}

void add_amounts(Json& json, const Amounts& amounts) {
  json["energyMicrojoules"] = amounts.energy().value;
  json["activeMicrojoules"] = amounts.active.value;
  json["idleMicrojoules"] = amounts.idle.value;
}

Json row_json(std::string_view kind, const Share& share) {
  Json json = {{"id", share.id}};
  if (!share.name.empty()) json["name"] = share.name;
  json["kind"] = kind;
  if (share.owner) json["ownerUid"] = *share.owner;
  add_amounts(json, share.amounts);
  return json;
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

std::optional<Span> period_of(const Json& parameters, const char** bad) {
  const auto from = integer_field(parameters, "fromUsec"), to = integer_field(parameters, "toUsec");
  *bad = "fromUsec";
  if (!from || *from < 0 || Time(*from) >= kLast) return std::nullopt;
  *bad = "toUsec";
  if (!to || *to <= *from) return std::nullopt;
  return Span{Time(*from), std::min(Time(*to), kLast)};
}

Rated whole_of(const RatedSummary& summary) {
  Rated whole = summary.idle;
  for (const Rated& other : {summary.kernel, summary.workloads, summary.unattributed}) whole += other;
  return whole;
}

// What no row of a report has.
Json accounts_json(const Accounts& accounts, Microjoules listed) {
  return {{"idle", accounts.idle.value},
          {"kernel", accounts.kernel.value},
          {"unattributed", accounts.unattributed.value},
          {"other", (accounts.workloads - listed).value}};
}

// Adds the costs of the rows and of what is in none of them: together, that of the host.
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

// One reply per span.
class QueryStream : public varlink::Stream {
 public:
  QueryStream(Database& database, std::vector<Span> spans, std::optional<Selection> selection, bool full,
              Pricing pricing)
      : database_(database),
        spans_(std::move(spans)),
        selection_(std::move(selection)),
        full_(full),
        pricing_(std::move(pricing)) {}

  std::optional<std::variant<Reply, Failure>> next() override {
    try {
      const Span& span = spans_.at(next_++);
      const Summary summary = summary_of(database_, span);
      Json json = span_json(span, summary);
      const auto rated = pricing_.rate(database_, span);
      pricing_.describe(json, rated, summary.recorded);
      if (full_) {
        if (rated) pricing_.add(json, whole_of(rated->summary()));
        const Accounts& accounts = summary.accounts;
        json["energyMicrojoules"] = accounts.energy().value;
        json["accounts"] = {{"idle", accounts.idle.value},
                            {"kernel", accounts.kernel.value},
                            {"workloads", accounts.workloads.value},
                            {"unattributed", accounts.unattributed.value}};
      }
      json["rows"] = Json::array();
      if (selection_) {
        auto workloads = energy_of(database_, span, *selection_);
        if (rated) rated->rate(database_, workloads);
        for (const WorkloadEnergy& workload : workloads) {
          Json row = row_json(client::name_of(selection_->kind),
                              {workload.key.id, workload.name, workload.key.owner, workload.amounts});
          pricing_.add(row, workload.rated);
          json["rows"].push_back(std::move(row));
        }
      }
      return Reply{std::move(json), next_ < spans_.size()};
    } catch (const DatabaseError& error) {
      return failure("Unreadable", {{"reason", error.what()}});
    }
  }

 private:
  Database& database_;
  std::vector<Span> spans_;
  std::optional<Selection> selection_;  // unset: the host
  bool full_;
  Pricing pricing_;
  std::size_t next_ = 0;
};

std::vector<Span> spans_of(Step step, const Span& period) {
  std::vector<Span> spans;
  for (Span span = span_of(step, period.start); span.start < period.end && spans.size() <= kMostSpans;
       span = span_of(step, span.end))
    spans.push_back(span);
  return spans;
}

class Interface {
 public:
  explicit Interface(Shown shown) : shown_(std::move(shown)) {}

  Answer get_status(const Call&) {
    shown_.recorder.flush();
    const auto recorded = recorded_span(database());
    Json json = Json::object();
    if (recorded)
      json = {{"recordedSinceUsec", recorded->start.count()}, {"lastReadingUsec", recorded->end.count()}};
    if (!shown_.recorder.problem().empty()) json["problem"] = shown_.recorder.problem();
    if (!shown_.keplerd.empty()) json["keplerd"] = shown_.keplerd;
    return Reply{std::move(json)};
  }

  Answer list_budgets(const Call& call) {
    if (!shown_.identify(call.peer).full) return varlink::permission_denied();
    Json budgets = Json::array();
    for (const BudgetUse& use : shown_.budgets()) budgets.push_back(budget_json(use));
    return Reply{{{"budgets", std::move(budgets)}}};
  }

  Answer query(const Call& call) {
    if (!call.more) return varlink::expected_more();
    const Viewer viewer = shown_.identify(call.peer);
    const char* bad = nullptr;
    const auto period = period_of(call.parameters, &bad);
    if (!period) return varlink::invalid_parameter(bad);
    const auto step = parse_step(string_field(call.parameters, "step").value_or(""));
    if (!step) return varlink::invalid_parameter("step");
    std::vector<Span> spans = spans_of(*step, *period);
    if (spans.size() > kMostSpans) return varlink::invalid_parameter("step");

    const auto kind_name = string_field(call.parameters, "kind").value_or("");
    std::optional<Selection> selection;
    if (kind_name == kHost) {
      if (!viewer.full) return varlink::permission_denied();
    } else {
      const client::KindInfo* const kind = client::find_kind(kind_name);
      const bool is_recorded = kind != nullptr && std::ranges::count(kRecorded, kind->kind) > 0;
      if (!is_recorded) return varlink::invalid_parameter("kind");
      selection = {kind->kind, {}, viewer.owner()};
    }
    shown_.recorder.flush();
    if (const auto id = string_field(call.parameters, "id"); selection && id) {
      auto ids = find_ids(database(), *selection, *id);
      if (ids.empty()) return failure("NoSuchWorkload", {{"id", *id}});
      if (ids.size() > 1) return failure("AmbiguousName", {{"name", *id}, {"ids", std::move(ids)}});
      selection->id = std::move(ids.front());
    }
    const Span whole{spans.front().start, spans.back().end};
    return std::make_unique<QueryStream>(database(), std::move(spans), std::move(selection), viewer.full,
                                         Pricing(shown_.cost_config, whole, recorded_span(database())));
  }

  Answer report(const Call& call) {
    const Viewer viewer = shown_.identify(call.peer);
    const char* bad = nullptr;
    auto period = period_of(call.parameters, &bad);
    if (!period) return varlink::invalid_parameter(bad);
    const auto by = parse_by(string_field(call.parameters, "by").value_or(""));
    if (!by) return varlink::invalid_parameter("by");
    period->start = span_of(Step::kFiveMinutes, period->start).start;
    period->end = span_of(Step::kFiveMinutes, period->end - Time(1)).end;

    shown_.recorder.flush();
    const Summary summary = summary_of(database(), *period);
    const auto recorded = recorded_span(database());
    Pricing pricing(shown_.cost_config, *period, recorded);
    const auto rated = pricing.rate(database(), *period);
    auto workloads = energy_of(database(), *period, {kind_of(*by), {}, viewer.owner()});
    if (*by == By::kProject) add_projects(workloads, shown_.project);
    if (rated) rated->rate(database(), workloads);
    const auto shares = shares_of(*by, workloads);
    Json json = span_json(*period, summary);
    pricing.describe(json, rated, summary.recorded);
    const Time known = recorded ? std::min(period->end, recorded->end) - period->start : Time{0};
    json["unrecordedUsec"] = std::max(known - summary.recorded, Time{0}).count();
    Microjoules listed;
    Json rows = Json::array();
    for (const Share& share : shares) {
      listed += share.amounts.energy();
      rows.push_back(row_json(string_field(call.parameters, "by").value_or(""), share));
    }
    if (viewer.full) {
      json["energyMicrojoules"] = summary.accounts.energy().value;
      json["accounts"] = accounts_json(summary.accounts, listed);
    }
    json["rows"] = std::move(rows);
    if (rated) add_costs(json, pricing, shares, viewer.full ? &rated->summary() : nullptr);
    return Reply{std::move(json)};
  }

 private:
  Database& database() { return shown_.recorder.store().database(); }
  Shown shown_;
};

}  // namespace

void add_history_interface(varlink::Server& server, Shown shown) {
  const auto interface = std::make_shared<Interface>(std::move(shown));
  const auto bind = [&interface](Answer (Interface::*method)(const Call&)) {
    return [interface, method](const Call& call) -> Answer {
      update_time_zone();
      try {
        return (*interface.*method)(call);
      } catch (const DatabaseError& error) {
        return failure("Unreadable", {{"reason", error.what()}});
      }
    };
  };
  server.add({.name = kInterface,
              .description = kHistoryIdl,
              .methods = {{"GetStatus", bind(&Interface::get_status)},
                          {"ListBudgets", bind(&Interface::list_budgets)},
                          {"Query", bind(&Interface::query)},
                          {"Report", bind(&Interface::report)}}});
}

}  // namespace keplerd::history
