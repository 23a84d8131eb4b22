// SPDX-License-Identifier: Apache-2.0
// The counter of a meter that is read every few seconds by somebody else, at times of its own: between two
// readings it advances evenly, one reading later than the meter. Its power is then that of the meter, and not
// a multiple of it in one sample and none in the next. Pure.
#pragma once

#include <optional>

#include "base/result.h"
#include "base/units.h"
#include "energy/energy_source.h"
#include "energy/meters/meter_files.h"
#include "energy/power_integral.h"

namespace keplerd {

// What is older says nothing of the present.
inline constexpr Nanoseconds kOldestReading = std::chrono::seconds(60);

class DelayedCounter {
 public:
  explicit DelayedCounter(bool counts_energy) : counts_energy_(counts_energy) {}

  // Takes a reading; one that is not later than the last one is ignored. A counter that has gone back is
  // followed: the step is judged as that of any other (attribution/counter_step.h).
  void take(const MeterReading& reading);

  // The counter at `now` (CLOCK_BOOTTIME). Fails without a reading of the last minute, or with one of the
  // future.
  Result<Microjoules> at(Nanoseconds now) const;

  // How old the counter's value at `now` is; unset without a reading.
  std::optional<ReadingAge> age(Nanoseconds now) const;

 private:
  // By how much the counter has advanced from `before_` towards `last_` at `now`.
  Nanoseconds passed(Nanoseconds now) const;

  struct Point {
    Nanoseconds time{0};
    Microjoules energy;
  };

  bool counts_energy_;
  PowerIntegral integral_;
  std::optional<Point> before_, last_;
};

}  // namespace keplerd
