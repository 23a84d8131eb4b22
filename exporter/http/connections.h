// SPDX-License-Identifier: Apache-2.0
// Keeps track of connections, and decides which to close: those that take too long and, if there are too
// many, those that have waited longest. Pure: it closes nothing, and has no clock. A newcomer is always
// admitted, so that idle connections keep nobody out, not even from their own address.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/units.h"
#include "exporter/http/peer.h"

namespace keplerd::exporter::http {

using Body = std::shared_ptr<const std::string>;  // shared: several responses may have the same body

struct ConnectionLimits {
  std::size_t connections = 2048;
  std::size_t connections_of_a_peer = 64;
  std::size_t waiting_bytes = 64 << 20;  // of distinct bodies that clients have not read yet
  // From the start to the end of each phase, whatever is sent meanwhile.
  Nanoseconds request = std::chrono::seconds(10);  // handshake, headers and content
  Nanoseconds reply = std::chrono::seconds(30);
  Nanoseconds idle = std::chrono::seconds(120);  // between a response and the next request
};

class Connections {
 public:
  explicit Connections(const ConnectionLimits& limits = {});

  // Identified by its descriptor, until end().
  void begin(int connection, const Peer& peer, Nanoseconds now);
  void begin_request(int connection, Nanoseconds now);  // one after a response; the first begins by itself
  void begin_wait(int connection, Nanoseconds now);     // for the server: it has as long as for a reply
  void begin_reply(int connection, const Body& body, Nanoseconds now);
  void end_reply(int connection, Nanoseconds now);
  void end(int connection);

  bool is_doomed(int connection) const { return connections_.at(connection).doomed; }
  const Peer& peer_of(int connection) const { return connections_.at(connection).peer; }

  // The connections to close by now, each reported once. They no longer count.
  std::vector<int> take_doomed(Nanoseconds now);

  // When the next one may have to be closed; the maximum value: never.
  Nanoseconds next_deadline() const { return next_deadline_; }

 private:
  enum class Phase { kRequest, kReply, kIdle };
  using Order = std::list<int>;

  struct Connection {
    Peer peer;
    Phase phase = Phase::kRequest;
    Nanoseconds deadline{};
    Body body;
    bool doomed = false;
    Order::iterator place;  // in its peer's order, until it is to be closed
  };
  struct Waiting {
    Body body;
    std::size_t readers = 0;
  };

  void enter(int id, Phase phase, Nanoseconds deadline);
  void take_body(Connection& connection, const Body& body);
  void drop_body(Connection& connection);
  void doom(int id);
  void doom_readers_of(const Body& body);
  void leave_peer(Connection& connection);

  ConnectionLimits limits_;
  std::map<int, Connection> connections_;
  std::map<Peer, Order> peers_;  // those not to be closed; the longest without progress first
  std::size_t count_ = 0;        // of all peers
  std::list<Waiting> waiting_;   // oldest body first
  std::size_t waiting_bytes_ = 0;
  std::vector<int> doomed_;
  Nanoseconds next_deadline_ = Nanoseconds::max();
};

}  // namespace keplerd::exporter::http
