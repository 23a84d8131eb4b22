// SPDX-License-Identifier: Apache-2.0
// Which budgets were crossed in which period: each crossing is reported once, also if keplerd-history is
// restarted.
#pragma once

#include <string>

#include "history/span.h"
#include "history/store/database.h"

namespace keplerd::history {

struct CrossingKey {
  std::string budget;  // as configured
  Time period{0};      // its start
};

// The highest percentage that was reported; 0: none was.
int reported_percent(Database& database, const CrossingKey& key);

// Also deletes what was reported more than a year before that period.
void record_crossing(Database& database, const CrossingKey& key, int percent);

}  // namespace keplerd::history
