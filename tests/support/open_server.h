// SPDX-License-Identifier: Apache-2.0
// A varlink server that gives all clients full access.
#pragma once

#include <cstdlib>

#include "event/fair_queue.h"
#include "event/priority.h"
#include "varlink/server.h"

namespace keplerd {

class OpenServer {
 public:
  explicit OpenServer(sd_event* loop)
      : server_(loop, {queue_, queue_}, {"v", "p", "1", "u"}, {},
                [](const varlink::Peer&) { return varlink::Admission{}; }) {
    if (!queue_.attach(loop, priority::kNormal)) std::abort();
  }
  varlink::Server* operator->() { return &server_; }
  varlink::Server& operator*() { return server_; }

 private:
  FairQueue queue_{{}, [] { return Nanoseconds{0}; }};
  varlink::Server server_;
};

}  // namespace keplerd
