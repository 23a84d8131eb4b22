// SPDX-License-Identifier: Apache-2.0
// keplerd's live stream for output that scrolls. If the connection is lost after the first reply, for example
// because keplerd is restarted, it is opened again, after a delay that grows. Errors that keplerd answers
// with are final.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "cli/backoff.h"
#include "client/requests.h"

namespace keplerd::cli {

class Follow {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // The clock, replaced by tests.
  struct Clock {
    std::function<Time()> now;
    // Waits until `fd` (unless -1) can be read, or `timeout` (unless unset) has passed.
    std::function<void(int fd, std::optional<std::chrono::milliseconds> timeout)> wait;
  };
  static Clock steady_clock();

  struct Settings {
    std::string address;
    varlink::Json parameters;  // of Monitor
    // How long an outage may last; unset: for ever.
    std::optional<std::chrono::seconds> patience = {};
    std::function<void(const std::string&)> report = {};  // the begin and the end of an outage
  };

  Follow(Settings settings, Clock clock) : settings_(std::move(settings)), clock_(std::move(clock)) {}

  // The first connection, whose failure is final.
  Result<Done> open();

  struct Reply {
    varlink::Json tick;
    bool is_first = false;  // on its connection: rows begin again
  };
  Result<Reply> next();

  // Whether the error is that of a lost connection.
  static bool is_loss(const Error& error);
  // next() connects again. For a loss that the caller noticed on a connection of its own.
  void lose(const Error& error);

 private:
  Result<Done> connect();
  Result<varlink::Json> receive();
  Result<Done> reconnect();
  std::optional<std::chrono::milliseconds> left() const;
  Error end_of_patience() const;

  Settings settings_;
  Clock clock_;
  std::optional<client::Daemon> daemon_;
  Backoff backoff_;
  bool answered_ = false;       // there has been a reply
  bool is_first_ = true;        // the next one is the first of its connection
  std::optional<Time> outage_;  // since when
};

}  // namespace keplerd::cli
