// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/connections.h"

#include <algorithm>
#include <utility>

namespace keplerd::exporter::http {

Connections::Connections(const ConnectionLimits& limits) : limits_(limits) {}

void Connections::begin(int id, const Peer& peer, Nanoseconds now) {
  const auto same = peers_.find(peer);
  if (same != peers_.end() && same->second.size() >= limits_.connections_of_a_peer) {
    doom(same->second.front());
  } else if (count_ >= limits_.connections) {
    const auto most =
        std::ranges::max_element(peers_, {}, [](const auto& entry) { return entry.second.size(); });
    doom(most->second.front());
  }
  Order& order = peers_[peer];
  Connection connection;
  connection.peer = peer;
  connection.place = order.insert(order.end(), id);
  ++count_;
  connections_.insert_or_assign(id, std::move(connection));
  enter(id, Phase::kRequest, now + limits_.request);
}

void Connections::begin_request(int id, Nanoseconds now) {
  if (connections_.at(id).phase == Phase::kIdle) enter(id, Phase::kRequest, now + limits_.request);
}

void Connections::begin_wait(int id, Nanoseconds now) { enter(id, Phase::kReply, now + limits_.reply); }

void Connections::begin_reply(int id, const Body& body, Nanoseconds now) {
  Connection& connection = connections_.at(id);
  if (connection.doomed) return;
  drop_body(connection);
  take_body(connection, body);
  enter(id, Phase::kReply, now + limits_.reply);
  while (waiting_bytes_ > limits_.waiting_bytes && waiting_.front().body != body) {
    doom_readers_of(Body(waiting_.front().body));
  }
}

void Connections::end_reply(int id, Nanoseconds now) {
  Connection& connection = connections_.at(id);
  drop_body(connection);
  enter(id, Phase::kIdle, now + limits_.idle);
}

void Connections::end(int id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  drop_body(found->second);
  leave_peer(found->second);
  std::erase(doomed_, id);
  connections_.erase(found);
}

std::vector<int> Connections::take_doomed(Nanoseconds now) {
  if (now >= next_deadline_) {
    next_deadline_ = Nanoseconds::max();
    for (const auto& [id, connection] : connections_) {
      if (connection.doomed) continue;
      if (connection.deadline <= now) {
        doom(id);
      } else {
        next_deadline_ = std::min(next_deadline_, connection.deadline);
      }
    }
  }
  return std::exchange(doomed_, {});
}

// A new phase counts as progress: moves behind all others of the peer.
void Connections::enter(int id, Phase phase, Nanoseconds deadline) {
  Connection& connection = connections_.at(id);
  if (connection.doomed) return;
  connection.phase = phase;
  connection.deadline = deadline;
  next_deadline_ = std::min(next_deadline_, deadline);
  Order& order = peers_.at(connection.peer);
  order.splice(order.end(), order, connection.place);
}

void Connections::take_body(Connection& connection, const Body& body) {
  connection.body = body;
  const auto found = std::ranges::find(waiting_, body, &Waiting::body);
  if (found != waiting_.end()) {
    ++found->readers;
    return;
  }
  waiting_.push_back({body, 1});
  waiting_bytes_ += body->size();
}

void Connections::drop_body(Connection& connection) {
  const auto found = std::ranges::find(waiting_, connection.body, &Waiting::body);
  connection.body.reset();
  if (found == waiting_.end() || --found->readers > 0) return;
  waiting_bytes_ -= found->body->size();
  waiting_.erase(found);
}

void Connections::doom(int id) {
  Connection& connection = connections_.at(id);
  leave_peer(connection);
  connection.doomed = true;
  drop_body(connection);
  doomed_.push_back(id);
}

void Connections::doom_readers_of(const Body& body) {
  for (const auto& [id, connection] : connections_) {
    if (!connection.doomed && connection.body == body) doom(id);
  }
}

void Connections::leave_peer(Connection& connection) {
  if (connection.doomed) return;
  const auto peer = peers_.find(connection.peer);
  peer->second.erase(connection.place);
  if (peer->second.empty()) peers_.erase(peer);
  --count_;
}

}  // namespace keplerd::exporter::http
