// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/ask.h"

#include "cli/rows.h"
#include "cli/screens.h"

namespace keplerd::cli {
namespace {

using varlink::Json;

int show_list_json(const Context& context, client::Daemon& daemon, client::Kind kind) {
  const Options& options = context.options;
  // With --type, the limit applies to what is left.
  const auto limit = options.types.empty() ? options.limit : std::nullopt;
  auto rows = daemon.list({kind, limit, options.sort.empty() ? "energy" : options.sort});
  if (!rows) return context.fail(rows.error().message);
  if (!options.types.empty()) {
    std::erase_if(*rows, [&](const Json& row) { return !has_type(row, options.types); });
    if (options.limit && rows->size() > *options.limit) rows->resize(*options.limit);
  }
  Json list = Json::array();
  for (Json& row : *rows) list.push_back(std::move(row));
  Json object = Json::object();
  object[std::string(info_of(kind).json_key)] = std::move(list);
  context.show_json(object);
  return kFine;
}

}  // namespace

int fail_to_connect(const Context& context, const Error& error) {
  return context.fail(error.message + " (run 'keplerctl doctor' for details)");
}

void warn_without_legend(const Context& context, const Json& status) {
  if (context.options.legend || context.wants_json()) return;
  if (const auto warning = source_warning(status)) context.fail(*warning);
}

int show_list(const Context& context, client::Kind kind) {
  auto daemon = client::Daemon::connect(context.options.address);
  if (!daemon) return fail_to_connect(context, daemon.error());
  if (context.wants_json()) return show_list_json(context, *daemon, kind);
  const auto status = daemon->status();
  if (!status) return context.fail(status.error().message);
  // Ended rows are hidden here: a limit applies to the remaining ones.
  const std::string& sort = context.options.sort;
  auto rows = daemon->list({kind, std::nullopt, sort.empty() ? "energy" : sort});
  if (!rows) return context.fail(rows.error().message);
  warn_without_legend(context, *status);
  context.show(
      list_screen({info_of(kind), *status, context.options, context.table_style()}, std::move(*rows)));
  return kFine;
}

}  // namespace keplerd::cli
