// SPDX-License-Identifier: Apache-2.0
// Rate limits the logging of meter faults: the first of each kind and zone at once, then one line a minute
// with the number of repetitions. A counter that is permanently broken does not flood the log.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"

namespace keplerd {

class FaultLog {
 public:
  // Records that the zone has this fault at `now` (CLOCK_MONOTONIC). Returns the line to log, if it is the
  // first in a minute. `detail` is appended to the line; a different detail is still the same fault.
  std::optional<std::string> report(const std::string& zone, const std::string& fault, Nanoseconds now,
                                    const std::string& detail = {});

  // Lines for faults repeated in the minute since their last line. Call it with each sample.
  std::vector<std::string> summaries(Nanoseconds now);

 private:
  struct Reported {
    Nanoseconds at{0};
    int again = 0;
  };
  std::map<std::pair<std::string, std::string>, Reported> reported_;  // by zone and fault
};

}  // namespace keplerd
