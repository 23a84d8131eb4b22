// SPDX-License-Identifier: Apache-2.0
#include "energy/meters/delayed_counter.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

namespace keplerd {
namespace {

constexpr std::size_t kMostPoints = 64;

// Clocks are read one after another.
constexpr Nanoseconds kMostEarly = std::chrono::seconds(1);

// A delay that is too short or too long is corrected by these parts of the time that passes: powers are wrong
// by no more, unless a reading is late.
constexpr int kLengthen = 64, kShorten = 16;
// After the meter's program was away: else its energy would be that of another load for long.
constexpr Nanoseconds kFar = std::chrono::seconds(5);
constexpr int kShortenFast = 2;

std::int64_t seconds(Nanoseconds span) {
  return std::chrono::duration_cast<std::chrono::seconds>(span).count();
}

}  // namespace

void UsualAge::next_reading(Nanoseconds period) {
  last_[seen_++ % last_.size()] = std::max(std::exchange(current_, Nanoseconds{0}), period);
}

Nanoseconds UsualAge::get() const {
  if (seen_ == 0) return std::max(current_, kLeast);
  auto ages = last_;
  std::ranges::sort(ages, std::greater());
  constexpr std::size_t kEnough = 3;
  return std::max(ages[seen_ < kEnough ? 0 : 1], kLeast);
}

void DelayedCounter::take(const MeterReading& reading, int number) {
  if (!points_.empty() && reading.time <= points_.back().time) return;
  const Point point{reading.time, counts_energy_ ? Microjoules{reading.value}
                                                 : integral_.advance(reading.time, {reading.value})};
  if (!points_.empty()) {
    const Point& last = points_.back();
    const bool continues = point.energy >= last.energy && point.time - last.time <= kOldestReading;
    if (continues) {
      usual_age_.next_reading((point.time - last.time) / std::max(number, 1));
      if (points_.size() == kMostPoints) points_.pop_back();
    } else {
      points_.clear();
      time_.reset();
    }
  }
  points_.push_back(point);
}

Result<Microjoules> DelayedCounter::read(Nanoseconds now) {
  if (points_.empty()) return Error{.message = "it has not been read yet"};
  const Nanoseconds age = now - points_.back().time;
  if (age < -kMostEarly) return Error{.message = "the time of its last reading is in the future"};
  if (age > kOldestReading)
    return Error{.message = fmt::format("its last reading is {} s old", seconds(age))};
  usual_age_.see(age);
  show(now);
  return shown();
}

// Moves on what is shown, never back, and never beyond the last reading.
void DelayedCounter::show(Nanoseconds now) {
  const Nanoseconds passed = std::max(now - std::exchange(read_, now), Nanoseconds{0});
  if (!time_) {
    time_ = points_.front().time;
    return;
  }
  const Nanoseconds wanted = now - usual_age_.get();
  const Nanoseconds least = *time_ + passed - passed / kLengthen;
  const bool is_far = wanted - *time_ > passed + kFar;
  const Nanoseconds most = *time_ + passed + passed / (is_far ? kShortenFast : kShorten);
  time_ = std::min(std::clamp(wanted, least, most), points_.back().time);
  while (points_.size() > 1 && points_[1].time <= *time_) points_.pop_front();
}

Microjoules DelayedCounter::shown() const {
  const Point& before = points_.front();
  if (points_.size() == 1) return before.energy;
  const Point& after = points_[1];
  const __int128 energy = (after.energy - before.energy).value;
  return before.energy + Microjoules{static_cast<std::int64_t>(energy * (*time_ - before.time).count() /
                                                               (after.time - before.time).count())};
}

std::optional<ReadingAge> DelayedCounter::age(Nanoseconds now) const {
  if (points_.empty()) return std::nullopt;
  const Nanoseconds age = std::max(now - points_.back().time, Nanoseconds{0});
  return ReadingAge{age, std::max(now - time_.value_or(points_.back().time), age)};
}

}  // namespace keplerd
