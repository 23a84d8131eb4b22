// SPDX-License-Identifier: Apache-2.0
// history.conf (keplerd-history(8)): how long history is kept, and budgets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "config/files.h"
#include "history/budget/budget.h"
#include "history/project.h"

namespace keplerd::history {

struct Settings {
  Nanoseconds five_minutes = std::chrono::hours(48);
  Nanoseconds hours = std::chrono::hours(24 * 400);
  Nanoseconds days = std::chrono::hours(24 * 366 * 5);
  Nanoseconds months = std::chrono::hours(24 * 366 * 20);
  // Of an hour: workloads that drew less in it are not listed in it.
  Microjoules min_energy{1'000'000};
  std::vector<Budget> budgets;
  std::optional<ProjectPattern> project;
};

// No file at all: the defaults. An error's message is one line: "FILE:LINE: what is wrong".
Result<Settings> load_settings(const std::vector<std::string>& directories = kConfigDirectories);
// That file alone; it must exist.
Result<Settings> load_settings_file(const std::string& path);

}  // namespace keplerd::history
