// SPDX-License-Identifier: Apache-2.0
// Computes what to send to one subscriber: everything once, then only what differs from what was sent before,
// at its own rate. Pure: the time is that of the reports.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "report/report.h"
#include "report/row_selection.h"

namespace keplerd::dbus {

inline constexpr std::size_t kDefaultLimit = 500;

struct SubscribeOptions {
  std::vector<RowKind> kinds;         // each once; none: only the host
  std::size_t limit = kDefaultLimit;  // of each kind, the first ones by `order`
  RowOrder order = RowOrder::kEnergy;
  bool details = false;
  Nanoseconds interval{0};  // minimum time between two reports
};

struct KindChanges {
  RowKind kind;
  std::vector<std::size_t> rows;     // new or changed, in the subscriber's order
  std::vector<std::string> removed;  // ids of rows that are gone, or no longer among the first
};

// The contents of one message.
struct Changes {
  ReportView view;
  std::vector<KindChanges> kinds;   // only those with changes
  bool partial = false;             // more of the same report follows
  std::span<const VmEvent> events;  // of `view`, since the previous one; for subscribers to VMs
};

class ChangeTracker {
 public:
  // `orders` must outlive it. `bytes_at_once`: the approximate size limit of one Changes on the bus.
  ChangeTracker(SubscribeOptions options, RowOrders& orders, std::size_t bytes_at_once = 256 << 10);

  // Nothing if `latest` has been sent already, or comes too early for this subscriber.
  std::optional<Changes> next(const ReportView& latest);

  const SubscribeOptions& options() const { return options_; }

 private:
  void collect();
  KindChanges compare(RowKind kind, const std::vector<std::size_t>& sent,
                      std::vector<std::size_t>& now) const;
  std::size_t cost(std::size_t text) const;

  SubscribeOptions options_;
  RowOrders* orders_;
  std::size_t bytes_at_once_;
  ReportView sent_;                                  // completely
  ReportView sending_;                               // the rest of it is in waiting_
  std::vector<std::vector<std::size_t>> sent_rows_;  // of each kind, those of sent_ (or sending_), ascending
  std::vector<KindChanges> waiting_;                 // in reverse order: the next one is at the end
};

}  // namespace keplerd::dbus
