// SPDX-License-Identifier: Apache-2.0
// Formats a table of text in aligned columns.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/output/width.h"

namespace keplerd::cli {

enum class Align { kLeft, kRight };

struct Column {
  std::string header;  // UPPER CASE
  Align align = Align::kRight;
  // Set for a column that may be shortened if the table is wider than the terminal: the last column first,
  // then the widest.
  std::optional<Keep> gives_way = std::nullopt;
  // Of the columns that do not fit, the one with the highest number leaves first; 0: never. -1: not set.
  int leaves = -1;
  bool is_id = false;  // leaves before names are shortened
};

struct TableStyle {
  bool header = true;
  bool bold_header = false;       // with a terminal's escape sequence
  std::optional<int> width = {};  // of the terminal; unset: lines are as long as needed
  bool unicode = true;            // false: ASCII alone
  bool hints = true;              // above a table
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell per column, printable text; an empty one is shown as "-".
  void add_row(std::vector<std::string> cells);

  bool empty() const { return rows_.empty(); }

  // Lines, each ended by a newline, without trailing blanks.
  std::string text(const TableStyle& style = {}) const;

 private:
  using Widths = std::vector<int>;  // of each column; 0: it is not shown

  std::optional<std::size_t> column_to_shorten(const Widths& widths) const;
  std::optional<std::size_t> column_to_leave(const Widths& widths, bool ids_only) const;
  int least_width(std::size_t column, int natural, bool ids_only) const;
  int least_total(const Widths& widths, bool ids_only) const;
  Widths column_widths(const TableStyle& style) const;
  std::string line(const std::vector<std::string>& cells, const Widths& widths, bool unicode) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace keplerd::cli
