// SPDX-License-Identifier: Apache-2.0
#include "usage/use_counter.h"

#include <algorithm>
#include <utility>

namespace keplerd {
namespace {

constexpr Nanoseconds kMostUse = std::chrono::hours(24 * 12);  // sums over all processes fit

}  // namespace

void UseCounter::take(const UsageReading& reading) {
  const ReadingTimes::Order order = times_.take(reading.time);
  if (order == ReadingTimes::Order::kNotLater) return;
  latest_.clear();
  if (order == ReadingTimes::Order::kFirst) {
    since_.clear();
  } else {
    for (const auto& [process, busy] : reading.busy) {
      const auto before = last_->busy.find(process);
      const Nanoseconds used = before == last_->busy.end() ? busy : busy - before->second;
      if (used <= Nanoseconds{0}) continue;
      latest_[process] = std::min(used, kMostUse);
      Nanoseconds& sum = since_[process];
      sum = std::min(sum + latest_[process], kMostUse);
    }
  }
  last_ = reading;
}

std::optional<UseCounter::Uses> UseCounter::advance(Nanoseconds now) {
  Uses since = std::exchange(since_, {});
  switch (times_.advance(now)) {
    case ReadingTimes::Basis::kUnknown:
      return std::nullopt;
    case ReadingTimes::Basis::kReadings:
      return since;
    case ReadingTimes::Basis::kLast:
      return latest_;
  }
  return std::nullopt;
}

}  // namespace keplerd
