// SPDX-License-Identifier: Apache-2.0
#include "usage/reading_times.h"

#include <utility>

namespace keplerd {
namespace {

constexpr Nanoseconds kMostLate = std::chrono::seconds(5);
constexpr Nanoseconds kMostEarly = std::chrono::seconds(1);  // clocks are read one after another

}  // namespace

ReadingTimes::Order ReadingTimes::take(Nanoseconds time) {
  if (last_ && time <= *last_) return Order::kNotLater;
  period_ = last_ ? time - *last_ : Nanoseconds{0};
  if (period_ > kOldestUse) period_ = Nanoseconds{0};
  is_new_ = period_ > Nanoseconds{0};
  last_ = time;
  return is_new_ ? Order::kNext : Order::kFirst;
}

void ReadingTimes::begin_anew() {
  period_ = Nanoseconds{0};
  is_new_ = false;
}

ReadingTimes::Basis ReadingTimes::advance(Nanoseconds now) {
  const bool is_new = std::exchange(is_new_, false);
  if (!last_ || period_ == Nanoseconds{0}) return Basis::kUnknown;
  const Nanoseconds age = now - *last_;
  if (age < -kMostEarly || age > period_ + kMostLate) return Basis::kUnknown;
  return is_new ? Basis::kReadings : Basis::kLast;
}

}  // namespace keplerd
