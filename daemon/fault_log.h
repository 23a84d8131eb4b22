// SPDX-License-Identifier: Apache-2.0
// Which faults of meters are worth a line in the log: the first of a kind of each zone at once, then one a
// minute that tells how often it came again. A counter that is broken for good is no reason for more.
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
  // The zone has this fault at `now` (CLOCK_MONOTONIC): the line to log, if it is the first for a minute.
  // `detail`: goes to the end of that line; one with another is the same fault.
  std::optional<std::string> report(const std::string& zone, const std::string& fault, Nanoseconds now,
                                    const std::string& detail = {});

  // Lines on those that came again in the minute since their last line. To be called with each sample.
  std::vector<std::string> summaries(Nanoseconds now);

 private:
  struct Reported {
    Nanoseconds at{0};
    int again = 0;
  };
  std::map<std::pair<std::string, std::string>, Reported> reported_;  // by zone and fault
};

}  // namespace keplerd
