// SPDX-License-Identifier: Apache-2.0
#include "usage/use_counter.h"

#include <algorithm>
#include <utility>

namespace keplerd {
namespace {

constexpr Nanoseconds kMostLate = std::chrono::seconds(5);
constexpr Nanoseconds kMostEarly = std::chrono::seconds(1);    // clocks are read one after another
constexpr Nanoseconds kMostUse = std::chrono::hours(24 * 12);  // sums over all processes fit

}  // namespace

void UseCounter::take(const UsageReading& reading) {
  if (last_ && reading.time <= last_->time) return;
  period_ = last_ ? reading.time - last_->time : Nanoseconds{0};
  latest_.clear();
  if (period_ > kOldestUse) period_ = Nanoseconds{0};
  if (period_ > Nanoseconds{0}) {
    is_new_ = true;
    for (const auto& [process, busy] : reading.busy) {
      const auto before = last_->busy.find(process);
      const Nanoseconds used = before == last_->busy.end() ? busy : busy - before->second;
      if (used <= Nanoseconds{0}) continue;
      latest_[process] = std::min(used, kMostUse);
      Nanoseconds& sum = since_[process];
      sum = std::min(sum + latest_[process], kMostUse);
    }
  } else {
    since_.clear();
    is_new_ = false;
  }
  last_ = reading;
}

std::optional<UseCounter::Uses> UseCounter::advance(Nanoseconds now) {
  Uses since = std::exchange(since_, {});
  const bool is_new = std::exchange(is_new_, false);
  if (!last_ || period_ == Nanoseconds{0}) return std::nullopt;
  const Nanoseconds age = now - last_->time;
  if (age < -kMostEarly || age > period_ + kMostLate) return std::nullopt;
  return is_new ? std::move(since) : latest_;
}

}  // namespace keplerd
