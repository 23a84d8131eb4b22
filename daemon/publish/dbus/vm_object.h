// SPDX-License-Identifier: Apache-2.0
// org.keplerd1.VirtualMachine.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/publish/dbus/guarded.h"
#include "daemon/publish/dbus/request.h"
#include "daemon/publish/dbus/rows.h"
#include "machine_adaptor.h"

namespace keplerd::dbus {

class VmObject final : private sdbus::AdaptorInterfaces<org::keplerd1::VirtualMachine_adaptor> {
 public:
  VmObject(sdbus::IConnection& connection, Request& request, const VmRow& row);
  ~VmObject();

  // To who watches org.freedesktop.DBus.ObjectManager.
  void emit_added() { getObject().emitInterfacesAddedSignal(); }
  void emit_removed() { getObject().emitInterfacesRemovedSignal(); }

  // Tells on the bus if what it is, or its state, has changed.
  void emit_changes(const VmRow& row);

  std::uint64_t round = 0;  // the last in which it was in the report

  sdbus::ObjectPath path() const { return sdbus::ObjectPath(getObject().getObjectPath()); }

 private:
  // What `f` makes of this VM's row; UnknownObject where the sender may not see it, or where it has gone
  // with the very sample that the question caused.
  template <class F>
  auto of_row(F f) {
    return guarded([&] { return f(row()); });
  }
  const VmRow& row();

  std::string Id() override;
  std::string Name() override;
  std::string State() override;
  std::string Hypervisor() override;
  std::string Uuid() override;
  std::uint32_t Pid() override;
  std::uint32_t VCPUs() override;
  std::string Unit() override;
  std::string ContainerId() override;
  std::uint32_t OwnerUID() override;
  std::string Title() override;
  std::string GuestState() override;
  std::map<std::string, std::string> Metadata() override;
  std::uint64_t HaltPollUSec() override;
  bool GuestElsewhere() override;
  std::uint64_t Energy() override;
  std::uint64_t ActiveEnergy() override;
  std::uint64_t IdleEnergy() override;
  std::uint64_t Power() override;
  std::uint64_t CPUUSec() override;
  std::vector<ZonePart> Zones() override;
  std::vector<VmPartNumbers> Breakdown() override;
  std::string Quality() override;
  std::uint64_t SinceUSec() override;

  Request& request_;
  VmInfo info_;  // as it was told
  bool running_;
  std::optional<Uid> owner_;
};

}  // namespace keplerd::dbus
