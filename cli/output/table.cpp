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
// What a name or path should have before other columns are dropped for it.
constexpr int kReadableWidth = 24;

}  // namespace

void Table::add_row(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  for (std::string& cell : cells) {
    if (cell.empty()) cell = "-";
  }
  rows_.push_back(std::move(cells));
}

std::optional<std::size_t> Table::column_to_shorten(const Widths& widths) const {
  std::optional<std::size_t> widest;
  for (std::size_t i = columns_.size(); i-- > 0;) {
    const int least = std::max(kLeastWidth, display_width(columns_[i].header));
    if (!columns_[i].gives_way || widths[i] <= least) continue;
    if (i + 1 == columns_.size() || columns_[i].is_id) return i;
    if (!widest || widths[i] > widths[*widest]) widest = i;
  }
  return widest;
}

// The rightmost of those that leave first.
std::optional<std::size_t> Table::column_to_leave(const Widths& widths, bool ids_only) const {
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (widths[i] == 0 || columns_[i].leaves <= 0 || (ids_only && !columns_[i].is_id)) continue;
    if (!first || columns_[i].leaves >= columns_[*first].leaves) first = i;
  }
  return first;
}

// To how many columns this one may be shortened before another leaves.
int Table::least_width(std::size_t column, int natural, bool ids_only) const {
  const Column& it = columns_[column];
  if (!it.gives_way || (ids_only && !it.is_id)) return natural;
  const int least = std::max(it.is_id ? kLeastWidth : kReadableWidth, display_width(it.header));
  return std::min(natural, least);
}

int Table::least_total(const Widths& widths, bool ids_only) const {
  int total = -kGap;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] > 0) total += least_width(i, widths[i], ids_only) + kGap;
  }
  return total;
}

Table::Widths Table::column_widths(const TableStyle& style) const {
  Widths widths(columns_.size(), 0);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (style.header) widths[i] = display_width(columns_[i].header);
    for (const auto& row : rows_) {
      widths[i] = std::max(widths[i], display_width(style.unicode ? row[i] : ascii(row[i])));
    }
  }
  if (!style.width) return widths;
  for (const bool ids_only : {true, false}) {
    while (least_total(widths, ids_only) > *style.width) {
      const auto column = column_to_leave(widths, ids_only);
      if (!column) break;
      widths[*column] = 0;
    }
  }
  const auto shown = static_cast<int>(std::ranges::count_if(widths, [](int width) { return width > 0; }));
  int excess = std::accumulate(widths.begin(), widths.end(), kGap * (shown - 1)) - *style.width;
  for (; excess > 0; --excess) {
    const auto column = column_to_shorten(widths);
    if (!column) break;
    --widths[*column];
  }
  return widths;
}

std::string Table::line(const std::vector<std::string>& cells, const Widths& widths, bool unicode) const {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (widths[i] == 0) continue;
    const std::string cell = fit(cells[i], widths[i], columns_[i].gives_way.value_or(Keep::kStart), unicode);
    const std::string padding(static_cast<std::size_t>(widths[i] - display_width(cell)), ' ');
    if (!out.empty()) out.append(kGap, ' ');
    out += columns_[i].align == Align::kRight ? padding + cell : cell + padding;
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

std::string Table::text(const TableStyle& style) const {
  const Widths widths = column_widths(style);
  std::string out;
  if (style.header) {
    std::vector<std::string> headers;
    for (const Column& column : columns_) headers.push_back(column.header);
    const std::string header = line(headers, widths, style.unicode);
    out += paint(header, Paint::kBold, style.bold_header);
    out += '\n';
  }
  for (const auto& row : rows_) {
    out += line(row, widths, style.unicode);
    out += '\n';
  }
  return out;
}

}  // namespace keplerd::cli
