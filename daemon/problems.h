// SPDX-License-Identifier: Apache-2.0
// Finds what keplerd cannot do now of what it promises, and since when. Pure.
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
  // What no sample shows; with the next report. `what` unset: there is no such problem any more.
  void set(ProblemKind kind, std::optional<std::string> what);

  // Adds all there are, with those that show in the report itself.
  void add_to(Report& report);

 private:
  std::map<ProblemKind, std::string> set_;
  bool had_power_ =
      true;  // in the last window that is long enough to have one; the first of a source has none
  bool powerless_ = false;                                         // nor in the one before
  std::map<std::pair<ProblemKind, std::string>, Realtime> since_;  // by kind and object
};

}  // namespace keplerd
