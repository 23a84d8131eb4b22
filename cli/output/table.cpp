// SPDX-License-Identifier: Apache-2.0
#include "cli/output/table.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "cli/output/terminal.h"

namespace keplerd::cli {
namespace {

constexpr int kGap = 2;
// A column that gives way keeps so much: less tells nothing, and a line that is too long is the smaller evil.
constexpr int kLeastWidth = 8;

}  // namespace

void Table::add_row(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  for (std::string& cell : cells) {
    if (cell.empty()) cell = "-";
  }
  rows_.push_back(std::move(cells));
}

std::vector<int> Table::column_widths(const TableStyle& style) const {
  std::vector<int> widths(columns_.size(), 0);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (style.header) widths[i] = display_width(columns_[i].header);
    for (const auto& row : rows_) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  if (!style.width) return widths;
  const int gaps = kGap * (static_cast<int>(columns_.size()) - 1);
  const int excess = std::accumulate(widths.begin(), widths.end(), gaps) - *style.width;
  if (excess <= 0) return widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!columns_[i].gives_way) continue;
    const int least = std::min(widths[i], std::max(kLeastWidth, display_width(columns_[i].header)));
    widths[i] = std::max(widths[i] - excess, least);
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
