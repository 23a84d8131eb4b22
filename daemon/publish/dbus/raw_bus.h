// SPDX-License-Identifier: Apache-2.0
// What libsystemd can do and sdbus-c++ cannot. Both end before their connection does.
#pragma once

#include <functional>
#include <memory>

#include "daemon/publish/dbus/bus_compat.h"

namespace keplerd::dbus {

struct UnrefSlot {
  void operator()(sd_bus_slot* slot) const { sd_bus_slot_unref(slot); }
};
using RawSlot = std::unique_ptr<sd_bus_slot, UnrefSlot>;

// Sees each method call before any object does, and may answer it in their stead: libsystemd answers
// properties, introspection and unknown methods by itself, also for objects that a caller must not know of.
class CallFilter {
 public:
  // `on_call` throws the error that is the answer; else the call goes on.
  using OnCall = std::function<void(sd_bus_message& call)>;
  CallFilter(sdbus::IConnection& connection, OnCall on_call);
  CallFilter(const CallFilter&) = delete;
  CallFilter& operator=(const CallFilter&) = delete;

 private:
  static int on_message(sd_bus_message* message, void* self, sd_bus_error* error);

  OnCall on_call_;
  RawSlot slot_;
};

// Lists `path` in the introspection of the object above it, whether there are objects below it or not.
RawSlot list_path(sdbus::IConnection& connection, const char* path);

}  // namespace keplerd::dbus
