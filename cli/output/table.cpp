// SPDX-License-Identifier: Apache-2.0
#include "cli/output/table.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "cli/output/terminal.h"

namespace keplerd::cli {
namespace {

constexpr int kGap = 2;
// The minimum width of a shortened column: less would be useless, and an overlong line is the lesser evil.
constexpr int kLeastWidth = 8;

}  // namespace

void Table::add_row(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  for (std::string& cell : cells) {
    if (cell.empty()) cell = "-";
  }
  rows_.push_back(std::move(cells));
}

std::optional<std::size_t> Table::column_to_shorten(const std::vector<int>& widths) const {
  std::optional<std::size_t> widest;
  for (std::size_t i = columns_.size(); i-- > 0;) {
    const int least = std::max(kLeastWidth, display_width(columns_[i].header));
    if (!columns_[i].gives_way || widths[i] <= least) continue;
    if (i + 1 == columns_.size()) return i;
    if (!widest || widths[i] > widths[*widest]) widest = i;
  }
  return widest;
}

std::vector<int> Table::column_widths(const TableStyle& style) const {
  std::vector<int> widths(columns_.size(), 0);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (style.header) widths[i] = display_width(columns_[i].header);
    for (const auto& row : rows_) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  if (!style.width) return widths;
  const int gaps = kGap * (static_cast<int>(columns_.size()) - 1);
  int excess = std::accumulate(widths.begin(), widths.end(), gaps) - *style.width;
  for (; excess > 0; --excess) {
    const auto column = column_to_shorten(widths);
    if (!column) break;
    --widths[*column];
  }
  return widths;
}

std::string Table::line(const std::vector<std::string>& cells, const std::vector<int>& widths) const {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string cell = shorten(cells[i], widths[i], columns_[i].gives_way.value_or(Keep::kStart));
    const std::string padding(static_cast<std::size_t>(widths[i] - display_width(cell)), ' ');
    if (i > 0) out.append(kGap, ' ');
    out += columns_[i].align == Align::kRight ? padding + cell : cell + padding;
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

std::string Table::text(const TableStyle& style) const {
  const std::vector<int> widths = column_widths(style);
  std::string out;
  if (style.header) {
    std::vector<std::string> headers;
    for (const Column& column : columns_) headers.push_back(column.header);
    const std::string header = line(headers, widths);
    out += paint(header, Paint::kBold, style.bold_header);
    out += '\n';
  }
  for (const auto& row : rows_) {
    out += line(row, widths);
    out += '\n';
  }
  return out;
}

}  // namespace keplerd::cli
