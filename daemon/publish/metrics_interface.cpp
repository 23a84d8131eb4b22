// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/metrics_interface.h"

#include <array>
#include <string>
#include <vector>

#include "metrics_idl.h"
#include "report/row_selection.h"

namespace keplerd {
namespace {

using varlink::Answer;
using varlink::Call;
using varlink::Failure;
using varlink::Json;
using varlink::Reply;

constexpr char kInterface[] = "io.systemd.Metrics";
// The name of the link in /run/systemd/report/, with which each metric's name must begin.
constexpr char kPrefix[] = "org.keplerd.Energy.";

struct Metric {
  std::size_t family;
  std::int64_t value;
  std::string object, id;  // empty: none
};

using Metrics = std::vector<Metric>;

struct Source {
  const ReportView& view;
  RowOrders& orders;

  const Report* operator->() const { return view.report.get(); }
};

void add_power(Metrics& metrics, std::size_t family, const std::optional<Microwatts>& power,
               std::string object = {}, std::string id = {}) {
  if (power) metrics.push_back({family, power->value, std::move(object), std::move(id)});
}

void add_accounts(const Source& source, std::size_t family, Metrics& metrics) {
  if (!source->full) return;
  const AccountsReport& accounts = source->accounts;
  metrics.push_back({family, accounts.idle.value, "idle", {}});
  metrics.push_back({family, accounts.kernel.value, "kernel", {}});
  metrics.push_back({family, accounts.unattributed.value, "unattributed", {}});
  metrics.push_back({family, accounts.workloads.value, "workloads", {}});
}

void add_units(const Source& source, std::size_t family, Metrics& metrics) {
  const std::size_t before = metrics.size();
  for (const std::size_t i :
       source.orders.first(source.view, RowKind::kUnits, RowOrder::kEnergy, source->units.size())) {
    const UnitRow& row = source->units[i];
    if (!row.info->is_unit || !row.running) continue;
    if (metrics.size() - before == kMostUnitMetrics) return;
    metrics.push_back({family, (row.active + row.idle).value, row.info->name, row.info->id});
  }
}

void add_vms(const Source& source, std::size_t family, Metrics& metrics) {
  for (const std::size_t i :
       source.orders.first(source.view, RowKind::kVms, RowOrder::kEnergy, kMostVmMetrics)) {
    const VmRow& row = source->vms[i];
    metrics.push_back({family, (row.active + row.idle).value, row.info->name, row.info->id});
  }
}

struct Family {
  const char* name;
  const char* type;
  const char* description;
  void (*add)(const Source& source, std::size_t family, Metrics& metrics);
};

constexpr std::array<Family, 9> kFamilies = {{
    {"AccountEnergyMicrojoules", "counter", "Energy of the host by account; the accounts add up to the host",
     add_accounts},
    {"HostActiveMicrojoules", "counter", "Energy of the host that is due to load",
     [](const Source& source, std::size_t family, Metrics& metrics) {
       metrics.push_back({family, source->host.active.value, {}, {}});
     }},
    {"HostEnergyMicrojoules", "counter", "Energy of the host: packages and the DRAM outside them",
     [](const Source& source, std::size_t family, Metrics& metrics) {
       metrics.push_back({family, source->host.energy.value, {}, {}});
     }},
    {"HostIdleMicrojoules", "counter", "Energy of the host that is not due to load",
     [](const Source& source, std::size_t family, Metrics& metrics) {
       metrics.push_back({family, source->host.idle.value, {}, {}});
     }},
    {"HostPowerMicrowatts", "gauge", "Power of the host, the mean of the last window",
     [](const Source& source, std::size_t family, Metrics& metrics) {
       add_power(metrics, family, source->host.power);
     }},
    {"UnitEnergyMicrojoules", "counter", "Energy of a running systemd unit and all below it", add_units},
    {"VirtualMachineEnergyMicrojoules", "counter", "Energy of a virtual machine", add_vms},
    {"ZoneEnergyMicrojoules", "counter", "Energy of an energy zone",
     [](const Source& source, std::size_t family, Metrics& metrics) {
       for (const ZoneRow& zone : source->zones) {
         metrics.push_back({family, zone.energy.value, zone.zone.name, zone.zone.id});
       }
     }},
    {"ZonePowerMicrowatts", "gauge", "Power of an energy zone, the mean of the last window",
     [](const Source& source, std::size_t family, Metrics& metrics) {
       for (const ZoneRow& zone : source->zones) {
         add_power(metrics, family, zone.power, zone.zone.name, zone.zone.id);
       }
     }},
}};

std::string full_name(std::size_t family) { return std::string(kPrefix) + kFamilies[family].name; }

class MetricsStream : public varlink::Stream {
 public:
  explicit MetricsStream(Metrics metrics) : metrics_(std::move(metrics)) {}

  std::optional<std::variant<Reply, Failure>> next() override {
    const Metric& metric = metrics_[position_++];
    Json json = {{"name", full_name(metric.family)}, {"value", metric.value}};
    if (!metric.object.empty()) json["object"] = metric.object;
    if (!metric.id.empty()) json["fields"] = {{"id", metric.id}};
    return Reply{std::move(json), position_ < metrics_.size()};
  }

 private:
  Metrics metrics_;  // at least one
  std::size_t position_ = 0;
};

class FamiliesStream : public varlink::Stream {
 public:
  std::optional<std::variant<Reply, Failure>> next() override {
    const Family& family = kFamilies[position_];
    Json json = {{"name", full_name(position_)}, {"description", family.description}, {"type", family.type}};
    return Reply{std::move(json), ++position_ < kFamilies.size()};
  }

 private:
  std::size_t position_ = 0;
};

Answer list(Reports& reports, const Call& call) {
  if (!call.more) return varlink::expected_more();
  const ReportView view = reports.fresh(reports.identify(call.peer.uid, call.peer.groups), {});
  if (!view) return Failure{std::string(kInterface) + ".NoSuchMetric", Json::object()};
  Metrics metrics;
  for (std::size_t i = 0; i < kFamilies.size(); ++i) kFamilies[i].add({view, reports.orders()}, i, metrics);
  return std::make_unique<MetricsStream>(std::move(metrics));
}

Answer describe(const Call& call) {
  if (!call.more) return varlink::expected_more();
  return std::make_unique<FamiliesStream>();
}

}  // namespace

void add_metrics_interface(varlink::Server& server, Reports& reports) {
  server.add({.name = kInterface,
              .description = kMetricsIdl,
              .methods = {{"List", [&reports](const Call& call) { return list(reports, call); }},
                          {"Describe", describe}}});
}

}  // namespace keplerd
