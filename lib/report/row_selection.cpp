// SPDX-License-Identifier: Apache-2.0
#include "report/row_selection.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace keplerd {
namespace {

constexpr std::size_t kMostIds = 100;
constexpr std::size_t kMostOrders = 16;  // how many are remembered: of several views, kinds and orders
constexpr std::size_t kFewRows = 128;

constexpr std::array<std::pair<std::string_view, RowOrder>, 5> kOrders = {{{"energy", RowOrder::kEnergy},
                                                                           {"power", RowOrder::kPower},
                                                                           {"cpu", RowOrder::kCpu},
                                                                           {"name", RowOrder::kName},
                                                                           {"id", RowOrder::kId}}};

std::strong_ordering compare(const RowKey& a, const RowKey& b, RowOrder order) {
  switch (order) {
    case RowOrder::kEnergy:
      return b.energy <=> a.energy;
    case RowOrder::kPower:
      return b.power <=> a.power;
    case RowOrder::kCpu:
      return b.cpu <=> a.cpu;
    case RowOrder::kName:
      return a.name <=> b.name;
    case RowOrder::kId:
      break;
  }
  return a.process && b.process ? *a.process <=> *b.process : a.id <=> b.id;
}

}  // namespace

std::optional<RowOrder> parse_row_order(std::string_view name) {
  for (const auto& [known, order] : kOrders) {
    if (name == known) return order;
  }
  return std::nullopt;
}

std::vector<std::size_t> select_rows(const ReportView& view, RowKind kind, RowOrder order,
                                     std::size_t limit) {
  const std::size_t count = row_count(view, kind);
  std::vector<RowKey> keys;
  keys.reserve(count);
  for (std::size_t i = 0; i < count; ++i) keys.push_back(row_key(view, kind, i));
  std::vector<std::size_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const auto before = [&](std::size_t a, std::size_t b) {
    const auto by_key = compare(keys[a], keys[b], order);
    return by_key != 0 ? by_key < 0 : a < b;
  };
  const auto end = rows.begin() + static_cast<std::ptrdiff_t>(std::min(limit, count));
  std::partial_sort(rows.begin(), end, rows.end(), before);
  rows.erase(end, rows.end());
  return rows;
}

RowSequence RowOrders::first(const ReportView& view, RowKind kind, RowOrder order, std::size_t limit) {
  const std::size_t count = row_count(view, kind);
  limit = std::min(limit, count);
  std::erase_if(known_, [](const Known& known) { return known.of.expired(); });
  std::shared_ptr<const void> of = view.report;
  if (kind == RowKind::kProcesses) of = view.processes;
  const auto known = std::ranges::find_if(known_, [&](const Known& other) {
    return other.of.lock() == of && other.kind == kind && other.order == order && other.rows->size() >= limit;
  });
  if (known != known_.end()) {
    std::rotate(known, known + 1, known_.end());
    return {known_.back().rows, limit};
  }
  // A caller that asks for a few more rows each time must not have them sorted each time.
  const std::size_t some = std::max(kFewRows, 2 * limit);
  auto rows = std::make_shared<const std::vector<std::size_t>>(
      select_rows(view, kind, order, some < count / 2 ? some : count));
  if (known_.size() == kMostOrders) known_.erase(known_.begin());
  known_.push_back({of, kind, order, rows});
  return {rows, limit};
}

namespace {

// Whether `id` is the form under which its owner, or the container around it, claims `name`:
// "user-1000/NAME", "OUTER/NAME". A unit's id is a path.
bool is_claimed_as(std::string_view id, std::string_view name, RowKind kind) {
  const bool has_owners = kind == RowKind::kVms || kind == RowKind::kContainers || kind == RowKind::kPods;
  return has_owners && !name.empty() && id.size() > name.size() && id.ends_with(name) &&
         id[id.size() - name.size() - 1] == '/';
}

}  // namespace

FoundRow find_row(const ReportView& view, RowKind kind, std::string_view id_or_name) {
  const auto process = parse_process_id(id_or_name);
  std::optional<std::size_t> named;
  std::vector<std::string> ids;
  const std::size_t count = row_count(view, kind);
  for (std::size_t i = 0; i < count; ++i) {
    const RowKey key = row_key(view, kind, i);
    if (key.process ? key.process == process : key.id == id_or_name) return {i, {}};
    const bool is_named = key.name == id_or_name || is_claimed_as(key.id, id_or_name, kind);
    if (!is_named || ids.size() == kMostIds) continue;
    named = i;
    ids.push_back(key.id_text());
  }
  if (ids.size() == 1) return {named, {}};
  return {std::nullopt, std::move(ids)};
}

}  // namespace keplerd
