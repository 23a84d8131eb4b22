// SPDX-License-Identifier: Apache-2.0
// Assembles keplerd-history: one sd-event loop for keplerd's streams, clients and signals.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <systemd/sd-event.h>

#include "base/result.h"
#include "base/unique_fd.h"
#include "event/end_signals.h"
#include "event/fair_queue.h"
#include "history/access.h"
#include "history/budget/budgets.h"
#include "history/budget/bus.h"
#include "history/budget/reporter.h"
#include "history/follower.h"
#include "history/options.h"
#include "history/recorder.h"
#include "history/settings.h"
#include "varlink/server.h"

namespace keplerd::history {

// Below the state directory.
inline constexpr char kDatabase[] = "/history.sqlite";

class History {
 public:
  History(Options options, const Settings& settings);
  ~History();
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  // Does everything that can fail: the database, the socket, the loop.
  Result<Done> start();

  // Runs until SIGTERM or SIGINT. Returns the exit status.
  int run();

 private:
  Result<Done> open_database();
  void watch_budgets();
  void check_budgets(Time reading);
  const std::vector<BudgetUse>& up_to_date_budgets();  // written, and so checked
  Result<Done> serve();

  Options options_;
  Settings settings_;
  sd_event* event_ = nullptr;
  UniqueFd lock_;  // of the state directory
  Access access_;
  FairQueue full_queue_, limited_queue_;
  std::optional<Recorder> recorder_;
  std::optional<Bus> bus_;
  std::optional<CrossingReporter> reporter_;
  Budgets budgets_;
  std::string budgets_problem_;              // why the last check failed
  std::string keplerd_ = "not reached yet";  // why keplerd cannot be followed
  std::unique_ptr<varlink::Server> server_;
  std::unique_ptr<Follower> follower_;
  EndSignals signals_;
  std::string socket_path_;
};

}  // namespace keplerd::history
