// SPDX-License-Identifier: Apache-2.0
#include "cli/top/link.h"

#include <algorithm>

#include "cli/top/columns.h"

namespace keplerd::cli::top {
namespace {

using namespace std::chrono_literals;

// keplerd samples at least every 30 s.
constexpr std::chrono::milliseconds kLongestSilence = 90s;

}  // namespace

Result<Done> Link::open(const State& state, Time now) {
  daemon_.reset();
  auto daemon = client::Daemon::connect(address_);
  if (!daemon) return daemon.error();
  if (auto started = daemon->start_monitor({{"kind", tabs()[state.tab].kind}}); !started) return started;
  daemon_ = std::move(*daemon);
  due_ = now + kLongestSilence;
  return Done{};
}

void Link::reopen(State& state, Time now) {
  if (const auto opened = open(state, now); !opened) lose(state, opened.error().message, now);
}

void Link::update(State& state, Time now) {
  if (daemon_) {
    receive(state, now);
    if (daemon_ && now >= due_) lose(state, "keplerd has stopped sending updates", now);
  } else if (now >= due_) {
    reopen(state, now);
  }
}

void Link::receive(State& state, Time now) {
  for (;;) {
    const auto tick = daemon_->tick_that_has_come();
    if (!tick) return lose(state, tick.error().message, now);
    if (tick->is_null()) return;
    apply_tick(state, *tick);
    backoff_.reset();
    due_ = now + kLongestSilence;
  }
}

std::chrono::milliseconds Link::wait(Time now) const {
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(due_ - now), 0ms);
}

void Link::lose(State& state, std::string reason, Time now) {
  daemon_.reset();
  top::lose(state, std::move(reason));
  due_ = now + backoff_.next();
}

}  // namespace keplerd::cli::top
