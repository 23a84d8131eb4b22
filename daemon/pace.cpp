// SPDX-License-Identifier: Apache-2.0
#include "daemon/pace.h"

#include <algorithm>

#include "config/settings.h"

namespace keplerd {
namespace {

// Counters are 32 bits wide: at 350 W the fastest wraps within 188 s. So they are read at least this often.
constexpr Nanoseconds kWrapGuard = kLongestInterval;

// A sample for an aligned follower is taken so long after the instant it is for: a clock that is being
// adjusted may be slightly ahead of the timer.
constexpr Nanoseconds kAfterInstant = std::chrono::milliseconds(20);

// A caller is likely to call again.
constexpr Nanoseconds kAttention = std::chrono::seconds(10);
constexpr Nanoseconds kProcessAttention = std::chrono::minutes(1);

}  // namespace

void Pace::set(const SamplingSettings& settings) {
  interval_ = settings.interval > Nanoseconds{0} ? settings.interval : kWrapGuard;
  unwatched_ = std::max(interval_, settings.unwatched_interval);
}

std::shared_ptr<const Listener> Pace::listen(Listener listener) {
  auto held = std::make_shared<const Listener>(listener);
  listeners_.push_back(held);
  return held;
}

bool Pace::wants_processes(Nanoseconds now) const {
  if (processes_asked_ && now - *processes_asked_ < kProcessAttention) return true;
  return std::ranges::any_of(listeners_, [](const std::weak_ptr<const Listener>& listening) {
    const auto listener = listening.lock();
    return listener && listener->processes;
  });
}

Nanoseconds Pace::period(Nanoseconds now, bool may_read_seldom) {
  const bool attended = asked_ && now - *asked_ < kAttention;
  Nanoseconds period = may_read_seldom && !attended ? unwatched_ : interval_;
  std::erase_if(listeners_, [&](const std::weak_ptr<const Listener>& listening) {
    const auto listener = listening.lock();
    if (!listener) return true;
    const bool sets_the_pace = listener->full && listener->wanted > Nanoseconds{0};
    period = std::min(period, std::max(listener->wanted, sets_the_pace ? kShortestInterval : interval_));
    return false;
  });
  return period;
}

std::optional<Nanoseconds> Pace::until_aligned(Nanoseconds realtime) const {
  std::optional<Nanoseconds> shortest;
  for (const auto& listening : listeners_) {
    const auto listener = listening.lock();
    if (!listener || !listener->full || !listener->aligned) continue;
    const Nanoseconds left = listener->wanted - realtime % listener->wanted + kAfterInstant;
    shortest = std::min(shortest.value_or(left), left);
  }
  return shortest;
}

}  // namespace keplerd
