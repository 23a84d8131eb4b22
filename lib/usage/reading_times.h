// SPDX-License-Identifier: Apache-2.0
// Relates the readings that a program of its own makes every second or so, at times of its own, to the
// windows of samples. Pure.
#pragma once

#include <optional>

#include "base/units.h"

namespace keplerd {

// Readings that are further apart, or older, say nothing of the present.
inline constexpr Nanoseconds kOldestUse = std::chrono::seconds(60);

class ReadingTimes {
 public:
  enum class Order {
    kNotLater,  // than the last one: to be ignored
    kFirst,     // nothing is known of the time before it
    kNext,      // it follows the last one
  };
  // Takes the time of a reading (CLOCK_BOOTTIME).
  Order take(Nanoseconds time);
  // The last reading has nothing to do with those before it: there is no time between them.
  void begin_anew();

  enum class Basis {
    kUnknown,   // there are no two readings, or the last one is older than the time between them and a few
                // seconds
    kReadings,  // the window has all that was read since the last call
    kLast,      // there was no reading, because windows are as short as the time between them: it is taken to
                // go on as between the last two
  };
  // Of the window that ends at `now` (CLOCK_BOOTTIME) and began with the last call.
  Basis advance(Nanoseconds now);

 private:
  std::optional<Nanoseconds> last_;
  Nanoseconds period_{0};  // between the last two; 0: there are none
  bool is_new_ = false;    // there was one since the last advance()
};

}  // namespace keplerd
