// SPDX-License-Identifier: Apache-2.0
// Reports that a budget was crossed: in the journal, on D-Bus, and by starting the administrator's service.
#pragma once

#include <string>
#include <utility>

#include "history/budget/budgets.h"
#include "history/budget/bus.h"

namespace keplerd::history {

// "budget 2kWh/day vm web: 80 % used (1.600 of 2.000 kWh)".
std::string crossing_message(const BudgetUse& use, int percent);

class CrossingReporter {
 public:
  // `bus`: nothing where there is none. `directory`: for the environment of services; created if needed.
  CrossingReporter(Bus* bus, std::string directory) : bus_(bus), directory_(std::move(directory)) {}

  void report(const BudgetUse& use, int percent);

 private:
  Result<Done> write_environment(const BudgetUse& use, int percent) const;
  void start_service(const BudgetUse& use, int percent);

  Bus* bus_;
  std::string directory_;
};

}  // namespace keplerd::history
