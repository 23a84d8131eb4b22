// SPDX-License-Identifier: Apache-2.0
// One client of the server: its input and pending output, the stream that answers it, and when to
// proceed.
//
// Calls are answered one after the other, in order, in the steps of a FairQueue. They proceed only while less
// than Grant::output is pending for the client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <systemd/sd-event.h>

#include "base/result.h"
#include "base/unique_fd.h"
#include "event/fair_queue.h"
#include "event/sources.h"
#include "varlink/message.h"
#include "varlink/server.h"

namespace keplerd::varlink {

class Connection : private FairQueue::Client {
 public:
  // What connections require of their server. It must outlive them.
  struct Owner {
    ServerLimits limits;
    std::function<Answer(CallMessage call, const Peer& peer)> answer;
    std::function<void(Connection&)> ended;  // destroys the connection
  };

  // What the server grants a peer. `output`: bytes that may be pending for it.
  struct Grant {
    FairQueue& queue;
    FairQueue::Account account;
    std::size_t output;
  };

  Connection(const Owner& owner, UniqueFd socket, Peer peer, Grant grant);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Result<Done> attach(sd_event* event);

  const Peer& peer() const { return peer_; }

  // Asks a stream that had nothing for its next reply, in a later step.
  void wake();

 private:
  enum class State { kOpen, kEnded };

  void on_event(std::uint32_t events);
  void step(const FairQueue::Slice& slice) override;
  void end_if(State state);
  State take_in(std::uint32_t events);
  State read();
  State work(const FairQueue::Slice& slice);
  State answer(std::string_view message);
  void pull();
  State flush();
  State go_on();
  State watch();
  void put(std::string bytes);

  std::size_t waiting_output() const { return output_.size() - sent_; }
  bool can_go_on() const;
  bool is_finished() const;

  const Owner& owner_;
  UniqueFd socket_;
  Peer peer_;
  Framer input_;
  std::size_t most_output_;
  std::string output_;
  std::size_t sent_ = 0;            // bytes of output_ already sent
  std::unique_ptr<Stream> stream_;  // answers the current call
  bool stream_waits_ = false;       // for wake()
  bool input_ended_ = false;        // the client will not call again
  bool deaf_ = false;               // it has closed its end altogether: only oneway calls still matter
  Io io_;                           // destroyed before the socket
  FairQueue::Place place_;
};

}  // namespace keplerd::varlink
