// SPDX-License-Identifier: Apache-2.0
// Features of libsystemd that sdbus-c++ does not offer. Both objects are destroyed before their connection.
#pragma once

#include <functional>
#include <memory>

#include "daemon/publish/dbus/bus_compat.h"

namespace keplerd::dbus {

struct UnrefSlot {
  void operator()(sd_bus_slot* slot) const { sd_bus_slot_unref(slot); }
};
using RawSlot = std::unique_ptr<sd_bus_slot, UnrefSlot>;

// Receives each method call before any object does, and may answer it in their place: libsystemd itself
// answers properties, introspection and unknown methods, even for objects that a caller must not know about.
class CallFilter {
 public:
  // `on_call` throws the error to reply with; otherwise the call proceeds.
  using OnCall = std::function<void(sd_bus_message& call)>;
  CallFilter(sdbus::IConnection& connection, OnCall on_call);
  CallFilter(const CallFilter&) = delete;
  CallFilter& operator=(const CallFilter&) = delete;

 private:
  static int on_message(sd_bus_message* message, void* self, sd_bus_error* error);

  OnCall on_call_;
  RawSlot slot_;
};

// Lists `path` in the introspection of its parent object, whether or not there are objects below it.
RawSlot list_path(sdbus::IConnection& connection, const char* path);

}  // namespace keplerd::dbus
