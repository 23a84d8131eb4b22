// SPDX-License-Identifier: Apache-2.0
// One list of the rows of several hosts. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/columns.h"
#include "cli/fleet/replies.h"
#include "cli/options.h"
#include "cli/output/table.h"
#include "client/kinds.h"
#include "varlink/json_fwd.h"

namespace keplerd::cli::fleet {

// What is listed.
struct ListKind {
  std::string_view json_key, word, words;
  const std::vector<RowColumn>* columns;
  std::optional<client::Kind> kind;  // of keplerd; unset: another one, whose rows do not include each other
};
ListKind list_kind(client::Kind kind);

// Hosts whose numbers are not measured.
std::vector<std::string> list_notes(const ListKind& kind, const std::vector<Reply>& replies);

// The table, with a column HOST, and one total.
std::string list_screen(const ListKind& kind, const std::vector<Reply>& replies, const Options& options,
                        const TableStyle& style);

// For programs: all rows, and the hosts that have not answered.
varlink::Json list_json(const ListKind& kind, const std::vector<Reply>& replies, const Options& options);
std::string list_csv(const ListKind& kind, const std::vector<Reply>& replies, const Options& options);

}  // namespace keplerd::cli::fleet
