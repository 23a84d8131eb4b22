// SPDX-License-Identifier: Apache-2.0
// The objects below /org/keplerd1: one for each virtual machine and each zone of the report; and the access
// checks on them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "daemon/publish/dbus/bus_compat.h"
#include "daemon/publish/dbus/raw_bus.h"
#include "daemon/publish/dbus/request.h"

namespace keplerd::dbus {

template <class Row>
class RowObject;

class Objects {
 public:
  // Notified of each VM that appears or disappears, with the path of its object.
  using Listener = std::function<void(const std::string& id, const sdbus::ObjectPath& path)>;
  struct Listeners {
    Listener added, removed;
  };

  // Throws libsystemd's error for a nonexistent object, if the request's sender may not know whether there is
  // one; or AccessDenied if it may see nothing.
  static void check_known(Request& request, const std::string& interface);

  // `request` must outlive the objects.
  Objects(sdbus::IConnection& connection, Request& request, Listeners listeners);
  ~Objects();
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;

  // Synchronizes them with the request's report; the first time nothing is emitted. Must not be called within
  // a handler: it may belong to an object that is removed.
  void update();

 private:
  void update_vms(const Report& report);
  void update_zones(const Report& report);

  sdbus::IConnection& connection_;
  Request& request_;
  Listeners listeners_;
  // Otherwise, the introspection of the manager would reveal whether there are any VMs.
  RawSlot listed_[2];
  std::uint64_t round_ = 0;
  std::map<std::string, std::unique_ptr<RowObject<VmRow>>> vms_;  // by id
  std::map<std::string, std::unique_ptr<RowObject<ZoneRow>>> zones_;
};

}  // namespace keplerd::dbus
