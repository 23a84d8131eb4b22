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
// since one may have come late.
class UsualAge {
 public:
  // That of programs that write each second.
  static constexpr Nanoseconds kLeast = std::chrono::seconds(1);

  void see(Nanoseconds age) { current_ = std::max(current_, age); }
  // `period`: since the last one.
  void next_reading(Nanoseconds period);
  Nanoseconds get() const;

 private:
  std::array<Nanoseconds, 8> last_{};
  std::size_t seen_ = 0;  // of readings that another one has followed
  Nanoseconds current_{0};
};

class DelayedCounter {
 public:
  explicit DelayedCounter(bool counts_energy) : counts_energy_(counts_energy) {}

  // Takes a reading; one that is not later than the last one is ignored. `number`: of the readings since the
  // last one, if there were others before this one. A counter that has gone back is followed: the step is
  // judged as that of any other (attribution/counter_step.h).
  void take(const MeterReading& reading, int number = 1);

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
