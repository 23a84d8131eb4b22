// SPDX-License-Identifier: Apache-2.0
// Sends Report signals to subscribers. Each is unicast, and only sent once the client has read the previous
// one: the Ping that follows it is answered only by a client that reads. So at most one message per
// subscription is pending.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/publish/dbus/bus_compat.h"
#include "daemon/publish/dbus/changes.h"
#include "daemon/publish/dbus/limited_work.h"
#include "daemon/publish/dbus/request.h"

namespace keplerd::dbus {

class Subscriptions {
 public:
  // Signals are sent from `object`. All arguments must outlive it; `last_id` outlives connections, so that no
  // id is reused.
  Subscriptions(sdbus::IConnection& connection, sdbus::IObject& object, Request& request,
                LimitedWork& limited, std::uint64_t& last_id);
  ~Subscriptions();
  Subscriptions(const Subscriptions&) = delete;
  Subscriptions& operator=(const Subscriptions&) = delete;

  // Subscribes the turn's sender. Throws TooManySubscriptions. The first report is sent by the next
  // deliver(). Reports contain what the client may see. Among clients without full access, those of one login
  // together get no more than one client, and all of them together not every place.
  std::uint64_t add(Request& request, SubscribeOptions options);
  // Throws NoSuchSubscription if it is not one of this client's.
  void remove(const std::string& client, std::uint64_t id);

  // Call it when the client has left the bus.
  void left(const std::string& client);

  // Call it when there is a new report.
  void mark_due() { some_due_ = true; }

  // Sends what is due of the last reports; to clients with limited access in later turns. Must not be called
  // within a handler.
  void deliver();

  std::size_t count() const { return count_; }

 private:
  struct Client;
  using Clients = std::map<std::string, std::unique_ptr<Client>>;

  void check_place(const std::string& client, const Caller& caller) const;
  void deliver_to(Client& client);
  void send(std::uint64_t id, const std::string& client, const Changes& changes, bool details);
  void ping(Client& client);
  void on_answer(Client& client, AsyncError error);
  void drop(Clients::iterator position);

  sdbus::IConnection& connection_;
  sdbus::IObject& object_;
  Request& request_;
  LimitedWork& limited_;
  std::uint64_t& last_id_;
  std::size_t count_ = 0;
  bool some_due_ = false;  // something happened since deliver() that may make a client due
  Clients clients_;        // by unique name
  std::vector<std::unique_ptr<Client>> ended_;  // destroyed when none of their handlers can be running
};

}  // namespace keplerd::dbus
