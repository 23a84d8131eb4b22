// SPDX-License-Identifier: Apache-2.0
// Measures a row of keplerd over a span, without running a command.
#include <algorithm>
#include <utility>

#include "cli/fields.h"
#include "cli/output/human.h"
#include "cli/resolve.h"
#include "cli/run/attached.h"
#include "cli/screens.h"
#include "cli/verbs/ask.h"
#include "cli/verbs/run_results.h"

namespace keplerd::cli {
namespace {

using namespace run;

// The only row that is meant and can be measured.
Result<Json> find_row(const Context& context, client::Daemon& daemon) {
  const std::string& wanted = context.options.run.attach;
  const auto status = daemon.status();
  if (!status) return status.error();
  const auto matches = resolve(daemon, wanted, !context.wants_json());
  if (!matches) return matches.error();
  if (matches->ids.empty())
    return Error{nothing_such(wanted, sees_everything(*status), !context.options.quiet)};
  if (!is_unique(*matches)) return Error{ambiguity(wanted, *matches)};
  const Json& row = matches->rows.front();
  if (string_field(row, "state") != "running")
    return Error{"the " + kind_word(row) + " '" + name_text(row, "name") + "' has ended"};
  return row;
}

std::string begun_text(const AttachPlan& plan) {
  std::string text = "Measuring the " + plan.what.description;
  if (plan.span) text += " for " + format_time(std::chrono::duration_cast<microseconds>(*plan.span));
  return text + "; Ctrl-C ends it\n";
}

}  // namespace

int run_attached(const Context& context, RunResults results) {
  const RunOptions& options = context.options.run;
  auto daemon = client::Daemon::connect(context.options.address);
  if (!daemon) return fail_to_connect(context, daemon.error());
  const auto row = find_row(context, *daemon);
  if (!row) return context.fail(row.error().message);
  auto meter = Meter::open(context.options.address, context.options.run.include_idle);
  if (!meter) return context.fail(meter.error().message);
  if (const std::string problem = meter->problem(); !problem.empty())
    return context.fail("not measured: " + problem);

  const std::string kind = name_text(*row, "kind");
  const client::KindInfo* info = kind_of(*row);
  if (info == nullptr) return context.fail("rows of this kind cannot be measured: " + kind);
  AttachPlan plan{info->kind,
                  {kind, string_field(*row, "id").value_or(""), {}, false},
                  options.label,
                  options.attached_for};
  plan.what.description = kind_word(*row) + " " + name_text(*row, "name");
  Report report = measure_attached(*meter, plan, [&] { results.note(begun_text(plan)); });
  const int status = report.energy ? kFine : kFailed;
  results.add(std::move(report));
  return results.finish(status);
}

}  // namespace keplerd::cli
