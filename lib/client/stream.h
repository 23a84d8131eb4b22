// SPDX-License-Identifier: Apache-2.0
// Follows keplerd on an sd-event loop: one stream (Monitor of org.keplerd.Energy) for each kind of rows. If a
// stream breaks, or nothing arrives for 90 s, all are reopened after a delay (250 ms to 5 s). A kind that is
// not followed in full is requested as an unprivileged caller would see it: keplerd filters it, not the
// client. A denied request is not a failure, and is repeated every 30 s.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <systemd/sd-event.h>

#include "base/result.h"
#include "client/kinds.h"
#include "event/sources.h"
#include "varlink/client.h"
#include "varlink/json.h"

namespace keplerd::client {

class Streams {
 public:
  struct Plan {
    struct Wanted {
      Kind kind{};
      bool in_full = false;  // as much as this process's user may see
    };
    std::string address;
    std::vector<Wanted> wanted;         // each kind once; opened in this order
    std::chrono::microseconds pace{0};  // minimum time between two ticks; less than 90 s
    std::string program;                // the program that follows, for errors: "the exporter"
    bool aligned = false;               // ticks are at multiples of `pace` of the clock
  };
  struct Events {
    std::function<void(Kind kind, varlink::Json reply)> reply;
    // The stream has ended: the known rows of this kind are out of date.
    std::function<void(Kind kind)> lost;
    // keplerd has become reachable or unreachable, or the `reason` has changed.
    std::function<void(bool up, const std::string& reason)> changed;
  };

  // `event` is kept referenced.
  Streams(sd_event* event, Plan plan, Events events);
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  Result<Done> start();

  // Reopens the stream of `kind`: its ticks come `pace` after now. Must not be called from within its
  // reply.
  void reopen(Kind kind);

  // Every stream has answered, and none has broken since.
  bool is_up() const { return up_; }

  // Replies of this kind are expected: its stream is open, and has not been denied.
  bool is_open(Kind kind) const;

 private:
  struct Stream {
    Plan::Wanted wanted;
    std::optional<varlink::Client> client;
    Io ready;  // ends before the client does
    bool answered = false;
  };

  Result<Done> connect();
  Result<Done> open(Stream& stream);
  void close_all();
  void try_again(const std::string& reason);

  Result<Done> receive(Stream& stream);
  Result<Done> take(Stream& stream, varlink::ClientReply reply);
  void deny(Stream& stream);
  void update_whether_up();

  sd_event* event_;
  Plan plan_;
  Events events_;
  std::vector<Stream> streams_;  // does not change: the loop refers to its elements
  Timer timer_;                  // reopens what is not open
  Timer silence_;                // reopens everything if nothing arrives any more
  std::chrono::milliseconds delay_;
  std::string reason_;  // last reported
  bool up_ = false;
};

}  // namespace keplerd::client
