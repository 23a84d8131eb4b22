// SPDX-License-Identifier: Apache-2.0
// The live screen's connection to keplerd. If it is lost, or nothing arrives for 90 s, the screen says so and
// keeps its last values, and the connection is attempted again after a delay (250 ms to 5 s). The caller
// passes the time and waits.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "cli/backoff.h"
#include "cli/top/state.h"
#include "client/requests.h"

namespace keplerd::cli::top {

class Link {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit Link(std::string address) : address_(std::move(address)) {}

  // Requests the rows of the state's tab on a new connection.
  Result<Done> open(const State& state, Time now);

  // The same for another tab: a failure is shown on the screen.
  void reopen(State& state, Time now);

  // Handles everything that has arrived; connects again if that is due.
  void update(State& state, Time now);

  // To wait for input on; -1 while there is no connection.
  int fd() const { return daemon_ ? daemon_->fd() : -1; }
  // How long until update() has something to do even without input.
  std::chrono::milliseconds wait(Time now) const;

 private:
  void receive(State& state, Time now);
  void lose(State& state, std::string reason, Time now);

  std::string address_;
  std::optional<client::Daemon> daemon_;
  Backoff backoff_;
  Time due_;  // of the next attempt, or of the end of patience
};

}  // namespace keplerd::cli::top
