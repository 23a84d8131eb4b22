// SPDX-License-Identifier: Apache-2.0
// Selects rows on request: the first in some order, or one by its id or name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/row_kinds.h"

namespace keplerd {

// The first three: largest first, unknown values last.
enum class RowOrder { kEnergy, kPower, kCpu, kName, kId };

// "energy", "power", "cpu", "name", "id".
std::optional<RowOrder> parse_row_order(std::string_view name);

// Indices of the first `limit` rows. Ties keep the order of the report.
std::vector<std::size_t> select_rows(const ReportView& view, RowKind kind, RowOrder order, std::size_t limit);

// The same, shared by all callers.
class RowSequence {
 public:
  using value_type = std::size_t;
  using const_iterator = std::vector<std::size_t>::const_iterator;

  RowSequence(std::shared_ptr<const std::vector<std::size_t>> rows, std::size_t size)
      : rows_(std::move(rows)), size_(size) {}
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::size_t operator[](std::size_t position) const { return (*rows_)[position]; }
  const_iterator begin() const { return rows_->begin(); }
  const_iterator end() const { return rows_->begin() + static_cast<std::ptrdiff_t>(size_); }

 private:
  std::shared_ptr<const std::vector<std::size_t>> rows_;
  std::size_t size_;
};

// Remembers how rows are sorted, for as long as they exist: a caller that asks a thousand times for the first
// row has them sorted once.
class RowOrders {
 public:
  RowSequence first(const ReportView& view, RowKind kind, RowOrder order, std::size_t limit);

 private:
  struct Known {
    std::weak_ptr<const void> of;  // the report or, for processes, these rows
    RowKind kind;
    RowOrder order;
    std::shared_ptr<const std::vector<std::size_t>> rows;
  };
  std::vector<Known> known_;  // most recently used last
};

struct FoundRow {
  std::optional<std::size_t> index;
  std::vector<std::string> ids;  // if several have this name: up to 100 of their ids; else empty
};

// By id, else by a name that only one row has.
FoundRow find_row(const ReportView& view, RowKind kind, std::string_view id_or_name);

}  // namespace keplerd
