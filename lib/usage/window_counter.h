// SPDX-License-Identifier: Apache-2.0
// What the hardware counted of groups in a window, from what a program of its own reports every second or so.
// Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/units.h"
#include "usage/count_file.h"
#include "usage/reading_times.h"

namespace keplerd {

class WindowCounter {
 public:
  // `all` is at least the sum of the groups'.
  struct Counts {
    Count all;
    std::map<std::uint64_t, Count> groups;  // by GroupUsage::identity
  };

  // Takes a reading; one that is not later than the last one is ignored. Only groups in both readings are
  // measured between them; a count that has gone back is not a measurement, and if it is that of all, or
  // it was reset, nothing is known between the two.
  void take(const CountReading& reading);

  // The counts of the window that ends at `now` (CLOCK_BOOTTIME) and began with the last call; of the groups
  // that were measured in all of it. Nothing if it is not known (ReadingTimes).
  std::optional<Counts> advance(Nanoseconds now);

 private:
  ReadingTimes times_;
  std::optional<CountReading> last_;
  Counts latest_;                // between the last two
  std::optional<Counts> since_;  // since the last advance(); unset: there was no reading
};

}  // namespace keplerd
