// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/dbus/manager.h"

#include <limits>
#include <utility>

#include "daemon/publish/dbus/object_path.h"
#include "version.h"

namespace keplerd::dbus {
namespace {

// A bus disconnects senders of larger messages (the system bus: above 32 MiB).
constexpr std::size_t kLargestAnswer = 16 << 20;
// For callers with limited access: it is built in one piece, blocking all others.
constexpr std::size_t kLargestLimitedAnswer = 1 << 20;
// No cgroup path, and so no id, is longer.
constexpr std::size_t kLongestId = 4096;

sdbus::Error no_such(RowKind kind, const std::string& message) {
  return make_error(kErrorPrefix + std::string(row_kind_names(kind).no_such), message);
}

void check_id(RowKind kind, const std::string& id) {
  if (id.size() > kLongestId)
    throw no_such(kind, "no id is longer than " + std::to_string(kLongestId) + " bytes");
}

std::string quality_text(const SourceReport& source) {
  return source.quality ? std::string(quality_name(*source.quality)) : std::string();
}

std::string platform_zone(const Report& report) {
  return report.platform ? report.platform->id : std::string();
}

std::uint64_t if_full(const Report& report, Microjoules energy) {
  return report.full ? number(energy) : kUnknown;
}

}  // namespace

Manager::Manager(sdbus::IConnection& connection, Request& request, Callers& callers, LimitedWork& limited,
                 std::uint64_t& last_subscription)
    : AdaptorInterfaces(connection, sdbus::ObjectPath(kManagerPath)),
      request_(request),
      callers_(callers),
      limited_(limited),
      sent_(now()),
      subscriptions_(connection, getObject(), request, limited, last_subscription) {
  registerAdaptor();
  getObject().addObjectManager();
}

Manager::~Manager() { unregisterAdaptor(); }

Manager::Sent Manager::now() const {
  const auto report = request_.latest(kInside).report;
  const Settings& settings = request_.settings();
  return {.instance_id = report->instance_id,
          .source = report->source.name,
          .quality = quality_text(report->source),
          .reason = report->source.reason.value_or(""),
          .platform = platform_zone(*report),
          .split = std::string(report->rules.split),
          .share = std::string(report->rules.share),
          .idle = std::string(rule_name(settings.attribution.idle)),
          .since = report->since,
          .interval = settings.sampling.interval};
}

void Manager::emit_changes() {
  const Sent before = std::exchange(sent_, now());
  std::vector<PropertyName> names;
  const auto emit = [&](const char* name, const auto& was, const auto& is) {
    if (was != is) names.emplace_back(name);
  };
  emit("SourceName", before.source, sent_.source);
  emit("SourceQuality", before.quality, sent_.quality);
  emit("SourceReason", before.reason, sent_.reason);
  if (!names.empty()) emitSourceChanged(sent_.source, sent_.quality, sent_.reason);
  emit("PlatformZone", before.platform, sent_.platform);
  emit("InstanceId", before.instance_id, sent_.instance_id);
  emit("SinceUSec", before.since, sent_.since);
  emit("Split", before.split, sent_.split);
  emit("Share", before.share, sent_.share);
  emit("Idle", before.idle, sent_.idle);
  emit("IntervalUSec", before.interval, sent_.interval);
  if (!names.empty()) getObject().emitPropertiesChangedSignal(kManagerInterface, names);
}

// `result` keeps the whole message, as large as its sender made it, so it must not be queued.
template <class Value, class F>
void Manager::answer(const sdbus::Result<Value>&, F f) {
  const Sender sender = request_.sender();
  auto waiting = std::make_shared<sdbus::Result<Value>>(answerable(current_message(getObject())));
  const auto answer = [this, sender, waiting, f](const Caller& caller) {
    request_.begin({.name = sender.name, .caller = caller, .path = sender.path});
    try {
      waiting->returnResults(guarded(f));
    } catch (const sdbus::Error& error) {
      waiting->returnError(error);
    }
  };
  callers_.authorize(sender.name, sender.interactive, [this, waiting, answer](const Caller& caller) {
    if (caller.full) return answer(caller);
    try {
      limited_.add(caller.account, [answer, caller] { answer(caller); });
    } catch (const sdbus::Error& error) {
      waiting->returnError(error);
    }
  });
}

void Manager::answer_list(const ListResult& result, RowKind kind, const VariantMap& options) {
  guarded([&] {
    answer(result, [this, kind, asked = parse_list_options(options)] { return list(kind, asked); });
  });
}

void Manager::answer_get(const RowResult& result, RowKind kind, std::string id) {
  guarded([&] {
    check_id(kind, id);
    answer(result, [this, kind, id = std::move(id)] {
      return make_row(request_.with(kind), kind, find(kind, id), true);
    });
  });
}

std::vector<Row> Manager::list(RowKind kind, const ListOptions& asked) {
  const ReportView& view = request_.with(kind);
  std::vector<Row> rows;
  std::size_t size = 0;
  for (const std::size_t row : request_.orders().first(view, kind, asked.order, asked.limit)) {
    rows.push_back(make_row(view, kind, row, asked.details));
    size += size_on_bus(rows.back());
    if (size > (view.report->full ? kLargestAnswer : kLargestLimitedAnswer))
      throw make_error(kLimitsExceeded, "the reply would be too large: request fewer rows");
  }
  return rows;
}

std::size_t Manager::find(RowKind kind, const std::string& id) {
  const FoundRow found = find_row(request_.with(kind), kind, id);
  if (found.index) return *found.index;
  if (found.ids.empty()) throw no_such(kind, "no such object: " + id);
  std::string message = "the name is ambiguous:";
  for (const std::string& other : found.ids) message += " " + other;
  throw make_error(kAmbiguousName, message);
}

void Manager::GetVirtualMachine(PathResult&& result, std::string id) {
  guarded([&] {
    check_id(RowKind::kVms, id);
    answer(result, [this, id = std::move(id)] {
      const VmRow& row = (*request_).vms[find(RowKind::kVms, id)];
      return sdbus::ObjectPath(object_path(kVmPrefix, row.info->id));
    });
  });
}

void Manager::GetZone(PathResult&& result, std::string id) {
  guarded([&] {
    check_id(RowKind::kZones, id);
    answer(result, [this, id = std::move(id)] {
      const ZoneRow& row = (*request_).zones[find(RowKind::kZones, id)];
      return sdbus::ObjectPath(object_path(kZonePrefix, row.zone.id));
    });
  });
}

void Manager::Subscribe(sdbus::Result<std::uint64_t>&& result, VariantMap options) {
  guarded([&] {
    answer(result, [this, asked = parse_subscribe_options(options)] {
      request_.get();
      return subscriptions_.add(request_, asked);
    });
  });
}

void Manager::Unsubscribe(const std::uint64_t& subscription) {
  guarded([&] { subscriptions_.remove(request_.sender().name, subscription); });
}

std::string Manager::Version() {
  return of_report([](const Report&) { return std::string(KEPLERD_VERSION); });
}
std::string Manager::InstanceId() {
  return of_report([](const Report& report) { return report.instance_id; });
}
std::uint64_t Manager::SinceUSec() {
  return of_report([](const Report& report) { return number(report.since); });
}
std::uint64_t Manager::HostEnergy() {
  return of_report([](const Report& report) { return number(report.host.energy); });
}
std::uint64_t Manager::HostActiveEnergy() {
  return of_report([](const Report& report) { return number(report.host.active); });
}
std::uint64_t Manager::HostIdleEnergy() {
  return of_report([](const Report& report) { return number(report.host.idle); });
}
std::uint64_t Manager::HostPower() {
  return of_report([](const Report& report) { return number(report.host.power); });
}
std::uint64_t Manager::HostActivePower() {
  return of_report([](const Report& report) { return number(report.host.active_power); });
}
std::uint64_t Manager::HostIdlePower() {
  return of_report([](const Report& report) { return number(report.host.idle_power); });
}
std::string Manager::PlatformZone() { return of_report(platform_zone); }
std::uint64_t Manager::PlatformEnergy() {
  return of_report(
      [](const Report& report) { return report.platform ? number(report.platform->energy) : kUnknown; });
}
std::uint64_t Manager::PlatformPower() {
  return of_report(
      [](const Report& report) { return report.platform ? number(report.platform->power) : kUnknown; });
}
std::uint64_t Manager::RestEnergy() {
  return of_report([](const Report& report) {
    return report.platform && report.platform->rest ? number(*report.platform->rest) : kUnknown;
  });
}
std::int64_t Manager::RestPower() {
  return of_report([](const Report& report) {
    const bool known = report.platform && report.platform->rest_power;
    return known ? report.platform->rest_power->value : std::numeric_limits<std::int64_t>::min();
  });
}
std::uint64_t Manager::AccountIdle() {
  return of_report([](const Report& report) { return if_full(report, report.accounts.idle); });
}
std::uint64_t Manager::AccountKernel() {
  return of_report([](const Report& report) { return if_full(report, report.accounts.kernel); });
}
std::uint64_t Manager::AccountWorkloads() {
  return of_report([](const Report& report) { return if_full(report, report.accounts.workloads); });
}
std::uint64_t Manager::AccountUnattributed() {
  return of_report([](const Report& report) { return if_full(report, report.accounts.unattributed); });
}
std::uint64_t Manager::OutsideOtherEnergy() {
  return of_report([](const Report& report) { return if_full(report, report.outside_other); });
}
std::uint64_t Manager::OutsideContainersEnergy() {
  return of_report([](const Report& report) {
    return report.outside_containers < Microjoules{} ? kUnknown : if_full(report, report.outside_containers);
  });
}
std::string Manager::SourceName() {
  return of_report([](const Report& report) { return report.source.name; });
}
std::string Manager::SourceQuality() {
  return of_report([](const Report& report) { return quality_text(report.source); });
}
std::string Manager::SourceReason() {
  return of_report([](const Report& report) { return report.source.reason.value_or(""); });
}
std::string Manager::Split() {
  return of_report([](const Report& report) { return std::string(report.rules.split); });
}
std::string Manager::Share() {
  return of_report([](const Report& report) { return std::string(report.rules.share); });
}
std::string Manager::Idle() {
  return of_report(
      [this](const Report&) { return std::string(rule_name(request_.settings().attribution.idle)); });
}
std::uint64_t Manager::IntervalUSec() {
  return of_report([this](const Report&) { return usec(request_.settings().sampling.interval); });
}
std::uint64_t Manager::Sequence() {
  return of_report([](const Report& report) { return report.sequence; });
}
std::uint64_t Manager::RealtimeUSec() {
  return of_report([](const Report& report) { return number(report.realtime); });
}
std::uint64_t Manager::MonotonicUSec() {
  return of_report([](const Report& report) { return usec(report.monotonic); });
}
std::uint64_t Manager::WindowUSec() {
  return of_report([](const Report& report) { return usec(report.window); });
}
std::uint64_t Manager::DiscardedWindows() {
  return of_report([](const Report& report) { return report.discarded_windows; });
}
std::uint64_t Manager::MissedEnds() {
  return of_report([](const Report& report) { return report.missed_ends; });
}
std::vector<ProblemRow> Manager::Problems() {
  return of_report([](const Report& report) {
    std::vector<ProblemRow> rows;
    for (const Problem& problem : report.problems) {
      rows.emplace_back(std::string(problem_kind_name(problem.kind)), problem.object, problem.what,
                        number(problem.since), std::map<std::string, sdbus::Variant>{});
    }
    return rows;
  });
}
std::uint64_t Manager::Subscriptions() {
  return of_report([this](const Report&) { return std::uint64_t{subscriptions_.count()}; });
}

}  // namespace keplerd::dbus
