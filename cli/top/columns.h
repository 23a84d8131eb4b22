// SPDX-License-Identifier: Apache-2.0
// The tabs of the live screen, and the columns of each. Widths are fixed, so that nothing jumps from one
// sample to the next.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output/table.h"
#include "cli/top/state.h"

namespace keplerd::cli::top {

struct TopColumn {
  std::string_view header;
  int width;  // the last column that is shown takes what is left instead
  int from;   // shown on screens at least so wide
  Align align;
  Keep keep;
  std::function<std::string(const State&, const Json& row)> text;  // printable
  bool only_with_ended = false;
};

struct Tab {
  std::string_view kind;  // of Monitor
  std::vector<TopColumn> columns;
};
const std::vector<Tab>& tabs();

// The tab of a kind; the first where it has none.
std::size_t find_tab(std::string_view kind);

// Head and rows of the table in exactly `state.size.width` columns.
std::string head_text(const State& state);
std::string row_text(const State& state, const Json& row);

}  // namespace keplerd::cli::top
