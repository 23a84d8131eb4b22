// SPDX-License-Identifier: Apache-2.0
// The way to keplerd: a stream (Monitor of org.keplerd.Energy) for each kind of rows, on an sd-event loop.
// When one of them breaks all are begun anew, after a while. What is not served to everybody is asked for as
// somebody without any rights would get it: keplerd decides, not the exporter.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include <systemd/sd-event.h>

#include "base/result.h"
#include "event/event_source.h"
#include "exporter/kind.h"
#include "varlink/client.h"
#include "varlink/json.h"

namespace keplerd::exporter {

class DaemonLink {
 public:
  struct Plan {
    std::string address;
    Kinds wanted;
    Kinds in_full;  // of those: as far as this process's user may see it
  };
  struct Events {
    std::function<void(Kind kind, const varlink::Json& reply)> reply;
    // Nothing is known of this kind any more.
    std::function<void(Kind kind)> lost;
    // Whether keplerd answers has changed; `reason` is why it does not.
    std::function<void(bool up, const std::string& reason)> changed;
  };

  // `event` is kept referenced.
  DaemonLink(sd_event* event, Plan plan, Events events);
  ~DaemonLink();
  DaemonLink(const DaemonLink&) = delete;
  DaemonLink& operator=(const DaemonLink&) = delete;

  Result<Done> start();

  // Each stream has answered, and none has broken since.
  bool is_up() const { return up_; }

 private:
  struct Stream {
    DaemonLink* link = nullptr;
    Kind kind{};
    std::optional<varlink::Client> client;
    EventSource ready;  // ends before the client does
    bool answered = false;
  };

  Result<Done> connect();
  Result<Done> open(Stream& stream);
  void close_all();
  void try_again(const std::string& reason);
  Result<Done> add_timer(EventSource& timer, sd_event_time_handler_t handler);

  Result<Done> receive(Stream& stream);
  Result<Done> take(Stream& stream, const varlink::ClientReply& reply);
  void deny(Stream& stream);
  void look_whether_up();

  static int on_reply(sd_event_source*, int fd, std::uint32_t events, void* stream);
  static int on_time(sd_event_source*, std::uint64_t, void* self);
  static int on_silence(sd_event_source*, std::uint64_t, void* self);

  sd_event* event_;
  Plan plan_;
  Events events_;
  std::array<Stream, kKinds.size()> streams_;
  EventSource timer_;    // to open what is not open
  EventSource silence_;  // to begin anew where keplerd says nothing any more
  std::chrono::milliseconds delay_;
  std::string reason_;  // last told
  bool up_ = false;
};

}  // namespace keplerd::exporter
