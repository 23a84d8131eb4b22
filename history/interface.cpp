// SPDX-License-Identifier: Apache-2.0
#include "history/interface.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "event/sources.h"
#include "history/follower.h"
#include "history/request/readers.h"
#include "history/request/reply_json.h"
#include "history/request/streams.h"
#include "history/store/labels.h"
#include "history/store/query.h"
#include "history_idl.h"
#include "varlink/fields.h"

namespace keplerd::history {
namespace {

using varlink::Answer;
using varlink::Call;
using varlink::integer_field;
using varlink::Json;
using varlink::Reply;
using varlink::string_field;

constexpr std::string_view kHost = "host";
constexpr std::int64_t kMostSpans = 10'000;
constexpr Time kLast = std::chrono::hours(24 * 366 * 400);  // far enough, and calculations do not overflow

std::optional<Span> period_of(const Json& parameters, const char** bad) {
  const auto from = integer_field(parameters, "fromUsec"), to = integer_field(parameters, "toUsec");
  *bad = "fromUsec";
  if (!from || *from < 0 || Time(*from) >= kLast) return std::nullopt;
  *bad = "toUsec";
  if (!to || *to <= *from) return std::nullopt;
  return Span{Time(*from), std::min(Time(*to), kLast)};
}

class Interface {
 public:
  Interface(Shown shown, varlink::Server& server)
      : shown_(std::move(shown)),
        readers_(shown_.recorder.store().path(), [this] { returned_.request(); }),
        labels_(database()),
        rates_(shown_.cost_config),
        server_(server) {}

  // Requests that wait for a reader go on when one is returned.
  Result<Done> attach(sd_event* event) {
    return returned_.attach(event, "continuing requests", [this] { server_.wake(); });
  }

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
    return Reply{Json{{"budgets", std::move(budgets)}}};
  }

  Answer query(const Call& call) {
    if (!call.more) return varlink::expected_more();
    const Viewer viewer = shown_.identify(call.peer);
    const char* bad = nullptr;
    const auto period = period_of(call.parameters, &bad);
    if (!period) return varlink::invalid_parameter(bad);
    const auto step = parse_step(string_field(call.parameters, "step").value_or(""));
    if (!step || period->length() / usual_length(*step) >= kMostSpans)
      return varlink::invalid_parameter("step");

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
    return std::make_unique<QueryStream>(
        means(), QueryStream::What{*step, *period, std::move(selection), viewer}, pricing(*period));
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
    return varlink::Later{std::make_unique<ReportStream>(
        means(), ReportStream::What{*by, *period, viewer, shown_.project}, pricing(*period))};
  }

 private:
  Database& database() { return shown_.recorder.store().database(); }
  PeriodRequest::Means means() { return {shown_.recorder, readers_, labels_}; }
  // Nothing is recorded before the first span.
  Pricing pricing(const Span& period) {
    const auto recorded = recorded_span(database());
    return Pricing(rates_.from(recorded ? std::max(period.start, recorded->start) : period.start));
  }

  Shown shown_;
  Readers readers_;
  Labels labels_;
  Rates rates_;
  varlink::Server& server_;
  Deferred returned_;
};

}  // namespace

Result<Done> add_history_interface(varlink::Server& server, sd_event* event, Shown shown) {
  const auto interface = std::make_shared<Interface>(std::move(shown), server);
  if (const auto attached = interface->attach(event); !attached) return attached;
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
  return Done{};
}

}  // namespace keplerd::history
