// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/dbus/changes.h"

#include <algorithm>
#include <utility>

#include "daemon/publish/reports.h"
#include "report/row_changes.h"

namespace keplerd::dbus {
namespace {

// Moves the last element of `from` to the end of `to`.
template <class T>
void move_last(std::vector<T>& from, std::vector<T>& to) {
  to.push_back(std::move(from.back()));
  from.pop_back();
}

}  // namespace

ChangeTracker::ChangeTracker(SubscribeOptions options, RowOrders& orders, std::size_t bytes_at_once)
    : options_(std::move(options)),
      orders_(&orders),
      bytes_at_once_(bytes_at_once),
      sent_rows_(options_.kinds.size()) {}

std::optional<Changes> ChangeTracker::next(const ReportView& latest) {
  if (!sending_) {
    if (latest.report == sent_.report) return std::nullopt;
    if (sent_ && !is_due(*latest.report, *sent_.report, options_.interval)) return std::nullopt;
    sending_ = latest;
    collect();
  }
  Changes changes{sending_, {}, false, {}};
  std::size_t bytes = 0;
  while (!waiting_.empty() && bytes < bytes_at_once_) {
    KindChanges& from = waiting_.back();
    KindChanges& to = changes.kinds.emplace_back(KindChanges{from.kind, {}, {}});
    for (; !from.removed.empty() && bytes < bytes_at_once_; move_last(from.removed, to.removed))
      bytes += cost(from.removed.back().size());
    for (; !from.rows.empty() && bytes < bytes_at_once_; move_last(from.rows, to.rows)) {
      const RowKey key = row_key(sending_, from.kind, from.rows.back());
      bytes += cost(key.id_text().size() + key.name.size());
    }
    if (from.rows.empty() && from.removed.empty()) waiting_.pop_back();
  }
  changes.partial = !waiting_.empty();
  const bool vms = std::ranges::find(options_.kinds, RowKind::kVms) != options_.kinds.end();
  if (!changes.partial && vms) changes.events = events_since(sent_.report.get(), *sending_.report);
  if (!changes.partial) sent_ = std::exchange(sending_, {});
  return changes;
}

// A row's numbers and the framing of its texts; the details repeat ids, and name every zone.
std::size_t ChangeTracker::cost(std::size_t text) const {
  return options_.details ? 600 + 4 * text : 80 + text;
}

void ChangeTracker::collect() {
  for (std::size_t i = options_.kinds.size(); i-- > 0;) {
    std::vector<std::size_t> now;
    KindChanges changes = compare(options_.kinds[i], sent_rows_[i], now);
    sent_rows_[i] = std::move(now);
    if (changes.rows.empty() && changes.removed.empty()) continue;
    std::ranges::reverse(changes.rows);
    std::ranges::reverse(changes.removed);
    waiting_.push_back(std::move(changes));
  }
}

// `sent` and `now` are ascending, and both reports in the same order.
KindChanges ChangeTracker::compare(RowKind kind, const std::vector<std::size_t>& sent,
                                   std::vector<std::size_t>& now) const {
  const RowSequence first = orders_->first(sending_, kind, options_.order, options_.limit);
  KindChanges changes{kind, {first.begin(), first.end()}, {}};
  now = changes.rows;
  std::ranges::sort(now);
  RowChanges found = row_changes(kind, sent_, sent, sending_, now);
  changes.removed = std::move(found.removed);
  std::vector<bool> is_changed(row_count(sending_, kind));
  for (const std::size_t row : found.rows) is_changed[row] = true;
  std::erase_if(changes.rows, [&](std::size_t row) { return !is_changed[row]; });
  return changes;
}

}  // namespace keplerd::dbus
