// SPDX-License-Identifier: Apache-2.0
// The rows of one kind, kept up to date from the replies of Monitor, and their order. Rows are
// JSON as sent by keplerd, in the units of org.keplerd.Energy. Pure. Malformed rows are
// ignored.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/fields.h"
#include "varlink/json.h"

namespace keplerd::client {

// The sort keys: "energy", "power", "cpu" (largest first), "name", "id" (as text). Ties are broken by
// id.
const std::vector<std::string>& sort_keys();
void sort_rows(std::vector<varlink::Json>& rows, std::string_view key);

// Reads the changes in one reply of Monitor: calls `remove(id)` for each row that has ended, then `set(id,
// row)` for each that is new or has changed. Returns whether the instant is complete: otherwise the next
// reply continues it (`partial`).
template <class Remove, class Set>
bool read_changes(const varlink::Json& tick, Remove remove, Set set) {
  for (const varlink::Json& id : elements(field(tick, "removed"))) {
    if (id.is_string()) remove(id.get_ref<const std::string&>());
  }
  for (const varlink::Json& row : elements(field(tick, "rows"))) {
    if (auto id = string_field(row, "id")) set(*std::move(id), row);
  }
  return !flag(tick, "partial");
}

// The complete list that these changes add up to.
class RowSet {
 public:
  // As read_changes().
  bool apply(const varlink::Json& tick);

  // In the order of their ids.
  const std::map<std::string, varlink::Json>& rows() const { return rows_; }

 private:
  std::map<std::string, varlink::Json> rows_;
};

}  // namespace keplerd::client
