// SPDX-License-Identifier: Apache-2.0
// Where publishers get reports from: each caller the one that it may see.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include <sys/types.h>

#include "config/settings.h"
#include "daemon/access/caller.h"
#include "daemon/pace.h"
#include "report/report.h"
#include "report/row_selection.h"

namespace keplerd {

// Whether `latest` is for somebody who wants one report in `interval`, and got that of `sent`. A sample that
// comes a little early still counts.
inline bool is_due(const Report& latest, const Report& sent, Nanoseconds interval) {
  return latest.monotonic - sent.monotonic >= interval - interval / 10;
}

class Reports {
 public:
  virtual ~Reports() = default;
  // Who this is. `groups`: all of the caller's, the primary one too.
  virtual Caller identify(uid_t user, std::span<const gid_t> groups) const = 0;
  // The last report that is for this caller, with the processes where these are the `kind`; nothing where
  // none is. The same objects until there are others.
  virtual ReportView latest(const Caller& caller, std::optional<RowKind> kind) = 0;
  // The same, but for a caller with full access a new one if the last is older than Interval=, because nobody
  // was there, or with Interval=0 than Staleness=.
  virtual ReportView fresh(const Caller& caller, std::optional<RowKind> kind) = 0;
  // To be held by what tells this caller reports as they come: at most one in `wanted`, or each (0).
  virtual std::shared_ptr<const Listener> listen(const Caller& caller, Nanoseconds wanted) = 0;
  virtual const Settings& settings() const = 0;

  RowOrders& orders() { return orders_; }

 private:
  RowOrders orders_;
};

}  // namespace keplerd
