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
};

struct TableStyle {
  bool header = true;
  bool bold_header = false;       // with a terminal's escape sequence
  std::optional<int> width = {};  // of the terminal; unset: lines are as long as needed
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
  std::optional<std::size_t> column_to_shorten(const std::vector<int>& widths) const;
  std::vector<int> column_widths(const TableStyle& style) const;
  std::string line(const std::vector<std::string>& cells, const std::vector<int>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace keplerd::cli
