// SPDX-License-Identifier: Apache-2.0
// Detects which promises keplerd cannot keep at present, and since when. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/units.h"
#include "report/report.h"

namespace keplerd {

class Problems {
 public:
  // Reports a problem that no sample shows; effective with the next report. `what` unset: it is resolved.
  void set(ProblemKind kind, std::optional<std::string> what);

  // Adds all problems, including those visible in the report itself.
  void add_to(Report& report);

 private:
  std::map<ProblemKind, std::string> set_;
  bool had_power_ = true;   // in the last window that is long enough for power; a source's first one has none
  bool powerless_ = false;  // nor in the previous one
  std::map<std::pair<ProblemKind, std::string>, Realtime> since_;  // by kind and object
};

}  // namespace keplerd
