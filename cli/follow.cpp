// SPDX-License-Identifier: Apache-2.0
#include "cli/follow.h"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>
#include <poll.h>

namespace keplerd::cli {

using std::chrono::milliseconds;

Follow::Clock Follow::steady_clock() {
  return {[] { return std::chrono::steady_clock::now(); },
          [](int fd, std::optional<milliseconds> timeout) {
            pollfd input{fd, POLLIN, 0};
            // An interrupted wait is repeated by the caller.
            (void)::poll(&input, 1, timeout ? static_cast<int>(timeout->count()) : -1);
          }};
}

Result<Done> Follow::connect() {
  daemon_.reset();
  auto daemon = client::Daemon::connect(settings_.address);
  if (!daemon) return daemon.error();
  if (auto started = daemon->start_monitor(settings_.parameters); !started) return started;
  daemon_ = std::move(*daemon);
  is_first_ = true;
  return Done{};
}

Result<Done> Follow::open() { return connect(); }

Result<Follow::Reply> Follow::next() {
  for (;;) {
    if (!daemon_) {
      if (const auto connected = reconnect(); !connected) return connected.error();
    }
    auto tick = receive();
    if (tick) {
      if (outage_) settings_.report("connected to keplerd again");
      outage_.reset();
      backoff_.reset();
      answered_ = true;
      return Reply{*std::move(tick), std::exchange(is_first_, false)};
    }
    if (!answered_ || !is_loss(tick.error())) return tick.error();
    if (outage_ && left() == milliseconds(0)) return end_of_patience();
    lose(tick.error());
  }
}

Result<varlink::Json> Follow::receive() {
  for (;;) {
    auto tick = daemon_->tick_that_has_come();
    if (!tick || !tick->is_null()) return tick;
    const auto timeout = left();
    if (timeout == milliseconds(0)) return Error{"keplerd does not answer", ETIMEDOUT};
    clock_.wait(daemon_->fd(), timeout);
  }
}

// The socket may be absent, or not permitted yet, while keplerd starts.
Result<Done> Follow::reconnect() {
  for (;;) {
    milliseconds delay = backoff_.next();
    if (const auto most = left()) {
      if (*most == milliseconds(0)) return end_of_patience();
      delay = std::min(delay, *most);
    }
    clock_.wait(-1, delay);
    if (connect()) return Done{};
  }
}

bool Follow::is_loss(const Error& error) { return error.code != 0 && error.code != EACCES; }

void Follow::lose(const Error& error) {
  daemon_.reset();
  if (outage_) return;
  outage_ = clock_.now();
  settings_.report(error.message + "; waiting for keplerd");
}

// Of the patience; unset: unlimited.
std::optional<milliseconds> Follow::left() const {
  if (!outage_ || !settings_.patience) return std::nullopt;
  const auto end = *outage_ + *settings_.patience;
  return std::max(std::chrono::ceil<milliseconds>(end - clock_.now()), milliseconds(0));
}

Error Follow::end_of_patience() const {
  return {fmt::format("keplerd has not returned within {} s", settings_.patience->count()), ETIMEDOUT};
}

}  // namespace keplerd::cli
