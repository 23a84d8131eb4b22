// SPDX-License-Identifier: Apache-2.0
// The objects below /org/keplerd1: one for each virtual machine and each zone of the report; and who may know
// of which.
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
  // Told of each VM that comes or goes, with the path of its object.
  using Listener = std::function<void(const std::string& id, const sdbus::ObjectPath& path)>;
  struct Listeners {
    Listener added, removed;
  };

  // Throws what libsystemd says of a path without an object, if the request's sender may not know whether
  // there is one; or AccessDenied where it may see nothing.
  static void check_known(Request& request, const std::string& interface);

  // `request` must outlive the objects.
  Objects(sdbus::IConnection& connection, Request& request, Listeners listeners);
  ~Objects();
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;

  // Makes them those of the request's report; at the first time nothing is emitted. Not within a
  // handler: it may be that of an object that goes.
  void update();

 private:
  void update_vms(const Report& report);
  void update_zones(const Report& report);

  sdbus::IConnection& connection_;
  Request& request_;
  Listeners listeners_;
  // Else the introspection of the manager would say whether there is any VM.
  RawSlot listed_[2];
  std::uint64_t round_ = 0;
  std::map<std::string, std::unique_ptr<RowObject<VmRow>>> vms_;  // by id
  std::map<std::string, std::unique_ptr<RowObject<ZoneRow>>> zones_;
};

}  // namespace keplerd::dbus
