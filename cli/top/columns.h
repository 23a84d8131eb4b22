// SPDX-License-Identifier: Apache-2.0
// The tabs of the live screen and their tables. Widths are fixed, so that nothing moves from one sample to
// the next.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/columns.h"
#include "cli/top/state.h"

namespace keplerd::cli::top {

struct Tab {
  std::string_view kind;  // of Monitor
  const std::vector<RowColumn>& columns;
};
const std::vector<Tab>& tabs();

// The tab of a kind; the first one if it has none.
std::size_t find_tab(std::string_view kind);

// The table's header and rows in exactly `state.size.width` columns.
std::string head_text(const State& state);
std::string row_text(const State& state, const Json& row);

}  // namespace keplerd::cli::top
