// SPDX-License-Identifier: Apache-2.0
// A bus connection on an sd-event loop. sdbus-c++'s own way (attachSdEventLoop) throws through sd-event's
// frames when the connection is lost; here nothing throws, and `broken` is called.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <systemd/sd-event.h>

#include "daemon/publish/dbus/bus_compat.h"
#include "event/event_source.h"

namespace keplerd::dbus {

// `bus`: "system", "session" or an address. Waits for the bus's greeting, which libsystemd does for up to 90
// s: must not be called on the loop. Throws sdbus::Error if there is no bus.
std::unique_ptr<sdbus::IConnection> open_bus(const std::string& bus);

class LoopConnection {
 public:
  struct Owner {
    std::function<void()> before, after;  // around each message; `after` runs outside its handler
    std::function<void(const std::string&)>
        broken;  // with the reason; once. It must not destroy the connection.
  };

  LoopConnection(sd_event* loop, std::unique_ptr<sdbus::IConnection> connection, Owner owner);
  ~LoopConnection();
  LoopConnection(const LoopConnection&) = delete;
  LoopConnection& operator=(const LoopConnection&) = delete;

  sdbus::IConnection& bus() { return *connection_; }

  // Calls `f`; whatever it throws breaks the connection.
  void attempt(const std::function<void()>& f) noexcept;

 private:
  static int on_io(sd_event_source* source, int fd, std::uint32_t events, void* self);
  static int on_time(sd_event_source* source, std::uint64_t time, void* self);
  static int on_prepare(sd_event_source* source, void* self);
  void process();
  void prepare();
  void break_off(const std::string& why) noexcept;

  Owner owner_;
  bool broken_ = false;
  std::unique_ptr<sdbus::IConnection> connection_;
  EventSource io_, timer_;  // destroyed before the connection's descriptor
};

}  // namespace keplerd::dbus
