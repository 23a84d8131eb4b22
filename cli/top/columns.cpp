// SPDX-License-Identifier: Apache-2.0
#include "cli/top/columns.h"

#include <algorithm>

namespace keplerd::cli::top {
namespace {

constexpr int kGap = 2;

// Whether it is shown on some hosts, or on request, only.
bool is_occasional(const RowColumn& column) { return column.with_ended || !column.where_any_has.empty(); }

bool is_occasion(const State& state, const RowColumn& column) {
  if (column.with_ended) return state.all;
  const bool known = std::ranges::find(state.added, column.where_any_has) != state.added.end();
  return known && state.size.width >= column.live->from;
}

// Occasional columns come first, and others take what is left.
std::vector<const RowColumn*> shown_columns(const State& state) {
  const auto& columns = tabs()[state.tab].columns;
  int width = state.size.width;
  for (const RowColumn& column : columns) {
    if (column.live && is_occasional(column) && is_occasion(state, column))
      width -= column.live->width + kGap;
  }
  std::vector<const RowColumn*> out;
  for (const RowColumn& column : columns) {
    if (!column.live) continue;
    if (is_occasional(column) ? is_occasion(state, column) : width >= column.live->from)
      out.push_back(&column);
  }
  return out;
}

// What is left is the last column's, but for what a name before it needs.
std::vector<int> widths_of(const State& state, const std::vector<const RowColumn*>& columns) {
  std::vector<int> widths;
  int left = state.size.width;
  for (const RowColumn* column : columns) {
    widths.push_back(column->live->width);
    left -= column->live->width + (column == columns.back() ? 0 : kGap);
  }
  const auto is_name = [](const RowColumn* column) {
    return column->text && column->column.gives_way && !column->column.is_id;
  };
  const auto name = std::ranges::find_if(columns, is_name);
  if (left <= 0 || name == columns.end()) return widths;
  const auto index = static_cast<std::size_t>(*name - tabs()[state.tab].columns.data());
  int& width = widths[static_cast<std::size_t>(name - columns.begin())];
  if (index < state.longest.size()) width += std::clamp(state.longest[index] - width, 0, left);
  return widths;
}

template <typename MakeCell>
std::string line_text(const State& state, MakeCell make_cell) {
  const auto columns = shown_columns(state);
  const std::vector<int> widths = widths_of(state, columns);
  std::string out;
  int left = state.size.width;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const RowColumn* const column = columns[i];
    const Keep keep = column->column.gives_way.value_or(Keep::kStart);
    const bool last = column == columns.back();
    const int width = last ? left : std::min(widths[i], left);
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
