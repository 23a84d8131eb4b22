// SPDX-License-Identifier: Apache-2.0
// How long processes have used a device in a window, from what a program of its own reports every second or
// so, at times of its own. Pure.
#pragma once

#include <map>
#include <optional>

#include "base/units.h"
#include "usage/process_id.h"
#include "usage/usage_file.h"

namespace keplerd {

// Readings that are further apart, or older, say nothing of the present.
inline constexpr Nanoseconds kOldestUse = std::chrono::seconds(60);

class UseCounter {
 public:
  using Uses = std::map<ProcessId, Nanoseconds>;  // of those that used it; never 0

  // Takes a reading; one that is not later than the last one is ignored. A process that is new in it has used
  // all its time since the one before. Of a time that has gone back, nothing is known: it is nobody's.
  void take(const UsageReading& reading);

  // The uses of the window that ends at `now` (CLOCK_BOOTTIME) and began with the last call: of all readings
  // since. If there was none, because windows are as short as the time between readings, processes are taken
  // to use the device as they did between the last two. Nothing without two readings, or if the last one is
  // older than that time and a few seconds.
  std::optional<Uses> advance(Nanoseconds now);

  // Whether the last reading names it.
  bool names(ProcessId process) const { return last_ && last_->busy.contains(process); }

 private:
  std::optional<UsageReading> last_;
  Nanoseconds period_{0};  // between the last two; 0: there are none
  Uses latest_;            // between the last two
  Uses since_;             // since the last advance()
  bool is_new_ = false;    // there was one since
};

}  // namespace keplerd
