// SPDX-License-Identifier: Apache-2.0
#include "cli/resolve.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "cli/fields.h"
#include "cli/find_row.h"

namespace keplerd::cli {
namespace {

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

}  // namespace

const client::KindInfo* kind_of(const Json& row) {
  const std::string kind = name_text(row, "kind");
  return client::find_kind(kind == "group" ? "unit" : kind);
}

std::string kind_word(const Json& row) {
  const client::KindInfo* info = kind_of(row);
  return info != nullptr ? std::string(info->word) : name_text(row, "kind");
}

Result<Matches> resolve(client::Daemon& daemon, const std::string& wanted, bool guess) {
  auto matches = find_matches(daemon, wanted);
  if (matches && matches->ids.empty()) return search(daemon, wanted, guess);
  return matches;
}

bool is_unique(const Matches& matches) { return matches.ids.size() == 1 && !matches.rows.empty(); }

std::string ambiguity(const std::string& wanted, const Matches& matches) {
  return fmt::format("'{}' is ambiguous: {}; use one of the ids", printable(wanted),
                     fmt::join(matches.ids, ", "));
}

std::string nothing_such(const std::string& wanted, bool sees_everything, bool hint) {
  const std::string others = sees_everything ? "" : ", or you may not see it";
  const std::string next = hint ? " ('keplerctl units' and the other lists show what there is)" : "";
  return "no " + client::kind_list(&client::KindInfo::word) + " is called '" + printable(wanted) + "'" +
         others + next;
}

}  // namespace keplerd::cli
