// SPDX-License-Identifier: Apache-2.0
#include "energy/meters/delayed_counter.h"

#include <algorithm>

#include <fmt/format.h>

namespace keplerd {
namespace {

// Clocks are read one after another.
constexpr Nanoseconds kMostEarly = std::chrono::seconds(1);

std::int64_t seconds(Nanoseconds span) {
  return std::chrono::duration_cast<std::chrono::seconds>(span).count();
}

}  // namespace

void DelayedCounter::take(const MeterReading& reading) {
  if (last_ && reading.time <= last_->time) return;
  const Point point{reading.time, counts_energy_ ? Microjoules{reading.value}
                                                 : integral_.advance(reading.time, {reading.value})};
  const bool continues = last_ && point.energy >= last_->energy && point.time - last_->time <= kOldestReading;
  before_ = continues ? last_ : std::nullopt;
  last_ = point;
}

Result<Microjoules> DelayedCounter::at(Nanoseconds now) const {
  if (!last_) return Error{.message = "it has not been read yet"};
  const Nanoseconds age = now - last_->time;
  if (age < -kMostEarly) return Error{.message = "the time of its last reading is in the future"};
  if (age > kOldestReading)
    return Error{.message = fmt::format("its last reading is {} s old", seconds(age))};
  if (!before_) return last_->energy;
  const Nanoseconds period = last_->time - before_->time;
  const __int128 energy = (last_->energy - before_->energy).value;
  return before_->energy +
         Microjoules{static_cast<std::int64_t>(energy * passed(now).count() / period.count())};
}

Nanoseconds DelayedCounter::passed(Nanoseconds now) const {
  return std::clamp(now - last_->time, Nanoseconds{0}, last_->time - before_->time);
}

std::optional<ReadingAge> DelayedCounter::age(Nanoseconds now) const {
  if (!last_) return std::nullopt;
  const Nanoseconds age = std::max(now - last_->time, Nanoseconds{0});
  if (!before_) return ReadingAge{age, age};
  return ReadingAge{age, now - before_->time - passed(now)};
}

}  // namespace keplerd
