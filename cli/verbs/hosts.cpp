// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/hosts.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include "cli/apps/app_rows.h"
#include "cli/fields.h"
#include "cli/fleet/gather.h"
#include "cli/fleet/lists.h"
#include "cli/fleet/reports.h"
#include "cli/fleet/statuses.h"
#include "cli/history/costs.h"
#include "cli/history/output.h"
#include "cli/verbs/history.h"
#include "varlink/json.h"

namespace keplerd::cli {
namespace {

using fleet::ListKind;
using fleet::Reply;

// The hosts that have failed, at the end.
int finish(const Context& context, const std::vector<Reply>& replies) {
  context.out.flush();
  int status = kFine;
  for (const Reply& reply : replies) {
    if (!reply.answered()) status = context.fail(printable(reply.host) + ": " + reply.problem);
  }
  return status;
}

// Where a table has no room for them.
void warn(const Context& context, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) context.fail(note);
}

bool nobody_answered(const std::vector<Reply>& replies) {
  return std::ranges::none_of(replies, &Reply::answered);
}

std::vector<Reply> ask_for_list(const Context& context, const std::string& verb, const ListKind& kind) {
  std::vector<std::string> arguments;
  const std::vector<std::string>& types = context.options.types;
  if (!types.empty()) arguments.push_back(fmt::format("--type={}", fmt::join(types, ",")));
  if (context.options.wall) arguments.emplace_back("--wall");
  if (verb == "apps" && context.options.history.address != history::kDefaultAddress)
    arguments.push_back("--history=" + context.options.history.address);
  return fleet::gather(context.options, {verb, arguments, std::string(kind.json_key)});
}

int show_list(const Context& context, const std::string& verb, const ListKind& kind) {
  const std::vector<Reply> replies = ask_for_list(context, verb, kind);
  const Options& options = context.options;
  if (context.wants_json()) {
    context.show_json(fleet::list_json(kind, replies, options));
    return finish(context, replies);
  }
  if (nobody_answered(replies)) return finish(context, replies);
  if (options.csv || !options.legend) warn(context, fleet::list_notes(kind, replies));
  if (options.csv) {
    context.out << fleet::list_csv(kind, replies, options);
  } else {
    context.show(fleet::list_screen(kind, replies, options, context.table_style()));
  }
  return finish(context, replies);
}

std::ptrdiff_t lines_of(const std::string& text) { return std::ranges::count(text, '\n'); }

// As many rows as fit with what is above and below them.
std::string fitting_screen(const Context& context, const ListKind& kind, const std::vector<Reply>& replies) {
  std::string failures;
  for (const Reply& reply : replies) {
    if (!reply.answered()) failures += printable(reply.host) + ": " + reply.problem + "\n";
  }
  failures = wrap_words(failures, context.table_style().width);
  Options options = context.options;
  const auto screen_of = [&](std::ptrdiff_t limit) {
    options.limit = static_cast<std::size_t>(std::max<std::ptrdiff_t>(limit, 1));
    return fleet::list_screen(kind, replies, options, context.table_style()) + failures;
  };
  constexpr int kCursor = 1;
  const std::ptrdiff_t around = lines_of(screen_of(1)) - 1;
  return screen_of(context.terminal.height - kCursor - around);
}

// Until Ctrl-C.
int show_live(const Context& context, const std::string& verb, const ListKind& kind) {
  constexpr std::chrono::milliseconds kPause = std::chrono::seconds(5);
  constexpr std::string_view kClear = "\033[H\033[2J";
  for (;;) {
    const std::vector<Reply> replies = ask_for_list(context, verb, kind);
    context.out << kClear << fitting_screen(context, kind, replies);
    if (!context.out.flush()) return kFine;  // the reader is gone
    (void)::poll(nullptr, 0, static_cast<int>(kPause.count()));
  }
}

int show_top(const Context& context) {
  const std::string kind = context.options.kind.empty() ? "processes" : context.options.kind;
  const ListKind list = fleet::list_kind(client::find_kind(kind)->kind);
  const bool live = context.terminal.is_terminal && !context.terminal.dumb;
  if (context.wants_json() || !live) return show_list(context, kind, list);
  return show_live(context, kind, list);
}

int show_statuses(const Context& context) {
  std::vector<std::string> arguments;
  if (context.options.wall) arguments.emplace_back("--wall");
  const std::vector<Reply> replies = fleet::gather(context.options, {"status", arguments, "host"});
  if (context.wants_json()) {
    context.show_json(fleet::statuses_json(replies));
  } else if (!nobody_answered(replies)) {
    if (!context.options.legend) warn(context, fleet::status_notes(replies));
    context.show(fleet::status_screen(replies, context.options.wall, context.table_style()));
  }
  return finish(context, replies);
}

// All hosts report the same time, wherever they are.
std::vector<std::string> report_arguments(const history::HistoryOptions& options,
                                          const history::Period& period, bool wall) {
  const auto seconds = [](history::Time time) {
    return "@" + std::to_string(std::chrono::floor<std::chrono::seconds>(time).count());
  };
  std::vector<std::string> arguments = {"--by=" + options.by, "--since=" + seconds(period.from),
                                        "--until=" + seconds(period.to)};
  if (options.address != history::kDefaultAddress) arguments.push_back("--history=" + options.address);
  if (wall) arguments.emplace_back("--wall");
  return arguments;
}

int show_report(const Context& context) {
  const history::HistoryOptions& options = context.options.history;
  const history::Time now = history_now();
  const auto period = history::period_of(options, now, history::start_of_month(now));
  if (!period) return context.fail(period.error().message, kUsage);
  auto replies = fleet::gather(
      context.options, {"report", report_arguments(options, *period, context.options.wall), "report"});
  const Json report = fleet::report_json(replies);
  if (context.wants_json()) {
    context.show_json({{"report", report}, {"failures", fleet::failures_json(replies)}});
  } else if (nobody_answered(replies)) {
    return finish(context, replies);
  } else if (context.options.csv) {
    context.out << history::report_csv(report);
  } else {
    context.show(history::report_text(report, options.by, context.table_style()));
  }
  return finish(context, replies);
}

}  // namespace

int run_on_hosts(const Context& context, const Verb& verb) {
  const std::string name(verb.name);
  if (name.empty() || name == "status") return show_statuses(context);
  if (name == "top") return show_top(context);
  if (name == "report") return show_report(context);
  if (name == "apps")
    return show_list(context, name, {"apps", "row", "rows", &apps::app_columns(), std::nullopt});
  return show_list(context, name, fleet::list_kind(client::find_kind(name)->kind));
}

}  // namespace keplerd::cli
