// SPDX-License-Identifier: Apache-2.0
#include "cli/run/session.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/syscall.h>
#include <unistd.h>

#include "cli/fields.h"
#include "cli/run/scope_processes.h"

namespace keplerd::cli::run {

using std::chrono::milliseconds;

// Whether a signal asks for an end meanwhile.
bool Session::wait_for(int fd, milliseconds longest) { return signals_.wait_for(fd, longest); }

bool Session::pause(milliseconds span) {
  const microseconds end = monotonic_now() + span;
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(end - monotonic_now());
    if (left <= milliseconds(0)) return false;
    if (wait_for(-1, left)) return true;
  }
}

// Puts both processes into a scope; sets problem_ if that, or keplerd, fails.
bool Session::start_measuring(const Child& child, const Holder& holder) {
  ScopeRequest request = plan_.scope;
  if (request.name.empty()) request.name = unique_scope_name();
  request.description = "keplerctl run " + command_line(plan_.command);
  request.processes = {holder.pid(), child.pid()};
  const auto scope = start_scope(request);
  if (!scope && problem_.empty()) problem_ = "no scope: " + scope.error().message;
  if (!problem_.empty() && !std::exchange(warned_, true)) warn_("not measured: " + problem_);
  directory_.clear();
  if (!scope && plan_.wait) warn_("--wait: without a scope, only the command itself is waited for");
  if (scope && plan_.wait) {
    auto directory = scope_directory(holder.pid(), scope->name);
    if (directory) {
      directory_ = *std::move(directory);
    } else {
      warn_("--wait: " + printable(directory.error().message));
    }
  }
  if (!scope || !meter_ || !problem_.empty()) return false;
  meter_->begin(scope->cgroup, [this](int fd, milliseconds longest) { return wait_for(fd, longest); });
  return true;
}

// Waits for any of these, and takes what the meter has got.
void Session::poll_for(std::span<pollfd> inputs, bool measured, int longest) {
  if (measured && meter_->fd() < 0) {
    const int retry = static_cast<int>(Meter::kReconnect.count());
    longest = longest < 0 ? retry : std::min(longest, retry);
  }
  (void)::poll(inputs.data(), inputs.size(), longest);
  if (!measured) return;
  meter_->reconnect();
  meter_->take();
}

Ended Session::wait_for_end(Child& child, bool measured, Outcome& outcome) {
  for (;;) {
    if (const auto ended = child.poll_end()) return *ended;
    pollfd inputs[] = {{signals_.fd(), POLLIN, 0}, {measured ? meter_->fd() : -1, POLLIN, 0}};
    poll_for(inputs, measured, -1);
    if (signals_.take(child.pid())) outcome.interrupted = true;
  }
}

// Returns whether a signal asks for an end meanwhile.
bool Session::wait_for_processes(pid_t holder, bool measured) {
  constexpr int kRetry = 100;  // ms, where a process cannot be waited for
  while (const auto other = find_process(directory_, holder)) {
    const UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, *other, 0)));
    pollfd inputs[] = {
        {signals_.fd(), POLLIN, 0}, {measured ? meter_->fd() : -1, POLLIN, 0}, {process.get(), POLLIN, 0}};
    poll_for(inputs, measured, process ? -1 : kRetry);
    if (signals_.take(0)) return true;
  }
  return false;
}

Result<Outcome> Session::run() {
  auto holder = Holder::make();
  if (!holder) return holder.error();
  auto child = Child::make(plan_.command, signals_);
  if (!child) return child.error();
  const bool measured = start_measuring(*child, *holder);

  Outcome outcome;
  CommandRun run{plan_.command, plan_.label};
  run.began = monotonic_now();
  if (const auto started = child->start(); !started) {
    outcome.started = false;
    outcome.failure = started.error().message;
    run.ended = run.began;
    run.exit_status = status_of_failed_start(started.error().code);
    outcome.report = unmeasured_report(run, "the command was not started");
    return outcome;
  }
  const Ended ended = wait_for_end(*child, measured, outcome);
  bool is_over = false;
  if (!directory_.empty() && !outcome.interrupted) {
    outcome.interrupted = wait_for_processes(holder->pid(), measured);
    is_over = !outcome.interrupted;
  }
  run.ended = monotonic_now();
  run.exit_status = ended.status;
  run.cpu = ended.cpu;
  outcome.interrupted = outcome.interrupted || ended.by_signal;
  if (!measured) {
    outcome.report = unmeasured_report(run, problem_);
    outcome.warned = warned_;
    return outcome;
  }
  auto measurement =
      meter_->end(run.ended, [this](int fd, milliseconds longest) { return wait_for(fd, longest); });
  if (!measurement) {
    outcome.report = unmeasured_report(run, measurement.error().message);
    return outcome;
  }
  measurement->holder = holder->pid();
  measurement->command = child->pid();
  measurement->is_over = is_over;
  outcome.report = measured_report(run, *measurement);
  return outcome;
}

Result<Outcome> Session::run_unmeasured(const std::vector<std::string>& command) {
  auto child = Child::make(command, signals_);
  if (!child) return child.error();
  Outcome outcome;
  CommandRun run{command, {}};
  if (const auto started = child->start(); !started) {
    outcome.started = false;
    outcome.failure = started.error().message;
    run.exit_status = status_of_failed_start(started.error().code);
  } else {
    const Ended ended = wait_for_end(*child, false, outcome);
    run.exit_status = ended.status;
    outcome.interrupted = outcome.interrupted || ended.by_signal;
  }
  outcome.report = unmeasured_report(run, {});
  return outcome;
}

}  // namespace keplerd::cli::run
