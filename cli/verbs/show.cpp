// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "cli/fields.h"
#include "cli/find_row.h"
#include "cli/screens.h"
#include "cli/verb.h"
#include "cli/verbs/ask.h"

namespace keplerd::cli {
namespace {

// The word for the row's kind, "virtual-machine" or "group": as in the lists' names.
std::string kind_word(const Json& row) {
  const std::string kind = name_text(row, "kind");
  const client::KindInfo* info = client::find_kind(kind);
  return kind == "group" ? "unit" : info != nullptr ? std::string(info->word) : kind;
}

// The matches of all kinds for that id or name.
struct Matches {
  std::vector<Json> rows;
  std::vector<std::string> ids;  // of the rows, and of others that share the name
};

Result<Matches> find_matches(client::Daemon& daemon, const std::string& wanted) {
  Matches matches;
  for (const client::KindInfo& kind : client::kKinds) {
    const auto reply = daemon.get(kind.kind, wanted);
    if (!reply) return reply.error();
    if (client::is_nothing_such(*reply) || client::is_unknown_kind(*reply)) continue;
    const auto add = [&](const Json& id) {
      if (id.is_string())
        matches.ids.push_back(std::string(kind.word) + " " + printable(id.get<std::string>()));
    };
    if (client::is_ambiguous(*reply)) {
      for (const Json& id : field(reply->parameters, "ids")) add(id);
      continue;
    }
    if (!reply->error.empty()) return Error{client::describe_error(*reply)};
    const Json& row = field(reply->parameters, "row");
    // An exact id takes precedence over names.
    if (string_field(row, "id") == wanted) return Matches{{row}, {wanted}};
    add(field(row, "id"));
    matches.rows.push_back(row);
  }
  return matches;
}

// What the daemon does not look for: see find_rows().
Matches search(client::Daemon& daemon, const std::string& wanted, bool guess) {
  std::vector<Json> all;
  for (const client::KindInfo& kind : client::kKinds) {
    auto rows = daemon.list({kind.kind, std::nullopt, ""});
    if (rows) std::ranges::move(*rows, std::back_inserter(all));  // an older keplerd lacks kinds
  }
  Matches matches{find_rows(all, wanted, guess), {}};
  for (const Json& row : matches.rows) {
    constexpr std::size_t kMost = 10;
    if (matches.ids.size() == kMost) {
      matches.ids.push_back(fmt::format("and {} more", matches.rows.size() - kMost));
      break;
    }
    matches.ids.push_back(kind_word(row) + " " + name_text(row, "id"));
  }
  return matches;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

}  // namespace

int run_show(const Context& context) {
  const std::string& wanted = context.options.id;
  auto daemon = client::Daemon::connect(context.options.address);
  if (!daemon) return fail_to_connect(context, daemon.error());
  const auto status = daemon->status();
  if (!status) return context.fail(status.error().message);
  auto matches = find_matches(*daemon, wanted);
  if (matches && matches->ids.empty()) {
    // A program means what it says.
    matches = search(*daemon, wanted, !context.wants_json());
  }
  if (!matches) return context.fail(matches.error().message);

  const std::string name = "'" + printable(wanted) + "'";
  if (matches->ids.empty()) {
    const std::string others = sees_everything(*status) ? "" : ", or you may not see it";
    const std::string next =
        context.options.quiet ? "" : " ('keplerctl units' and the other lists show what there is)";
    return context.fail(
        "no " + client::kind_list(&client::KindInfo::word) + " is called " + name + others + next,
        kNothingSuch);
  }
  if (matches->ids.size() > 1 || matches->rows.empty()) {
    return context.fail(name + " is ambiguous: " + joined(matches->ids) + "; use one of the ids");
  }
  const Json& row = matches->rows.front();
  if (context.wants_json()) {
    context.show_json(row);
    return kFine;
  }
  warn_without_legend(context, *status);
  const std::string legend =
      context.options.legend ? source_line(*status, context.terminal.colour) + "\n\n" : std::string();
  context.show(legend + row_screen(row, context.table_style()));
  return kFine;
}

}  // namespace keplerd::cli
