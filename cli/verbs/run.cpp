// SPDX-License-Identifier: Apache-2.0
// Runs a command in a scope of its own, and reports the energy that it used.
#include <fmt/format.h>

#include "base/write_all.h"
#include "cli/fields.h"
#include "cli/output/human.h"
#include "cli/run/files.h"
#include "cli/run/series.h"
#include "cli/run/session.h"
#include "cli/verb.h"
#include "cli/verbs/ask.h"
#include "cost/load.h"

namespace keplerd::cli {
namespace {

using namespace run;

// What is opened before the command runs, so that a mistyped name does not cost its result.
struct Files {
  UniqueFd report;             // unset: standard error
  std::vector<double> before;  // energies of --compare
  Rates rates;
};

Result<Files> open_files(const RunOptions& options) {
  Files files;
  if (!options.compare.empty()) {
    const auto result = read_result(options.compare);
    if (!result) return result.error();
    auto energies = energies_of(*result);
    if (!energies) return Error{options.compare + ": " + energies.error().message};
    files.before = *std::move(energies);
  }
  if (!options.report.empty()) {
    auto report = create_file(options.report);
    if (!report) return report.error();
    files.report = *std::move(report);
  }
  return files;
}

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
  auto meter = Meter::open(context.options.address);
  std::string problem = meter ? meter->problem() : meter.error().message;
  std::optional<Meter> usable;
  if (meter) usable = *std::move(meter);
  return Session({options.command, options.label, options.wait, scope_request(options)}, std::move(usable),
                 std::move(problem), [&context](const std::string& message) { context.fail(message); });
}

class Series {
 public:
  Series(const Context& context, Files files)
      : context_(context),
        options_(context.options.run),
        files_(std::move(files)),
        session_(open_session(context)) {}

  // Returns the exit status.
  int run() {
    for (std::size_t i = 0; i < options_.warmup; ++i) {
      if (!prepare() || !warm_up()) return status_;
    }
    while (runs_.size() < options_.repeat && prepare() && run_once()) {
    }
    if (!runs_.empty()) finish();
    return status_;
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
    runs_.push_back(std::move(outcome->report));
    Report& report = runs_.back();
    report.rates = files_.rates;
    status_ = report.exit_status;
    if (!context_.wants_json()) write(report_text(report, colour()));
    // Means are of what the command does when it succeeds.
    return !outcome->interrupted && report.exit_status == 0;
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

  void finish() {
    std::vector<double> now;
    for (const Report& report : successful(runs_))
      if (report.energy) now.push_back(static_cast<double>(report.energy->value));
    const bool comparable = !options_.compare.empty() && !now.empty();
    if (context_.wants_json()) {
      Json result = {{"run", series_json(runs_)}};
      if (comparable) result["comparison"] = comparison_json(options_.compare, files_.before, now);
      write(framed_json_text(result, context_.options.json, context_.options.framing == Framing::kSequence));
    } else {
      write(series_text(runs_) + (comparable ? comparison_text(options_.compare, files_.before, now) : ""));
    }
    if (!options_.compare.empty() && !comparable)
      context_.fail("nothing to compare: the energy is not known");
    append();
    check_budget();
  }

  void append() {
    if (options_.append.empty()) return;
    const auto appended = append_to_file(options_.append, series_json(runs_));
    if (!appended) context_.fail(printable(appended.error().message));
  }

  void check_budget() {
    if (!options_.max_energy || status_ != 0) return;
    const auto energy = mean_energy(runs_);
    if (!energy) {
      context_.fail("--max-energy cannot be checked: the energy is not known");
    } else if (*energy > *options_.max_energy) {
      status_ = context_.fail(fmt::format("{} are more than {} (--max-energy)", format_energy(*energy),
                                          format_energy(*options_.max_energy)),
                              kOverBudget);
    }
  }

  void write(const std::string& text) {
    if (!files_.report) {
      context_.err << text << std::flush;
      return;
    }
    const auto written = write_all(files_.report.get(), text, options_.report);
    if (!written) context_.fail(printable(written.error().message));
  }

  bool colour() const { return !files_.report && context_.terminal.colour && isatty(STDERR_FILENO) != 0; }

  const Context& context_;
  const RunOptions& options_;
  Files files_;
  Session session_;
  std::vector<Report> runs_;
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
  auto files = open_files(context.options.run);
  if (!files) return context.fail(printable(files.error().message));
  if (auto rates = load_rates_file(context.options.run.cost_config)) {
    files->rates = *std::move(rates);
  } else {
    context.fail(printable(rates.error().message));
  }
  return Series(context, *std::move(files)).run();
}

}  // namespace keplerd::cli
