// SPDX-License-Identifier: Apache-2.0
// keplerctl's exit statuses, documented in keplerctl(1).
#pragma once

namespace keplerd::cli {

enum ExitStatus : int {
  kFine = 0,
  kFailed = 1,
  kUsage = 2,
  kNothingSuch = 3,
  kOverBudget = 3,   // run only
  kNotMeasured = 4,  // doctor only
};

}  // namespace keplerd::cli
