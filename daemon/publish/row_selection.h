// SPDX-License-Identifier: Apache-2.0
// Rows that somebody asks for: the first by some order, or one by its id or name.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/publish/row_kinds.h"

namespace keplerd {

// The first three: most first, what is not known last.
enum class RowOrder { kEnergy, kPower, kCpu, kName, kId };

// "energy", "power", "cpu", "name", "id".
std::optional<RowOrder> parse_row_order(std::string_view name);

// Indices of the first `limit` rows. Rows that are equal stay in the order of the report.
std::vector<std::size_t> select_rows(const Report& report, RowKind kind, RowOrder order, std::size_t limit);

struct FoundRow {
  std::optional<std::size_t> index;
  std::vector<std::string> ids;  // where several have this name: up to 100 of theirs; else empty
};

// By id, else by a name that only one row has.
FoundRow find_row(const Report& report, RowKind kind, std::string_view id_or_name);

}  // namespace keplerd
