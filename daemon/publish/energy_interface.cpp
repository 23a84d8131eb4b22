// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/energy_interface.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include <systemd/sd-id128.h>

#include "daemon/convert_settings.h"
#include "daemon/publish/energy_streams.h"
#include "daemon/publish/report_json.h"
#include "daemon/publish/row_text.h"
#include "energy_idl.h"
#include "report/row_selection.h"

namespace keplerd {
namespace {

using varlink::Answer;
using varlink::Call;
using varlink::Failure;
using varlink::Json;
using varlink::Reply;

// The longest time between two replies that may be asked for.
constexpr std::int64_t kLongestInterval = std::chrono::microseconds(std::chrono::hours(24 * 365)).count();

// Each has a sample of its own.
constexpr Nanoseconds kShortestAligned = std::chrono::seconds(1);

constexpr char kInterface[] = "org.keplerd.Energy";

Failure failure(std::string_view name, Json parameters) {
  return {std::string(kInterface) + "." + std::string(name), std::move(parameters)};
}

// A parameter that may be absent or null; sets `bad` if it has another type.
template <class T>
struct Parameter {
  std::optional<T> value;
  bool bad = false;
};

const Json* find(const Call& call, const char* name) {
  const auto parameter = call.parameters.find(name);
  return parameter == call.parameters.end() || parameter->is_null() ? nullptr : &*parameter;
}

Parameter<std::string> text(const Call& call, const char* name) {
  const Json* const json = find(call, name);
  if (json == nullptr) return {};
  if (!json->is_string()) return {std::nullopt, true};
  return {json->get<std::string>()};
}

// A non-negative number, capped at the largest value of the type.
Parameter<std::int64_t> number(const Call& call, const char* name) {
  const Json* const json = find(call, name);
  if (json == nullptr) return {};
  if (!json->is_number_integer()) return {std::nullopt, true};
  if (json->is_number_unsigned() && json->get<std::uint64_t>() > INT64_MAX) return {INT64_MAX};
  if (json->get<std::int64_t>() < 0) return {std::nullopt, true};
  return {json->get<std::int64_t>()};
}

Parameter<bool> boolean(const Call& call, const char* name) {
  const Json* const json = find(call, name);
  if (json == nullptr) return {};
  if (!json->is_boolean()) return {std::nullopt, true};
  return {json->get<bool>()};
}

Parameter<RowKind> kind_of(const Call& call) {
  const auto name = text(call, "kind");
  if (!name.value) return {std::nullopt, name.bad};
  const auto kind = parse_row_kind(*name.value);
  return {kind, !kind};
}

// Processes have idle energy only as VMs, and zones are no workloads.
Parameter<IdlePolicy> idle_policy_of(const Call& call, RowKind kind) {
  const auto name = text(call, "idle");
  if (!name.value) return {std::nullopt, name.bad};
  const auto policy = parse_idle_policy(*name.value);
  const bool has_policies = kind != RowKind::kProcesses && kind != RowKind::kZones;
  return {policy, !policy || !has_policies};
}

Caller caller_of(const Reports& reports, const Call& call) {
  return reports.identify(call.peer.uid, call.peer.groups);
}

Answer get_status(Reports& reports, const Call& call) {
  const ReportView view = reports.fresh(caller_of(reports, call), {});
  if (!view) return varlink::permission_denied();
  return Reply{status_json(*view.report, reports.settings())};
}

Answer list(Reports& reports, const Call& call) {
  if (!call.more) return varlink::expected_more();
  const auto kind = kind_of(call);
  if (!kind.value) return varlink::invalid_parameter("kind");
  const auto limit = number(call, "limit");
  if (limit.bad) return varlink::invalid_parameter("limit");
  const auto sort = text(call, "sort");
  const auto order = parse_row_order(sort.value.value_or("energy"));
  if (sort.bad || !order) return varlink::invalid_parameter("sort");
  const auto idle = idle_policy_of(call, *kind.value);
  if (idle.bad) return varlink::invalid_parameter("idle");

  const Caller caller = caller_of(reports, call);
  const auto most = static_cast<std::size_t>(limit.value.value_or(INT64_MAX));
  if (idle.value) {
    if (!caller.full) return varlink::permission_denied();
    return std::make_unique<PolicyListStream>(
        reports, caller, PolicyListStream::Query{*kind.value, *order, most, idle_placing(*idle.value)});
  }
  const ReportView view = reports.fresh(caller, kind.value);
  if (!view) return varlink::permission_denied();
  return std::make_unique<ListStream>(view, *kind.value,
                                      reports.orders().first(view, *kind.value, *order, most));
}

Answer get(Reports& reports, const Call& call) {
  const auto kind = kind_of(call);
  if (!kind.value) return varlink::invalid_parameter("kind");
  const auto id = text(call, "id");
  if (!id.value) return varlink::invalid_parameter("id");

  const ReportView view = reports.fresh(caller_of(reports, call), kind.value);
  if (!view) return varlink::permission_denied();
  const FoundRow found = find_row(view, *kind.value, *id.value);
  if (found.index) return Reply{row_reply(view, *kind.value, *found.index)};
  if (found.ids.empty()) return failure(row_kind_names(*kind.value).no_such, {{"id", *id.value}});
  return failure("AmbiguousName", {{"name", *id.value}, {"ids", found.ids}});
}

Nanoseconds wanted(std::optional<std::int64_t> interval) {
  return std::chrono::microseconds(std::min(interval.value_or(0), kLongestInterval));
}

Answer monitor(Reports& reports, const Call& call) {
  if (!call.more) return varlink::expected_more();
  const auto kind = kind_of(call);
  if (kind.bad) return varlink::invalid_parameter("kind");
  const auto interval = number(call, "intervalUsec");
  if (interval.bad) return varlink::invalid_parameter("intervalUsec");
  const auto aligned = boolean(call, "aligned");
  if (aligned.bad) return varlink::invalid_parameter("aligned");
  const MonitorStream::Rhythm rhythm{wanted(interval.value), aligned.value.value_or(false)};
  if (rhythm.aligned && rhythm.interval < kShortestAligned) return varlink::invalid_parameter("intervalUsec");
  const auto as_public = boolean(call, "public");
  if (as_public.bad) return varlink::invalid_parameter("public");
  const Caller asking = caller_of(reports, call);
  const Caller caller = as_public.value.value_or(false) ? asking.as_public() : asking;
  if (!reports.fresh(caller, kind.value)) return varlink::permission_denied();
  return std::make_unique<MonitorStream>(reports, caller, kind.value, rhythm);
}

Answer measure(Reports& reports, const Call& call) {
  constexpr std::size_t kLongestId = 4096;
  if (!call.more) return varlink::expected_more();
  const auto kind = kind_of(call);
  if (!kind.value) return varlink::invalid_parameter("kind");
  const auto id = text(call, "id");
  if (!id.value || id.value->size() > kLongestId) return varlink::invalid_parameter("id");
  const auto interval = number(call, "intervalUsec");
  if (interval.bad) return varlink::invalid_parameter("intervalUsec");

  const Caller caller = caller_of(reports, call);
  const ReportView view = reports.fresh(caller, kind.value);
  if (!view) return varlink::permission_denied();
  const FoundRow found = find_row(view, *kind.value, *id.value);
  if (!found.ids.empty()) return failure("AmbiguousName", {{"name", *id.value}, {"ids", found.ids}});
  // A unit may be one that was started a moment ago.
  if (!found.index && kind.value != RowKind::kUnits)
    return failure(row_kind_names(*kind.value).no_such, {{"id", *id.value}});
  std::string exact = found.index ? row_key(view, *kind.value, *found.index).id_text() : *id.value;
  return std::make_unique<MeasureStream>(
      reports, caller, MeasureStream::Target{*kind.value, std::move(exact)}, wanted(interval.value));
}

// Names this machine to those who know it, and to nobody else; unset if it has no id.
std::optional<std::string> host_id() {
  constexpr sd_id128_t kTraces =
      SD_ID128_MAKE(3b, 2f, 8e, 0c, 51, 7d, 44, a6, 9e, 12, c4, 60, d8, 7a, 95, e1);
  sd_id128_t id{};
  if (sd_id128_get_machine_app_specific(kTraces, &id) < 0) return std::nullopt;
  std::array<char, SD_ID128_STRING_MAX> text{};
  return sd_id128_to_string(id, text.data());
}

// Nobody keeps it.
HashKey random_key() {
  sd_id128_t id{};
  if (sd_id128_randomize(&id) < 0) throw std::runtime_error("no random numbers");
  HashKey key;
  static_assert(sizeof key == sizeof id);
  std::memcpy(key.data(), &id, sizeof key);
  return key;
}

Answer record(Reports& reports, const Call& call) {
  if (!call.more) return varlink::expected_more();
  const auto interval = number(call, "intervalUsec");
  if (interval.bad) return varlink::invalid_parameter("intervalUsec");
  const auto anonymize = boolean(call, "anonymize");
  if (anonymize.bad) return varlink::invalid_parameter("anonymize");
  const Caller caller = caller_of(reports, call);
  if (!caller.full) return varlink::permission_denied();
  TraceSettings settings{.host = host_id()};
  if (anonymize.value.value_or(false)) settings.scramble_with = random_key();
  auto recording = reports.recorder().start(std::move(settings));
  if (!recording) return failure("TooManyRecordings", Json::object());
  return std::make_unique<RecordStream>(std::move(recording),
                                        reports.listen({.full = true, .wanted = wanted(interval.value)}));
}

}  // namespace

void add_energy_interface(varlink::Server& server, Reports& reports) {
  const auto bind = [&reports](Answer (*method)(Reports&, const Call&)) {
    return [&reports, method](const Call& call) { return method(reports, call); };
  };
  server.add({.name = kInterface,
              .description = kEnergyIdl,
              .methods = {{"GetStatus", bind(get_status)},
                          {"List", bind(list)},
                          {"Get", bind(get)},
                          {"Monitor", bind(monitor)},
                          {"Measure", bind(measure)},
                          {"Record", bind(record)}}});
}

}  // namespace keplerd
