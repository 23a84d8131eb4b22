// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/energy_streams.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "daemon/publish/report_json.h"
#include "daemon/publish/row_text.h"
#include "report/row_selection.h"
#include "varlink/json_text.h"

namespace keplerd {
namespace {

using varlink::ArrayWriter;
using varlink::Json;
using varlink::ObjectWriter;
using varlink::Reply;
using varlink::ReplyText;
using varlink::write_json;

// Rows per reply of Monitor: some 50 KB, and a millisecond of work.
constexpr std::size_t kRowsAtOnce = 100;

constexpr std::size_t kTextAtOnce = 64 << 10;

Json monitor_json(const Report& report) {
  Json json = beginning_json(report);
  json["sequence"] = report.sequence;
  json["realtimeUsec"] = report.realtime.count();
  json["monotonicUsec"] = to_usec(report.monotonic);
  json["windowUsec"] = to_usec(report.window);
  json["instanceId"] = report.instance_id;
  json["discardedWindows"] = report.discarded_windows;
  json["missedEnds"] = report.missed_ends;
  json["daemonCpuUsec"] = to_usec(report.own_cost.cpu);
  return json;
}

// Of samples that a client waits for.
constexpr Nanoseconds kAwaitedInterval = std::chrono::milliseconds(100);

const IdleTrial* find_trial(const Report& report, IdlePlacing policy) {
  const auto trial = std::ranges::find(report.idle_trials, policy, &IdleTrial::placing);
  return trial == report.idle_trials.end() ? nullptr : &*trial;
}

const std::vector<IdleTrial::Part>& parts_of(const IdleTrial& trial, RowKind kind) {
  if (kind == RowKind::kUnits) return trial.units;
  if (kind == RowKind::kContainers) return trial.containers;
  return kind == RowKind::kPods ? trial.pods : trial.vms;
}

std::optional<Microwatts> active_power(const ReportView& view, RowKind kind, std::size_t index) {
  return with_rows(kind, [&](auto rows_of) -> std::optional<Microwatts> {
    const auto& row = rows_of(view)[index];
    if (!row.power) return std::nullopt;
    return *row.power - row.idle_power.value_or(Microwatts{});
  });
}

bool runs(const ReportView& view, RowKind kind, std::size_t index) {
  return with_rows(kind, [&](auto rows_of) { return is_running(rows_of(view)[index]); });
}

void write_power(ObjectWriter& object, std::string_view name, std::optional<Microwatts> power) {
  if (power) write_json(object.member(name), power->value);
}

}  // namespace

ListStream::ListStream(ReportView view, RowKind kind, RowSequence rows)
    : view_(std::move(view)), kind_(kind), rows_(std::move(rows)) {}

std::optional<std::variant<Reply, varlink::Failure>> ListStream::next() {
  if (rows_.empty()) return Reply{};
  ReplyText text = row_reply(view_, kind_, rows_[position_++]);
  return Reply{std::move(text), position_ < rows_.size()};
}

PolicyListStream::PolicyListStream(Reports& reports, Caller caller, Query query)
    : reports_(reports),
      caller_(caller),
      query_(query),
      request_(reports.idle_requests().start(query.policy)),
      listening_(reports.listen({.full = caller.full, .wanted = kAwaitedInterval})) {
  seen_ = reports.latest(caller, {}).report;
  reports.hurry(caller);
}

std::optional<std::variant<Reply, varlink::Failure>> PolicyListStream::next() {
  if (!caller_.full) return varlink::permission_denied();
  if (!rows_ && !take_sample()) return std::nullopt;
  const std::optional<std::size_t> row = rows_->empty() ? std::nullopt : std::optional((*rows_)[position_++]);
  return Reply{ReplyText([&](std::string& out) { write(out, row); }), position_ < rows_->size()};
}

void PolicyListStream::write(std::string& out, std::optional<std::size_t> row) const {
  ObjectWriter object(out);
  const IdleTrial* const trial = find_trial(*view_.report, query_.policy);
  if (trial != nullptr) write_power(object, "policyHostMicrowatts", trial->host.power);
  if (!row) return;
  write_row(object.member("row"), view_, query_.kind, *row);
  if (trial == nullptr) return;
  const std::optional<Microwatts> idle = parts_of(*trial, query_.kind)[*row].power;
  write_power(object, "policyIdleMicrowatts", idle);
  if (const auto active = active_power(view_, query_.kind, *row); active && idle)
    write_power(object, "policyPowerMicrowatts", *active + *idle);
}

// Whether there is one to reply with.
bool PolicyListStream::take_sample() {
  ReportView view = reports_.latest(caller_, query_.kind);
  if (view.report == seen_) return false;
  seen_ = view.report;
  const IdleTrial* const trial = find_trial(*view.report, query_.policy);
  const bool is_metered = view.report->source.quality.has_value();
  const bool has_it = trial != nullptr && trial->is_complete && (trial->host.power || !is_metered);
  if (!has_it && ++awaited_ < kMostAwaited) return false;
  view_ = std::move(view);
  rows_ = reports_.orders().first(view_, query_.kind, query_.order, query_.limit);
  request_.reset();
  listening_.reset();
  seen_.reset();
  return true;
}

MonitorStream::MonitorStream(Reports& reports, Caller caller, std::optional<RowKind> kind, Rhythm rhythm)
    : reports_(reports),
      caller_(caller),
      kind_(kind),
      rhythm_(rhythm),
      listening_(reports.listen({.full = caller.full,
                                 .wanted = rhythm.interval,
                                 .aligned = rhythm.aligned,
                                 .processes = caller.full && kind == RowKind::kProcesses})) {}

std::optional<std::variant<Reply, varlink::Failure>> MonitorStream::next() {
  if (!sending_) {
    const auto latest = reports_.latest(caller_, {}).report;
    if (!latest) return varlink::permission_denied();
    if (latest == sent_.report) return std::nullopt;
    if (sent_ && !is_due(*latest, *sent_.report, rhythm_.interval, rhythm_.aligned)) return std::nullopt;
    sending_ = reports_.latest(caller_, kind_);
    if (kind_) collect_changes();
  }
  ReplyText text([this](std::string& out) { write(out); });
  if (position_ == changes_.rows.size()) sent_ = std::exchange(sending_, {});
  return Reply{std::move(text), true};
}

void MonitorStream::write(std::string& out) {
  ObjectWriter object(out);
  object.members_of(monitor_json(*sending_.report));
  if (!kind_) return;
  {
    ArrayWriter rows(object.member("rows"));
    const std::size_t end = std::min(position_ + kRowsAtOnce, changes_.rows.size());
    for (; position_ < end; ++position_)
      write_row(rows.element(), sending_, *kind_, changes_.rows[position_]);
  }
  if (!changes_.removed.empty())
    write_json(object.member("removed"), Json(std::exchange(changes_.removed, {})));
  if (!events_.empty()) write_json(object.member("events"), std::exchange(events_, {}));
  if (position_ < changes_.rows.size()) write_json(object.member("partial"), true);
}

void MonitorStream::collect_changes() {
  position_ = 0;
  events_ = Json::array();
  if (kind_ == RowKind::kVms) {
    for (const VmEvent& event : events_since(sent_.report.get(), *sending_.report))
      events_.push_back(event_json(event));
  }
  const std::size_t sent = sent_ ? row_count(sent_, *kind_) : 0;
  changes_ = row_changes(*kind_, sent_, std::views::iota(std::size_t{0}, sent), sending_,
                         std::views::iota(std::size_t{0}, row_count(sending_, *kind_)));
}

MeasureStream::MeasureStream(Reports& reports, Caller caller, Target target, Nanoseconds interval)
    : reports_(reports),
      caller_(caller),
      target_(std::move(target)),
      interval_(interval),
      listening_(reports.listen({.full = caller.full,
                                 .wanted = interval,
                                 .processes = caller.full && target_.kind == RowKind::kProcesses})) {
  if (target_.kind == RowKind::kUnits)
    watched_ = reports.watches().start(
        {.id = target_.id, .user = caller.full ? std::nullopt : std::optional<Uid>(caller.user)});
  awaits_new_ = caller.full;
  reports.hurry(caller);
}

std::optional<std::variant<Reply, varlink::Failure>> MeasureStream::next() {
  const ReportView view = reports_.latest(caller_, target_.kind);
  if (!view) return varlink::permission_denied();
  if (view.report == sent_) return std::nullopt;
  if (sent_) {
    const bool is_new = std::exchange(awaits_new_, false);
    if (!is_new && !is_due(*view.report, *sent_, interval_)) return std::nullopt;
  }
  sent_ = view.report;
  const auto row = find_row(view, target_.kind, target_.id).index;
  ReplyText text([&](std::string& out) {
    ObjectWriter object(out);
    object.members_of(monitor_json(*view.report));
    if (row) write_row(object.member("row"), view, target_.kind, *row);
  });
  const bool is_running = row && runs(view, target_.kind, *row);
  const bool has_ended = std::exchange(was_running_, is_running) && !is_running;
  return Reply{std::move(text), !has_ended};
}

std::optional<std::variant<Reply, varlink::Failure>> RecordStream::next() {
  std::string text = recording_->take_text(kTextAtOnce);
  if (text.empty()) return std::nullopt;
  return Reply{Json{{"text", std::move(text)}}, true};
}

}  // namespace keplerd
