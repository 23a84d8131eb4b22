// SPDX-License-Identifier: Apache-2.0
// keplerd-history on D-Bus: org.keplerd1.History (dbus/org.keplerd1.History.xml), and systemd, which starts
// services for it. Without a bus, nothing of it works, and everything else does. Never waits for the bus.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <systemd/sd-event.h>

#include "base/result.h"
#include "history/budget/budgets.h"

struct sd_bus;
struct sd_bus_message;

namespace keplerd::history {

class Bus {
 public:
  // For ListBudgets.
  using List = std::function<const std::vector<BudgetUse>&()>;

  // `address`: "system", or the address of a bus. `event` is kept referenced.
  Bus(sd_event* event, std::string address, List list);
  ~Bus();
  Bus(const Bus&) = delete;
  Bus& operator=(const Bus&) = delete;

  // Connects and requests the name, unless it is connected.
  Result<Done> connect();

  // Sends the signal BudgetCrossed.
  Result<Done> announce(const BudgetUse& use, int percent);

  // `done` gets the error unless there is no such unit.
  using Started = std::function<void(const std::string& unit, const Result<Done>& result)>;
  Result<Done> start_unit(const std::string& unit, Started done);

  int answer(sd_bus_message* call);

 private:
  struct Close {
    void operator()(sd_bus* bus) const;
  };

  sd_event* event_;
  std::string address_;
  List list_;
  std::unique_ptr<sd_bus, Close> bus_;
};

}  // namespace keplerd::history
