// SPDX-License-Identifier: Apache-2.0
// org.keplerd1.Zone.
#pragma once

#include <cstdint>
#include <string>

#include "daemon/publish/dbus/guarded.h"
#include "daemon/publish/dbus/request.h"
#include "daemon/publish/dbus/rows.h"
#include "zone_adaptor.h"

namespace keplerd::dbus {

class ZoneObject final : private sdbus::AdaptorInterfaces<org::keplerd1::Zone_adaptor> {
 public:
  ZoneObject(sdbus::IConnection& connection, Request& request, const ZoneReport& row);
  ~ZoneObject();

  // To who watches org.freedesktop.DBus.ObjectManager.
  void emit_added() { getObject().emitInterfacesAddedSignal(); }
  void emit_removed() { getObject().emitInterfacesRemovedSignal(); }

  // Tells on the bus if what it is, its state or its problem has changed.
  void emit_changes(const ZoneReport& row);

  std::uint64_t round = 0;  // the last in which it was in the report

  sdbus::ObjectPath path() const { return sdbus::ObjectPath(getObject().getObjectPath()); }

 private:
  // UnknownObject where the sender may not see it.
  template <class F>
  auto of_row(F f) {
    return guarded([&] { return f(row()); });
  }
  const ZoneReport& row();

  std::string Id() override;
  std::string Name() override;
  std::int32_t Index() override;
  std::string State() override;
  std::string Quality() override;
  bool InTotal() override;
  std::string Problem() override;
  std::uint64_t Energy() override;
  std::uint64_t ActiveEnergy() override;
  std::uint64_t IdleEnergy() override;
  std::uint64_t Power() override;
  std::uint64_t ActivePower() override;
  std::uint64_t IdlePower() override;
  std::uint64_t SinceUSec() override;

  Request& request_;
  Zone zone_;  // as it was told, and the next two
  bool current_;
  std::optional<std::string> problem_;
};

}  // namespace keplerd::dbus
