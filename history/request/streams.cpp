// SPDX-License-Identifier: Apache-2.0
#include "history/request/streams.h"

#include <algorithm>

#include "client/kinds.h"
#include "history/request/reply_json.h"

namespace keplerd::history {
namespace {

using varlink::Json;
using varlink::Reply;

}  // namespace

SteppedStream::Next SteppedStream::next() {
  try {
    if (!request_) request_ = begin();
    const auto state = request_->step();
    is_working_ = state == PeriodRequest::State::kWorking;
    if (state != PeriodRequest::State::kDone) return std::nullopt;
    Reply answer = reply(*request_);
    request_.reset();
    return answer;
  } catch (const DatabaseError& error) {
    return failure("Unreadable", {{"reason", error.what()}});
  }
}

std::unique_ptr<PeriodRequest> QueryStream::begin() {
  span_ = span_of(what_.step, next_);
  next_ = span_.end;
  return std::make_unique<PeriodRequest>(
      means_, PeriodRequest::What{span_, what_.selection, what_.viewer.owner()}, pricing_);
}

Reply QueryStream::reply(const PeriodRequest& request) {
  const Summary& summary = request.summary();
  const bool full = what_.viewer.full;
  Json json = span_json(span_, summary);
  pricing_.describe(json, {request.rated(), summary.recorded, full});
  if (full) {
    pricing_.add(json, whole_of(request.rated()));
    json["energyMicrojoules"] = summary.accounts.energy().value;
    json["accounts"] = accounts_json(summary.accounts);
    if (!what_.selection) add_platform(json, request.platform());
  }
  json["rows"] = Json::array();
  for (const WorkloadEnergy& workload : request.workloads()) {
    Json row = row_json(client::name_of(workload.key.kind),
                        {workload.key.id, workload.name, workload.key.owner, workload.amounts});
    pricing_.add(row, workload.rated);
    json["rows"].push_back(std::move(row));
  }
  return {std::move(json), next_ < what_.period.end};
}

std::unique_ptr<PeriodRequest> ReportStream::begin() {
  const Selection selection{kind_of(what_.by), {}, what_.viewer.owner()};
  return std::make_unique<PeriodRequest>(
      means_, PeriodRequest::What{what_.period, selection, what_.viewer.owner()}, pricing_);
}

Reply ReportStream::reply(const PeriodRequest& request) {
  const Summary& summary = request.summary();
  const bool full = what_.viewer.full;
  const auto recorded = recorded_span(means_.recorder.store().database());
  const Time known = recorded ? std::min(what_.period.end, recorded->end) - what_.period.start : Time{0};
  auto workloads = request.workloads();
  if (what_.by == By::kProject) add_projects(workloads, what_.project);
  const auto shares = shares_of(what_.by, workloads);
  Json json = span_json(what_.period, summary);
  pricing_.describe(json, {request.rated(), summary.recorded, full});
  json["unrecordedUsec"] = std::max(known - summary.recorded, Time{0}).count();
  add_division(json, {name_of(what_.by), shares, full ? &summary : nullptr});
  add_platform(json, request.platform());
  if (pricing_.series() != nullptr) add_costs(json, pricing_, shares, full ? &request.rated() : nullptr);
  return {std::move(json)};
}

}  // namespace keplerd::history
