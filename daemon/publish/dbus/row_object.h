// SPDX-License-Identifier: Apache-2.0
// A row as an object on the bus: org.keplerd1.VirtualMachine and org.keplerd1.Zone. Its properties are the
// fields of the row (report/fields.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "daemon/publish/dbus/bus_compat.h"
#include "daemon/publish/dbus/request.h"
#include "report/rows.h"

namespace keplerd::dbus {

// VmRow or ZoneRow.
template <class Row>
class RowObject {
 public:
  // `request` must outlive it: a property's value depends on the caller.
  RowObject(sdbus::IConnection& connection, Request& request, const Row& row);
  ~RowObject();
  RowObject(const RowObject&) = delete;
  RowObject& operator=(const RowObject&) = delete;

  // Emits InterfacesAdded or -Removed of org.freedesktop.DBus.ObjectManager.
  void emit_added() { object_->emitInterfacesAddedSignal(); }
  void emit_removed() { object_->emitInterfacesRemovedSignal(); }

  // Emits PropertiesChanged if one of the properties that emit it has changed.
  void emit_changes(const Report& report, const Row& row);

  std::uint64_t round = 0;  // the last round in which it was in the report

  sdbus::ObjectPath path() const { return sdbus::ObjectPath(object_->getObjectPath()); }

 private:
  // The row in the report that the request is answered from. Throws UnknownObject if the sender may not see
  // it, or if it disappeared with the very sample that the request triggered.
  const Row& row();
  void add_properties();

  Request& request_;
  Row last_;  // as last emitted; without zones
  std::unique_ptr<sdbus::IObject> object_;
};

extern template class RowObject<VmRow>;
extern template class RowObject<ZoneRow>;

}  // namespace keplerd::dbus
