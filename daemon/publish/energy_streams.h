// SPDX-License-Identifier: Apache-2.0
// The streams of org.keplerd.Energy: List and Monitor. Each creates its next reply only when its client has
// room for it, so that a slow client skips reports instead of queueing them.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "daemon/publish/reports.h"
#include "report/row_changes.h"
#include "varlink/server.h"

namespace keplerd {

// One row per reply, all of one report.
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

// Everything once, then the changes since the last report that was sent. Many rows are split over several
// replies.
class MonitorStream : public varlink::Stream {
 public:
  // Sends what `caller` may see. `reports` must outlive the stream. `kind` unset: only the host.
  MonitorStream(Reports& reports, Caller caller, std::optional<RowKind> kind, Nanoseconds interval);
  std::optional<std::variant<varlink::Reply, varlink::Failure>> next() override;

 private:
  void collect_changes();

  Reports& reports_;
  Caller caller_;
  std::optional<RowKind> kind_;
  Nanoseconds interval_;
  std::shared_ptr<const Listener> listening_;
  ReportView sent_;     // completely
  ReportView sending_;  // its rows changes_.rows[position_] and on are still to be sent
  RowChanges changes_;
  varlink::Json events_;
  std::size_t position_ = 0;
};

// The text of a trace, in pieces.
class RecordStream : public varlink::Stream {
 public:
  RecordStream(std::shared_ptr<Recording> recording, std::shared_ptr<const Listener> listening)
      : recording_(std::move(recording)), listening_(std::move(listening)) {}
  std::optional<std::variant<varlink::Reply, varlink::Failure>> next() override;

 private:
  std::shared_ptr<Recording> recording_;
  std::shared_ptr<const Listener> listening_;
};

}  // namespace keplerd
