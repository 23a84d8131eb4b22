// SPDX-License-Identifier: Apache-2.0
// Runs a command in a scope of its own, and reports the energy that it used.
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/fields.h"
#include "cli/run/files.h"
#include "cli/run/series.h"
#include "cli/run/session.h"
#include "cli/verb.h"
#include "cli/verbs/run_results.h"

namespace keplerd::cli {
namespace {

using namespace run;

ScopeRequest scope_request(const RunOptions& options) {
  ScopeRequest request;
  const bool system = options.system || (!options.user && geteuid() == 0);
  request.manager = system ? Manager::kSystem : Manager::kUser;
  // Valid: the parser has checked them.
  if (!options.unit.empty()) request.name = *scope_name(options.unit);
  if (!options.slice.empty()) request.slice = *slice_name(options.slice);
  for (const std::string& property : options.properties)
    request.properties.push_back(*parse_property(property));
  return request;
}

Session open_session(const Context& context) {
  const RunOptions& options = context.options.run;
  auto meter = Meter::open(context.options.address, context.options.run.include_idle);
  std::string problem = meter ? meter->problem() : meter.error().message;
  std::optional<Meter> usable;
  if (meter) usable = *std::move(meter);
  return Session({options.command, options.label, options.wait, scope_request(options)}, std::move(usable),
                 std::move(problem), [&context](const std::string& message) { context.fail(message); });
}

class Series {
 public:
  Series(const Context& context, RunResults results)
      : context_(context),
        options_(context.options.run),
        results_(std::move(results)),
        session_(open_session(context)) {}

  // Returns the exit status.
  int run() {
    for (std::size_t i = 0; i < options_.warmup; ++i) {
      if (!prepare() || !warm_up()) return status_;
    }
    while (results_.size() < options_.repeat && prepare() && run_once()) {
    }
    return results_.size() > 0 ? results_.finish(status_) : status_;
  }

 private:
  // Each returns whether to go on.
  bool prepare() {
    const auto delay = std::chrono::ceil<std::chrono::milliseconds>(options_.delay);
    if (delay.count() > 0 && session_.pause(delay)) return stop(128 + SIGINT);
    if (options_.prepare.empty()) return true;
    const auto outcome = session_.run_unmeasured({"sh", "-c", options_.prepare});
    if (!ended(outcome)) return false;
    const int status = outcome->report.exit_status;
    if (status == 0) return true;
    return stop(context_.fail(fmt::format("--prepare failed with exit status {}", status)));
  }

  bool warm_up() {
    const auto outcome = session_.run_unmeasured(options_.command);
    if (!ended(outcome)) return false;
    if (outcome->report.exit_status == 0) return true;
    context_.fail("the command failed when it warmed up");
    return stop(outcome->report.exit_status);
  }

  bool run_once() {
    auto outcome = session_.run();
    if (!outcome) return stop(context_.fail(printable(outcome.error().message)));
    if (!outcome->started) return ended(outcome);
    status_ = outcome->report.exit_status;
    results_.add(std::move(outcome->report), outcome->warned);
    // Means are of what the command does when it succeeds.
    return !outcome->interrupted && status_ == 0;
  }

  // Whether it has run, and has not been interrupted.
  bool ended(const Result<Outcome>& outcome) {
    if (!outcome) return stop(context_.fail(printable(outcome.error().message)));
    if (!outcome->started) context_.fail(outcome->failure);
    if (!outcome->started || outcome->interrupted) return stop(outcome->report.exit_status);
    return true;
  }

  bool stop(int status) {
    status_ = status;
    return false;
  }

  const Context& context_;
  const RunOptions& options_;
  RunResults results_;
  Session session_;
  int status_ = 0;
};

int show_phases(const Context& context) {
  const std::string& path = context.options.run.summary;
  const auto text = read_file(path);
  if (!text) return context.fail(printable(text.error().message));
  const auto table = phases_table(*text, context.table_style());
  if (!table) return context.fail(printable(path + ": " + table.error().message));
  context.show(*table);
  return kFine;
}

}  // namespace

int run_run(const Context& context) {
  if (!context.options.run.summary.empty()) return show_phases(context);
  auto files = open_run_files(context);
  if (!files) return context.fail(printable(files.error().message));
  RunResults results(context, *std::move(files));
  if (!context.options.run.attach.empty()) return run_attached(context, std::move(results));
  return Series(context, std::move(results)).run();
}

}  // namespace keplerd::cli
