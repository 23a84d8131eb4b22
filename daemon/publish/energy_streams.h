// SPDX-License-Identifier: Apache-2.0
// The streams of org.keplerd.Energy: List and Monitor. Each makes its next reply only when its client has
// room for it, so that a slow client sees later reports instead of many.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "daemon/publish/reports.h"
#include "report/row_changes.h"
#include "varlink/server.h"

namespace keplerd {

// One row a reply, of one report: these.
class ListStream : public varlink::Stream {
 public:
  ListStream(ReportView view, RowKind kind, RowSequence rows);
  std::optional<std::variant<varlink::Reply, varlink::Failure>> next() override;

 private:
  ReportView view_;
  RowKind kind_;
  RowSequence rows_;
  std::size_t position_ = 0;
};

// Everything once, then what has changed since the last report that was told. Many rows are told in several
// replies.
class MonitorStream : public varlink::Stream {
 public:
  // What `caller` may see. `reports` must outlive the stream. `kind` unset: the host alone.
  MonitorStream(Reports& reports, Caller caller, std::optional<RowKind> kind, Nanoseconds interval);
  std::optional<std::variant<varlink::Reply, varlink::Failure>> next() override;

 private:
  void collect_changes();

  Reports& reports_;
  Caller caller_;
  std::optional<RowKind> kind_;
  Nanoseconds interval_;
  std::shared_ptr<const Listener> listening_;
  ReportView sent_;     // in full
  ReportView sending_;  // its rows changes_.rows[position_] and on are still to be sent
  RowChanges changes_;
  varlink::Json events_;
  std::size_t position_ = 0;
};

}  // namespace keplerd
