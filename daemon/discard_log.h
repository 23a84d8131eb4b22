// SPDX-License-Identifier: Apache-2.0
// Which discarded windows are worth a line in the log: a counter that is broken for good is no reason for one
// each second.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "attribution/counter_step.h"
#include "base/units.h"

namespace keplerd {

class DiscardLog {
 public:
  // A window of the zone was discarded at `now` (CLOCK_MONOTONIC): the line to log, with the number of those
  // that were kept back, at most one a minute for a zone and cause.
  std::optional<std::string> tell(const std::string& zone, StepVerdict verdict, Nanoseconds now);

 private:
  struct Told {
    Nanoseconds at{0};
    int kept_back = 0;
  };
  std::map<std::pair<std::string, StepVerdict>, Told> told_;  // by zone and cause
};

}  // namespace keplerd
