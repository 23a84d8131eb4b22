// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/dbus/raw_bus.h"

#include <utility>

#include "daemon/publish/dbus/guarded.h"

namespace keplerd::dbus {
namespace {

void check(int result, const char* what) {
  if (result < 0) throw sdbus::createError(-result, what);
}

}  // namespace

CallFilter::CallFilter(sdbus::IConnection& connection, OnCall on_call) : on_call_(std::move(on_call)) {
  sd_bus_slot* slot = nullptr;
  check(sd_bus_add_filter(raw(connection), &slot, on_message, this), "sd_bus_add_filter");
  slot_.reset(slot);
}

// Nothing may be thrown through libsystemd's frames.
int CallFilter::on_message(sd_bus_message* message, void* self, sd_bus_error*) {
  if (sd_bus_message_is_method_call(message, nullptr, nullptr) <= 0) return 0;
  try {
    guarded([&] { static_cast<CallFilter*>(self)->on_call_(*message); });
    return 0;
  } catch (const sdbus::Error& error) {
    sd_bus_reply_method_errorf(message, error.getName().c_str(), "%s", error.getMessage().c_str());
  } catch (...) {
    sd_bus_reply_method_errorf(message, kFailed, "unknown exception");
  }
  return 1;
}

RawSlot list_path(sdbus::IConnection& connection, const char* path) {
  const auto none = [](sd_bus*, const char*, void*, char*** nodes, sd_bus_error*) {
    *nodes = nullptr;
    return 0;
  };
  sd_bus_slot* slot = nullptr;
  check(sd_bus_add_node_enumerator(raw(connection), &slot, path, none, nullptr),
        "sd_bus_add_node_enumerator");
  return RawSlot(slot);
}

}  // namespace keplerd::dbus
