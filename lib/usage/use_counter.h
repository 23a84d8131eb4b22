// SPDX-License-Identifier: Apache-2.0
// How long processes have used a device in a window, from what a program of its own reports every second or
// so, at times of its own. Pure.
#pragma once

#include <map>
#include <optional>

#include "base/units.h"
#include "usage/process_id.h"
#include "usage/reading_times.h"
#include "usage/usage_file.h"

namespace keplerd {

class UseCounter {
 public:
  using Uses = std::map<ProcessId, Nanoseconds>;  // of those that used it; never 0

  // Takes a reading; one that is not later than the last one is ignored. A process that is new in it has used
  // all its time since the one before. Of a time that has gone back, nothing is known: it is nobody's.
  void take(const UsageReading& reading);

  // The uses of the window that ends at `now` (CLOCK_BOOTTIME) and began with the last call. Nothing if they
  // are not known (ReadingTimes).
  std::optional<Uses> advance(Nanoseconds now);

  // Whether the last reading names it.
  bool names(ProcessId process) const { return last_ && last_->busy.contains(process); }

 private:
  ReadingTimes times_;
  std::optional<UsageReading> last_;
  Uses latest_;  // between the last two
  Uses since_;   // since the last advance()
};

}  // namespace keplerd
