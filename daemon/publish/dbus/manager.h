// SPDX-License-Identifier: Apache-2.0
// org.keplerd1.Manager, the object /org/keplerd1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/publish/dbus/guarded.h"
#include "daemon/publish/dbus/options.h"
#include "daemon/publish/dbus/rows.h"
#include "daemon/publish/dbus/subscriptions.h"
#include "daemon/publish/dbus/turn_report.h"
#include "manager_adaptor.h"

namespace keplerd::dbus {

class Manager final : private sdbus::AdaptorInterfaces<org::keplerd1::Manager_adaptor> {
 public:
  // `turn` and `last_subscription` must outlive it.
  Manager(sdbus::IConnection& connection, TurnReport& turn, std::uint64_t& last_subscription);
  ~Manager();

  // Tells on the bus if the settings, the source or the instance have changed. Not within a handler, as the
  // next.
  void tell_changes();
  // Reports to those who are due one.
  void deliver() { subscriptions_.deliver(turn_.latest()); }

  using Manager_adaptor::emitVirtualMachineAdded;
  using Manager_adaptor::emitVirtualMachineRemoved;

 private:
  // What has a change signal, as it was told.
  struct Told {
    std::string instance_id, source, quality, reason, split, share, idle;
    Realtime since{0};
    Nanoseconds interval{0};
    bool operator==(const Told&) const = default;
  };
  Told now() const;

  template <class F>
  auto of_report(F f) {
    return guarded([&] { return f(*turn_); });
  }
  std::vector<Row> list(RowKind kind, const VariantMap& options);
  std::size_t find(RowKind kind, const std::string& id);
  Row get(RowKind kind, const std::string& id);

  std::vector<Row> ListUnits(const VariantMap& options) override { return list(RowKind::kUnits, options); }
  std::vector<Row> ListVirtualMachines(const VariantMap& options) override {
    return list(RowKind::kMachines, options);
  }
  std::vector<Row> ListContainers(const VariantMap& options) override {
    return list(RowKind::kContainers, options);
  }
  std::vector<Row> ListPods(const VariantMap& options) override { return list(RowKind::kPods, options); }
  std::vector<Row> ListProcesses(const VariantMap& options) override {
    return list(RowKind::kProcesses, options);
  }
  std::vector<Row> ListZones(const VariantMap& options) override { return list(RowKind::kZones, options); }
  Row GetUnit(const std::string& id) override { return get(RowKind::kUnits, id); }
  Row GetContainer(const std::string& id) override { return get(RowKind::kContainers, id); }
  Row GetPod(const std::string& id) override { return get(RowKind::kPods, id); }
  Row GetProcess(const std::string& id) override { return get(RowKind::kProcesses, id); }
  sdbus::ObjectPath GetVirtualMachine(const std::string& id) override;
  sdbus::ObjectPath GetZone(const std::string& id) override;
  std::uint64_t Subscribe(const VariantMap& options) override;
  void Unsubscribe(const std::uint64_t& subscription) override;

  std::string Version() override;
  std::string InstanceId() override;
  std::uint64_t SinceUSec() override;
  std::uint64_t HostEnergy() override;
  std::uint64_t HostActiveEnergy() override;
  std::uint64_t HostIdleEnergy() override;
  std::uint64_t HostPower() override;
  std::uint64_t HostActivePower() override;
  std::uint64_t HostIdlePower() override;
  std::uint64_t AccountIdle() override;
  std::uint64_t AccountKernel() override;
  std::uint64_t AccountWorkloads() override;
  std::uint64_t AccountUnattributed() override;
  std::uint64_t OutsideOtherEnergy() override;
  std::string SourceName() override;
  std::string SourceQuality() override;
  std::string SourceReason() override;
  std::string Split() override;
  std::string Share() override;
  std::string Idle() override;
  std::uint64_t IntervalUSec() override;
  std::uint64_t Sequence() override;
  std::uint64_t RealtimeUSec() override;
  std::uint64_t MonotonicUSec() override;
  std::uint64_t WindowUSec() override;
  std::uint64_t DiscardedWindows() override;
  std::uint64_t Subscriptions() override;

  TurnReport& turn_;
  Told told_;
  dbus::Subscriptions subscriptions_;
};

}  // namespace keplerd::dbus
