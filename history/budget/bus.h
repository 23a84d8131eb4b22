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

  // Sends the signal BudgetCrossed, as soon as the name is owned: the policy of the bus, by which the signal
  // is delivered to some users only, is that of the name. Without the name, it is not sent.
  Result<Done> announce(const BudgetUse& use, int percent);

  // `done` gets whether the unit neither runs nor is about to; true if it is not known. It is destroyed when
  // it was called, or with the connection.
  using Checked = std::function<void(bool is_inactive)>;
  Result<Done> check_unit(const std::string& unit, Checked done);

  // `done` gets whether there is such a unit, or why it was not started.
  using Started = std::function<void(const std::string& unit, const Result<bool>& result)>;
  Result<Done> start_unit(const std::string& unit, Started done);

  // For callbacks of the bus.
  int answer(sd_bus_message* call);
  void take_name(bool is_owned);

 private:
  struct Close {
    void operator()(sd_bus* bus) const;
  };

  struct Crossing {
    BudgetUse use;
    int percent = 0;
  };
  Result<Done> emit(const Crossing& crossing);

  sd_event* event_;
  std::string address_;
  List list_;
  std::unique_ptr<sd_bus, Close> bus_;
  enum class Name { kRequested, kOwned, kRefused };
  Name name_ = Name::kRequested;
  std::vector<Crossing> waiting_;  // for the name
};

}  // namespace keplerd::history
