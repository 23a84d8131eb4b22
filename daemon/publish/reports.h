// SPDX-License-Identifier: Apache-2.0
// Provides publishers with reports: for each caller the one that it may see.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include <sys/types.h>

#include "config/settings.h"
#include "daemon/access/caller.h"
#include "daemon/idle_requests.h"
#include "daemon/pace.h"
#include "daemon/recorder.h"
#include "daemon/watches.h"
#include "report/report.h"
#include "report/row_selection.h"

namespace keplerd {

// Whether `latest` is due for a follower that got `sent`, and wants one report per `interval`: a sample that
// comes slightly early still counts; or, if `aligned`, the first one after each multiple of it.
inline bool is_due(const Report& latest, const Report& sent, Nanoseconds interval, bool aligned = false) {
  if (aligned) return latest.realtime / interval != sent.realtime / interval;
  return latest.monotonic - sent.monotonic >= interval - interval / 10;
}

class Reports {
 public:
  virtual ~Reports() = default;
  // Identifies a caller. `groups`: all of the caller's groups, including the primary one.
  virtual Caller identify(uid_t user, std::span<const gid_t> groups) const = 0;
  // The last report for this caller, with the processes if these are the `kind`; nothing if there is none.
  // The same objects until there are newer ones.
  virtual ReportView latest(const Caller& caller, std::optional<RowKind> kind) = 0;
  // The same, but for a caller with full access it takes a new sample if the last report is older than
  // Interval= (because nobody was there), or with Interval=0 older than Staleness=.
  virtual ReportView fresh(const Caller& caller, std::optional<RowKind> kind) = 0;
  // The next sample is taken at once, if the caller has full access.
  virtual void hurry(const Caller& caller) = 0;
  // Held while reports are sent to a caller as they come.
  virtual std::shared_ptr<const Listener> listen(const Listener& listener) = 0;
  virtual const Settings& settings() const = 0;

  RowOrders& orders() { return orders_; }
  Recorder& recorder() { return recorder_; }
  Watches& watches() { return watches_; }
  IdleRequests& idle_requests() { return idle_requests_; }

 private:
  RowOrders orders_;
  Recorder recorder_;
  Watches watches_;
  IdleRequests idle_requests_;
};

}  // namespace keplerd
