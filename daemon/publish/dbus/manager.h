// SPDX-License-Identifier: Apache-2.0
// org.keplerd1.Manager, the object /org/keplerd1.
//
// More than 20 methods: one for each member of the interface.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/publish/dbus/callers.h"
#include "daemon/publish/dbus/guarded.h"
#include "daemon/publish/dbus/limited_work.h"
#include "daemon/publish/dbus/options.h"
#include "daemon/publish/dbus/request.h"
#include "daemon/publish/dbus/rows.h"
#include "daemon/publish/dbus/subscriptions.h"
#include "manager_adaptor.h"

namespace keplerd::dbus {

class Manager final : private sdbus::AdaptorInterfaces<org::keplerd1::Manager_adaptor> {
 public:
  // All arguments must outlive it.
  Manager(sdbus::IConnection& connection, Request& request, Callers& callers, LimitedWork& limited,
          std::uint64_t& last_subscription);
  ~Manager();

  // Emits changes of the settings, the source or the instance on the bus. Like the next one, must not be
  // called within a handler.
  void emit_changes();
  // Call it after a new report: subscribers may be due it.
  void mark_due() { subscriptions_.mark_due(); }
  // Sends reports to the subscribers that are due one.
  void deliver() { subscriptions_.deliver(); }
  // Call it when this client has left the bus.
  void left(const std::string& client) { subscriptions_.left(client); }

  using Manager_adaptor::emitVirtualMachineAdded;
  using Manager_adaptor::emitVirtualMachineRemoved;

 private:
  // The values of properties with a change signal, as last emitted.
  struct Sent {
    std::string instance_id, source, quality, reason, platform, split, share, idle;
    Realtime since{0};
    Nanoseconds interval{0};
    bool operator==(const Sent&) const = default;
  };
  Sent now() const;

  template <class F>
  auto of_report(F f) {
    return guarded([&] { return f(*request_); });
  }
  using ListResult = sdbus::Result<std::vector<Row>>;
  using RowResult = sdbus::Result<Row>;
  using PathResult = sdbus::Result<sdbus::ObjectPath>;

  // Replies with what `f` returns or throws, once it is known whether the sender has full access. Throws if
  // nobody waits for the reply, or too many calls are waiting. `f` may be queued, so it must hold little.
  template <class Value, class F>
  void answer(const sdbus::Result<Value>& result, F f);
  void answer_list(const ListResult& result, RowKind kind, const VariantMap& options);
  void answer_get(const RowResult& result, RowKind kind, std::string id);
  std::vector<Row> list(RowKind kind, const ListOptions& asked);
  std::size_t find(RowKind kind, const std::string& id);

  void ListUnits(ListResult&& result, VariantMap options) override {
    answer_list(result, RowKind::kUnits, options);
  }
  void ListVirtualMachines(ListResult&& result, VariantMap options) override {
    answer_list(result, RowKind::kVms, options);
  }
  void ListContainers(ListResult&& result, VariantMap options) override {
    answer_list(result, RowKind::kContainers, options);
  }
  void ListPods(ListResult&& result, VariantMap options) override {
    answer_list(result, RowKind::kPods, options);
  }
  void ListProcesses(ListResult&& result, VariantMap options) override {
    answer_list(result, RowKind::kProcesses, options);
  }
  void ListZones(ListResult&& result, VariantMap options) override {
    answer_list(result, RowKind::kZones, options);
  }
  void GetUnit(RowResult&& result, std::string id) override {
    answer_get(result, RowKind::kUnits, std::move(id));
  }
  void GetContainer(RowResult&& result, std::string id) override {
    answer_get(result, RowKind::kContainers, std::move(id));
  }
  void GetPod(RowResult&& result, std::string id) override {
    answer_get(result, RowKind::kPods, std::move(id));
  }
  void GetProcess(RowResult&& result, std::string id) override {
    answer_get(result, RowKind::kProcesses, std::move(id));
  }
  void GetVirtualMachine(PathResult&& result, std::string id) override;
  void GetZone(PathResult&& result, std::string id) override;
  void Subscribe(sdbus::Result<std::uint64_t>&& result, VariantMap options) override;
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
  std::string PlatformZone() override;
  std::uint64_t PlatformEnergy() override;
  std::uint64_t PlatformPower() override;
  std::uint64_t RestEnergy() override;
  std::int64_t RestPower() override;
  std::uint64_t AccountIdle() override;
  std::uint64_t AccountKernel() override;
  std::uint64_t AccountWorkloads() override;
  std::uint64_t AccountUnattributed() override;
  std::uint64_t OutsideOtherEnergy() override;
  std::uint64_t OutsideContainersEnergy() override;
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
  std::uint64_t MissedEnds() override;
  std::vector<ProblemRow> Problems() override;
  std::uint64_t Subscriptions() override;

  Request& request_;
  Callers& callers_;
  LimitedWork& limited_;
  Sent sent_;
  dbus::Subscriptions subscriptions_;
};

}  // namespace keplerd::dbus
