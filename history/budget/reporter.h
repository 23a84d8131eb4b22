// SPDX-License-Identifier: Apache-2.0
// Reports that a budget was crossed: in the journal, on D-Bus, and by starting the administrator's service.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "history/budget/budgets.h"
#include "history/budget/bus.h"
#include "history/budget/waiting.h"

namespace keplerd::history {

// "budget 2kWh/day vm web: 80 % used (1.600 of 2.000 kWh)".
std::string crossing_message(const BudgetUse& use, int percent);

class CrossingReporter {
 public:
  // `bus`: nothing where there is none; its connection must end before this does. `directory`: for the
  // environment of services; created if needed.
  CrossingReporter(Bus* bus, std::string directory, WaitingCrossings waiting)
      : bus_(bus), directory_(std::move(directory)), waiting_(std::move(waiting)) {}

  void report(const BudgetUse& use, int percent);

  // Starts the services of crossings that wait because an earlier one of the same subject still runs. To be
  // called now and then.
  void start_waiting();

 private:
  Result<Done> write_environment(const Crossing& crossing) const;
  void save_waiting();
  void try_to_start(const std::string& service);
  void start_next(const std::string& service);

  Bus* bus_;
  std::string directory_;
  WaitingCrossings waiting_;
  std::set<std::string> checked_;  // services whose state systemd is asked for
};

}  // namespace keplerd::history
