// SPDX-License-Identifier: Apache-2.0
// Who gets Report signals. Each is unicast, and only after the client has taken the one before: a Ping that
// follows it is answered only by a client that reads. So at most one message a subscription waits for
// anybody.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/publish/dbus/bus_compat.h"
#include "daemon/publish/dbus/changes.h"

namespace keplerd::dbus {

class Subscriptions {
 public:
  // Signals are sent from `object`. `last_id` outlives connections, so that no number comes twice.
  Subscriptions(sdbus::IConnection& connection, sdbus::IObject& object, std::uint64_t& last_id);
  ~Subscriptions();
  Subscriptions(const Subscriptions&) = delete;
  Subscriptions& operator=(const Subscriptions&) = delete;

  // Throws TooManySubscriptions. The first report goes out with the next deliver().
  std::uint64_t add(const std::string& client, SubscribeOptions options);
  // Throws NoSuchSubscription where it is none of this client's.
  void remove(const std::string& client, std::uint64_t id);

  // Sends what is due. Not within a handler.
  void deliver(const std::shared_ptr<const Report>& latest);

  std::size_t count() const { return count_; }

 private:
  struct Client;
  using Clients = std::map<std::string, std::unique_ptr<Client>>;

  void watch_clients();
  void send(std::uint64_t id, const std::string& client, const Changes& changes, bool details);
  void ping(Client& client);
  void on_answer(Client& client, AsyncError error);
  void drop(Clients::iterator position);

  sdbus::IConnection& connection_;
  sdbus::IObject& object_;
  std::uint64_t& last_id_;
  std::size_t count_ = 0;
  Clients clients_;                             // by unique name
  std::vector<std::unique_ptr<Client>> ended_;  // destroyed when none of their handlers can be running
  sdbus::Slot leaving_;  // the match that tells who leaves the bus; while there are clients
};

}  // namespace keplerd::dbus
