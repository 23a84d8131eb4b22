// SPDX-License-Identifier: Apache-2.0
// Runs a command once: in a scope, measured, and reported; or directly, where there is no scope.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <poll.h>

#include "cli/run/child.h"
#include "cli/run/meter.h"
#include "cli/run/report.h"
#include "cli/run/scope.h"

namespace keplerd::cli::run {

struct RunPlan {
  std::vector<std::string> command;
  std::string label;
  bool wait = false;   // until nothing of the command is in the scope any more
  ScopeRequest scope;  // without processes; an empty name: one for each run
};

struct Outcome {
  Report report;
  bool started = true;       // otherwise `failure` says why not
  bool interrupted = false;  // by a signal for the command or for keplerctl
  std::string failure;
  bool warned = false;  // of the reason why nothing is measured, before the command was started
};

class Session {
 public:
  // `warn` is given what is wrong before the command starts, once.
  Session(RunPlan plan, std::optional<Meter> meter, std::string problem,
          std::function<void(const std::string&)> warn)
      : plan_(std::move(plan)),
        meter_(std::move(meter)),
        problem_(std::move(problem)),
        warn_(std::move(warn)) {}

  Result<Outcome> run();

  // Without scope and report. Returns the end of the command.
  Result<Outcome> run_unmeasured(const std::vector<std::string>& command);

  // Waits, unless a signal asks for an end. Returns whether one has.
  bool pause(std::chrono::milliseconds span);

 private:
  bool start_measuring(const Child& child, const Holder& holder);
  bool wait_for(int fd, std::chrono::milliseconds longest);
  void poll_for(std::span<pollfd> inputs, bool measured, int longest);
  Ended wait_for_end(Child& child, bool measured, Outcome& outcome);
  bool wait_for_processes(pid_t holder, bool measured);

  RunPlan plan_;
  std::optional<Meter> meter_;
  std::string problem_;  // why nothing is measured
  std::function<void(const std::string&)> warn_;
  bool warned_ = false;
  std::string directory_;  // of the scope, while its processes are waited for
  Signals signals_;
};

}  // namespace keplerd::cli::run
