// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/run_results.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/write_all.h"
#include "cli/fields.h"
#include "cli/output/human.h"
#include "cli/output/width.h"
#include "cli/run/files.h"
#include "cli/run/series.h"
#include "cost/load.h"

namespace keplerd::cli {

using namespace run;

Result<RunFiles> open_run_files(const Context& context) {
  const RunOptions& options = context.options.run;
  RunFiles files;
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
  if (const auto tariff = load_tariff_file(options.cost_config)) {
    files.rates = rates_at(
        *tariff, std::chrono::duration_cast<TariffTime>(std::chrono::system_clock::now().time_since_epoch()));
  } else {
    context.fail(printable(tariff.error().message));
  }
  return files;
}

void RunResults::add(Report report, bool warned) {
  report.rates = files_.rates;
  if (!context_.wants_json()) {
    Report shown = report;
    if (warned && !files_.report) shown.problem = "see above";
    write(report_text(shown, style()));
  }
  runs_.push_back(std::move(report));
}

int RunResults::finish(int status) {
  const RunOptions& options = context_.options.run;
  std::vector<double> now;
  for (const Report& report : successful(runs_))
    if (report.energy) now.push_back(static_cast<double>(report.energy->value));
  const bool comparable = !options.compare.empty() && !now.empty();
  if (context_.wants_json()) {
    Json result = {{"run", series_json(runs_)}};
    if (comparable) result["comparison"] = comparison_json(options.compare, files_.before, now);
    write(framed_json_text(result, context_.options.json, context_.options.framing == Framing::kSequence));
  } else {
    const std::string comparison = comparable ? comparison_text(options.compare, files_.before, now) : "";
    write(series_text(runs_, style()) + wrap_words(comparison, style().width));
  }
  if (!options.compare.empty() && !comparable) context_.fail("nothing to compare: the energy is not known");
  append();
  return status == 0 ? check_budget() : status;
}

void RunResults::note(const std::string& text) const {
  if (!context_.options.quiet && !context_.wants_json()) context_.err << text << std::flush;
}

void RunResults::append() {
  const std::string& path = context_.options.run.append;
  if (path.empty()) return;
  const auto appended = append_to_file(path, series_json(runs_));
  if (!appended) context_.fail(printable(appended.error().message));
}

int RunResults::check_budget() {
  const auto budget = context_.options.run.max_energy;
  if (!budget) return kFine;
  const auto energy = mean_energy(runs_);
  if (!energy) {
    context_.fail("--max-energy cannot be checked: the energy is not known");
    return kFine;
  }
  if (*energy <= *budget) return kFine;
  return context_.fail(
      fmt::format("{} are more than {} (--max-energy)", format_energy(*energy), format_energy(*budget)),
      kOverBudget);
}

void RunResults::write(const std::string& text) {
  if (!files_.report) {
    context_.err << text << std::flush;
    return;
  }
  const auto written = write_all(files_.report.get(), text, context_.options.run.report);
  if (!written) context_.fail(printable(written.error().message));
}

TableStyle RunResults::style() const {
  const bool is_terminal = !files_.report && isatty(STDERR_FILENO) != 0;
  return {.bold_header = is_terminal && context_.terminal.colour,
          .width = is_terminal ? std::optional(context_.terminal.width) : std::nullopt,
          .unicode = !is_terminal || context_.terminal.unicode};
}

}  // namespace keplerd::cli
