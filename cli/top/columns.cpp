// SPDX-License-Identifier: Apache-2.0
#include "cli/top/columns.h"

#include <algorithm>

namespace keplerd::cli::top {
namespace {

constexpr int kGap = 2;

std::vector<const RowColumn*> shown_columns(const State& state) {
  const auto& columns = tabs()[state.tab].columns;
  int width = state.size.width;
  for (const RowColumn& column : columns) {
    if (column.live && column.with_ended && state.all) width -= column.live->width + kGap;
  }
  std::vector<const RowColumn*> out;
  for (const RowColumn& column : columns) {
    if (!column.live) continue;
    if (column.with_ended ? state.all : width >= column.live->from) out.push_back(&column);
  }
  return out;
}

template <typename MakeCell>
std::string line_text(const State& state, MakeCell make_cell) {
  const auto columns = shown_columns(state);
  std::string out;
  int left = state.size.width;
  for (const RowColumn* column : columns) {
    const Keep keep = column->column.gives_way.value_or(Keep::kStart);
    const bool last = column == columns.back();
    const int width = last ? left : std::min(column->live->width, left);
    std::string cell = make_cell(*column);
    if (cell.empty()) cell = "-";
    out += column->column.align == Align::kRight ? pad_left(cell, width, keep, state.unicode)
                                                 : pad_right(cell, width, keep, state.unicode);
    left -= width;
    const int gap = std::clamp(left, 0, kGap);
    out.append(static_cast<std::size_t>(gap), ' ');
    left -= gap;
  }
  return out;
}

std::string trend_text(const State& state, const Json& row, int width) {
  const auto found = state.histories.find(string_field(row, "id").value_or(""));
  if (found == state.histories.end()) return "";
  return graph(found->second, {width, 1}, state.trend_most, state.unicode).front();
}

}  // namespace

const std::vector<Tab>& tabs() {
  static const std::vector<Tab> kTabs = [] {
    std::vector<Tab> out;
    out.reserve(client::kKinds.size());
    for (const client::KindInfo& kind : client::kKinds) out.push_back({kind.plural, columns_of(kind.kind)});
    return out;
  }();
  return kTabs;
}

std::size_t find_tab(std::string_view kind) {
  const auto found =
      std::find_if(tabs().begin(), tabs().end(), [&](const Tab& tab) { return tab.kind == kind; });
  return found == tabs().end() ? 0 : static_cast<std::size_t>(found - tabs().begin());
}

std::string head_text(const State& state) {
  return line_text(state, [](const RowColumn& column) { return column.column.header; });
}

std::string row_text(const State& state, const Json& row) {
  return line_text(state, [&](const RowColumn& column) {
    if (!column.text && !column.amount) return trend_text(state, row, column.live->width);
    const auto index = static_cast<std::size_t>(&column - tabs()[state.tab].columns.data());
    return cell_text(column, state.units[index], row, field(state.status, "host"));
  });
}

}  // namespace keplerd::cli::top
