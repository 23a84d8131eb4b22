// SPDX-License-Identifier: Apache-2.0
// The single place for differences between sdbus-c++ 1.2 and 2. KEPLERD_SDBUS_MAJOR comes from CMake.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sdbus-c++/sdbus-c++.h>
#include <systemd/sd-bus.h>

namespace keplerd::dbus {

#if KEPLERD_SDBUS_MAJOR >= 2

using ServiceName = sdbus::ServiceName;
using PropertyName = sdbus::PropertyName;
using AsyncError = std::optional<sdbus::Error>;  // of an asynchronous call; false: it succeeded

inline sdbus::Error make_error(const std::string& name, const std::string& message) {
  return {sdbus::Error::Name(name), message};
}

inline bool process_pending(sdbus::IConnection& connection) { return connection.processPendingEvent(); }

// On CLOCK_MONOTONIC; unset: only the descriptor has to be watched.
inline std::optional<std::uint64_t> wake_up_time(const sdbus::IConnection::PollData& data) {
  if (data.timeout == std::chrono::microseconds::max()) return std::nullopt;
  return static_cast<std::uint64_t>(data.timeout.count());
}

template <class Handler>
sdbus::Slot add_match(sdbus::IConnection& connection, const std::string& match, Handler handler) {
  return connection.addMatch(match, std::move(handler), sdbus::return_slot);
}

inline std::unique_ptr<sdbus::IProxy> make_proxy(sdbus::IConnection& connection, const std::string& service,
                                                 const std::string& path) {
  return sdbus::createProxy(connection, sdbus::ServiceName(service), sdbus::ObjectPath(path));
}

inline sdbus::MethodCall make_call(sdbus::IProxy& proxy, const char* interface, const char* name) {
  return proxy.createMethodCall(sdbus::InterfaceName(interface), sdbus::MethodName(name));
}

inline std::unique_ptr<sdbus::IObject> make_object(sdbus::IConnection& connection, const std::string& path) {
  return sdbus::createObject(connection, sdbus::ObjectPath(path));
}

// The properties of one interface of an object, all read-only. Nothing is exported before publish().
class Properties {
 public:
  Properties(sdbus::IObject& object, const char* interface) : object_(object), interface_(interface) {}

  template <class Getter>
  void add(const std::string& name, Getter getter, sdbus::Flags::PropertyUpdateBehaviorFlags behavior) {
    auto property = sdbus::registerProperty(sdbus::PropertyName(name));
    properties_.emplace_back(property.withGetter(std::move(getter)).withUpdateBehavior(behavior));
  }
  void publish() { object_.addVTable(std::move(properties_)).forInterface(interface_); }

 private:
  sdbus::IObject& object_;
  std::string interface_;
  std::vector<sdbus::VTableItem> properties_;
};

// Whether a handler of the object is running.
inline sdbus::Message current_message(const sdbus::IObject& object) {
  return object.getCurrentlyProcessedMessage();
}

inline sdbus::Signal make_signal(const sdbus::IObject& object, const char* interface, const char* name) {
  return object.createSignal(sdbus::InterfaceName(interface), sdbus::SignalName(name));
}

#else

using ServiceName = std::string;
using PropertyName = std::string;
using AsyncError = const sdbus::Error*;

inline sdbus::Error make_error(const std::string& name, const std::string& message) {
  return {name, message};
}

inline bool process_pending(sdbus::IConnection& connection) { return connection.processPendingRequest(); }

inline std::optional<std::uint64_t> wake_up_time(const sdbus::IConnection::PollData& data) {
  if (data.timeout_usec == UINT64_MAX) return std::nullopt;
  return data.timeout_usec;
}

template <class Handler>
sdbus::Slot add_match(sdbus::IConnection& connection, const std::string& match, Handler handler) {
  return connection.addMatch(match, std::move(handler));
}

inline std::unique_ptr<sdbus::IProxy> make_proxy(sdbus::IConnection& connection, const std::string& service,
                                                 const std::string& path) {
  auto proxy = sdbus::createProxy(connection, service, path);
  proxy->finishRegistration();
  return proxy;
}

inline sdbus::MethodCall make_call(sdbus::IProxy& proxy, const char* interface, const char* name) {
  return proxy.createMethodCall(interface, name);
}

inline std::unique_ptr<sdbus::IObject> make_object(sdbus::IConnection& connection, const std::string& path) {
  return sdbus::createObject(connection, path);
}

class Properties {
 public:
  Properties(sdbus::IObject& object, const char* interface) : object_(object), interface_(interface) {}

  template <class Getter>
  void add(const std::string& name, Getter getter, sdbus::Flags::PropertyUpdateBehaviorFlags behavior) {
    object_.registerProperty(name)
        .onInterface(interface_)
        .withGetter(std::move(getter))
        .withUpdateBehavior(behavior);
  }
  void publish() { object_.finishRegistration(); }

 private:
  sdbus::IObject& object_;
  std::string interface_;
};

inline const sdbus::Message& current_message(const sdbus::IObject& object) {
  return *object.getCurrentlyProcessedMessage();
}

inline sdbus::Signal make_signal(sdbus::IObject& object, const char* interface, const char* name) {
  return object.createSignal(interface, name);
}

#endif

// libsystemd's message, which sdbus-c++ keeps private.
inline sd_bus_message* raw(const sdbus::Message& message) {
  struct Inside : sdbus::Message {
    static void* of(const sdbus::Message& message) { return message.*(&Inside::msg_); }
  };
  return static_cast<sd_bus_message*>(Inside::of(message));
}

// libsystemd's connection, likewise.
inline sd_bus* raw(sdbus::IConnection& connection) {
  const auto proxy = make_proxy(connection, "org.freedesktop.DBus", "/org/freedesktop/DBus");
  return sd_bus_message_get_bus(raw(make_call(*proxy, "org.freedesktop.DBus.Peer", "Ping")));  // never sent
}

// A call to reply to in place of `call`, without its contents: arguments, unknown header fields and
// descriptors, up to 128 MB chosen by the sender. Throws sdbus::Error.
inline sdbus::MethodCall answerable(const sdbus::Message& call) {
  struct Small : sdbus::MethodCall {
    explicit Small(const sdbus::Message& call) {
      sdbus::Message::operator=(call);
      sd_bus_message_unref(static_cast<sd_bus_message*>(std::exchange(msg_, make(raw(call)))));
    }
    static sd_bus_message* make(sd_bus_message* call) {
      sd_bus_message* small = nullptr;
      std::uint64_t cookie = 0;
      int result = sd_bus_message_get_cookie(call, &cookie);
      if (result >= 0)
        result = sd_bus_message_new_method_call(sd_bus_message_get_bus(call), &small, nullptr,
                                                sd_bus_message_get_path(call), nullptr,
                                                sd_bus_message_get_member(call));
      if (result >= 0) result = sd_bus_message_set_sender(small, sd_bus_message_get_sender(call));
      if (result >= 0) result = sd_bus_message_seal(small, cookie, 0);
      if (result >= 0) return small;
      sd_bus_message_unref(small);
      throw sdbus::createError(-result, "a call waiting for polkit");
    }
  };
  return Small(call);
}

}  // namespace keplerd::dbus
