// SPDX-License-Identifier: Apache-2.0
#include "cli/history/export.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "cli/fields.h"
#include "cli/history/output.h"
#include "cli/history/request.h"
#include "varlink/json.h"

namespace keplerd::cli::history {
namespace {

// The host first: its lines have the accounts' sum.
constexpr const char* kExported[] = {"host", "units", "vms", "containers", "pods"};

// Longer than any day or month, and shorter than two.
constexpr Time kMoreThanADay = std::chrono::hours(36), kMoreThanAMonth = std::chrono::hours(24 * 45);

bool is_empty(const Json& row) {
  return integer_field(row, "energyMicrojoules").value_or(0) == 0 &&
         integer_field(row, "recordedUsec").value_or(0) == 0;
}

// The lines of a kind in a part of the period.
Result<Done> write_lines(const Context& context, const char* kind, const Period& part,
                         const std::string& step, bool& with_header) {
  const Subject subject{kind, ""};
  return query_each(context.options.history.address, subject, part, step, [&](Json reply) {
    Json rows = Json::array();
    for (Json& row : history_json(subject, {std::move(reply)})) {
      if (!is_empty(row)) rows.push_back(std::move(row));
    }
    const std::string text = history_csv(rows);
    const auto header = text.find('\n') + 1;
    context.out << (std::exchange(with_header, false) ? text : text.substr(header));
  });
}

}  // namespace

std::vector<Period> parts_of(const Period& period, const std::string& step) {
  const bool is_long = step == "day" || step == "month";
  std::vector<Period> parts;
  for (Time from = period.from; from < period.to;) {
    const Time next = is_long ? start_of_month(start_of_month(from) + kMoreThanAMonth)
                              : start_of_day(start_of_day(from) + kMoreThanADay);
    parts.push_back({from, std::min(next, period.to)});
    from = next;
  }
  return parts;
}

int export_history(const Context& context, Time now) {
  const HistoryOptions& options = context.options.history;
  const auto recorded = recorded_period(options.address);
  if (!recorded) return context.fail(recorded.error().message);
  auto period = period_of(options, now, recorded->from);
  if (!period) return context.fail(period.error().message, kUsage);
  period->from = std::max(period->from, recorded->from);
  period->to = std::min(period->to, recorded->to);
  if (period->from >= period->to)
    return context.fail("nothing is recorded in this time: the history begins at " +
                        format_minute(recorded->from));
  const std::string step = options.step.empty() ? "hour" : options.step;
  bool with_header = context.options.legend, sees_host = true;
  for (const Period& part : parts_of(*period, step)) {
    for (const char* const kind : kExported) {
      const bool is_host = kind == kExported[0];
      if (is_host && !sees_host) continue;
      const auto written = write_lines(context, kind, part, step, with_header);
      if (written) continue;
      if (!is_host || written.error().code != EACCES) return context.fail(written.error().message);
      sees_host = false;
      if (!context.options.quiet) context.err << "keplerctl: only your own workloads are exported\n";
    }
  }
  return kFine;
}

}  // namespace keplerd::cli::history
