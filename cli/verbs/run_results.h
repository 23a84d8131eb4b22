// SPDX-License-Identifier: Apache-2.0
// What `keplerctl run` makes of its reports: text or JSON, comparisons, phases, and the check of a budget.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "cli/context.h"
#include "cli/run/report.h"

namespace keplerd::cli {

// What is opened before the command runs, so that a mistyped name does not cost its result.
struct RunFiles {
  UniqueFd report;             // unset: standard error
  std::vector<double> before;  // energies of --compare
  Rates rates;
};

// An error in the rates is reported, and they are unknown.
Result<RunFiles> open_run_files(const Context& context);

class RunResults {
 public:
  RunResults(const Context& context, RunFiles files) : context_(context), files_(std::move(files)) {}

  // Writes the report, except for JSON. `warned`: its problem has been written to standard error already.
  void add(run::Report report, bool warned = false);
  std::size_t size() const { return runs_.size(); }

  // Writes what is of all reports, of which there is at least one. Returns the exit status: `status`, or
  // kOverBudget if that is 0 and too much was used.
  int finish(int status);

  // For standard error, unless that has the JSON.
  void note(const std::string& text) const;

 private:
  void append();
  int check_budget();
  void write(const std::string& text);
  TableStyle style() const;  // of standard error or the file

  const Context& context_;
  RunFiles files_;
  std::vector<run::Report> runs_;
};

// `keplerctl run --attach`.
int run_attached(const Context& context, RunResults results);

}  // namespace keplerd::cli
