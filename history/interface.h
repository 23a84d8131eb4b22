// SPDX-License-Identifier: Apache-2.0
// org.keplerd.History (varlink/org.keplerd.History.varlink).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <systemd/sd-event.h>

#include "base/result.h"
#include "history/access.h"
#include "history/budget/budgets.h"
#include "history/project.h"
#include "history/recorder.h"
#include "varlink/server.h"

namespace keplerd::history {

// What the interface shows, and to whom. All of it must outlive the server.
struct Shown {
  Recorder& recorder;
  std::function<Viewer(const varlink::Peer& peer)> identify;
  std::function<const std::vector<BudgetUse>&()> budgets;  // up to date
  const std::string& keplerd;                              // why keplerd cannot be followed; empty: it is
  const std::optional<ProjectPattern>& project;
  const std::string& cost_config;  // what energy costs: a file; empty: cost.conf
};

// Requests of `server` are computed on the loop `event`.
Result<Done> add_history_interface(varlink::Server& server, sd_event* event, Shown shown);

}  // namespace keplerd::history
