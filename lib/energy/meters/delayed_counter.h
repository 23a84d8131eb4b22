// SPDX-License-Identifier: Apache-2.0
// The counter of a meter that is read by somebody else, at times of its own. It is shown as it was a short
// time ago, between two readings: its power is then that of the meter, and not a multiple of it in one sample
// and none in the next, however often samples are taken. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <optional>

#include "base/result.h"
#include "base/units.h"
#include "energy/energy_source.h"
#include "energy/meters/meter_files.h"
#include "energy/power_integral.h"

namespace keplerd {

// What is older says nothing of the present.
inline constexpr Nanoseconds kOldestReading = std::chrono::seconds(60);

// How old a reading usually becomes before the next one: the highest such age but one of the last eight,
// since one may have come late. While each sample has another reading, there may be more of them than are
// seen.
class UsualAge {
 public:
  // At least what programs have that write each second, so that it is the same for them at any pace of
  // samples.
  static constexpr Nanoseconds kLeast = std::chrono::seconds(1);

  void see(Nanoseconds age);
  // `later`: than the last one.
  void next_reading(Nanoseconds later);
  Nanoseconds get() const;

 private:
  std::array<Nanoseconds, 8> last_{};
  std::size_t seen_ = 0;  // of readings that another one has followed
  Nanoseconds current_{0};
  bool is_seen_ = false, is_seen_again_ = false;  // the current one
};

class DelayedCounter {
 public:
  explicit DelayedCounter(bool counts_energy) : counts_energy_(counts_energy) {}

  // Takes a reading; one that is not later than the last one is ignored. A counter that has gone back is
  // followed: the step is judged as that of any other (attribution/counter_step.h).
  void take(const MeterReading& reading);

  // The counter as it is shown at `now` (CLOCK_BOOTTIME), which is not before the last call. Fails without a
  // reading of the last minute, or with one of the future.
  Result<Microjoules> read(Nanoseconds now);

  // How old what read() has returned is at `now`; unset without a reading.
  std::optional<ReadingAge> age(Nanoseconds now) const;

 private:
  struct Point {
    Nanoseconds time{0};
    Microjoules energy;
  };
  void show(Nanoseconds now);
  Microjoules shown() const;

  bool counts_energy_;
  PowerIntegral integral_;
  std::deque<Point> points_;  // readings, from the last one not after `time_` on
  UsualAge usual_age_;
  std::optional<Nanoseconds> time_;  // that it is shown as of
  Nanoseconds read_{0};              // when that was
};

}  // namespace keplerd
