// SPDX-License-Identifier: Apache-2.0
// The signals of a program that only serves clients: SIGTERM and SIGINT end its loop with status 0, and
// SIGPIPE is ignored, so that a client that disconnects does not end the process.
#pragma once

#include <array>

#include "event/sources.h"

namespace keplerd {

class EndSignals {
 public:
  Result<Done> attach(sd_event* loop);  // which outlives it
  void reset();

 private:
  std::array<Signal, 2> signals_;
};

}  // namespace keplerd
