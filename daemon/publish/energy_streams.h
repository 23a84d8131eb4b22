// SPDX-License-Identifier: Apache-2.0
// The streams of org.keplerd.Energy: List, Monitor, Measure and Record. Each creates its next reply only when
// its client has room for it, so that a slow client skips reports instead of queueing them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

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

// The same with what another idle policy would have placed on each row: of the first sample that has it. For
// callers with full access.
class PolicyListStream : public varlink::Stream {
 public:
  struct Query {
    RowKind kind{};
    RowOrder order{};
    std::size_t limit = 0;
    IdlePlacing policy{};
  };
  // `reports` must outlive the stream.
  PolicyListStream(Reports& reports, Caller caller, Query query);
  std::optional<std::variant<varlink::Reply, varlink::Failure>> next() override;

  static constexpr int kMostAwaited = 50;  // samples, until it replies with what is known

 private:
  bool take_sample();
  void write(std::string& out, std::optional<std::size_t> row) const;

  Reports& reports_;
  Caller caller_;
  Query query_;
  std::shared_ptr<const IdlePlacing> request_;  // while it waits
  std::shared_ptr<const Listener> listening_;   // likewise
  std::shared_ptr<const Report> seen_;          // which did not have it
  int awaited_ = 0;
  ReportView view_;
  std::optional<RowSequence> rows_;
  std::size_t position_ = 0;
};

// Everything once, then the changes since the last report that was sent. Many rows are split over several
// replies.
class MonitorStream : public varlink::Stream {
 public:
  // Sends what `caller` may see. `reports` must outlive the stream. `kind` unset: only the host.
  struct Rhythm {
    Nanoseconds interval{0};
    bool aligned = false;  // to the clock; then `interval` is not 0
  };
  MonitorStream(Reports& reports, Caller caller, std::optional<RowKind> kind, Rhythm rhythm);
  std::optional<std::variant<varlink::Reply, varlink::Failure>> next() override;

 private:
  void collect_changes();
  void write(std::string& out);  // the next reply

  Reports& reports_;
  Caller caller_;
  std::optional<RowKind> kind_;
  Rhythm rhythm_;
  std::shared_ptr<const Listener> listening_;
  ReportView sent_;     // completely
  ReportView sending_;  // its rows changes_.rows[position_] and on are still to be sent
  RowChanges changes_;
  varlink::Json events_;
  std::size_t position_ = 0;
};

// One row with the host at the same instant: of the last sample, and of each further one until the row has
// ended. The second reply to a caller with full access is of a sample that is taken for it at once. A unit is
// watched meanwhile.
class MeasureStream : public varlink::Stream {
 public:
  struct Target {
    RowKind kind{};
    std::string id;
  };
  MeasureStream(Reports& reports, Caller caller, Target target, Nanoseconds interval);
  std::optional<std::variant<varlink::Reply, varlink::Failure>> next() override;

 private:
  Reports& reports_;
  Caller caller_;
  Target target_;
  Nanoseconds interval_;
  std::shared_ptr<const WatchedUnit> watched_;
  std::shared_ptr<const Report> sent_;
  std::shared_ptr<const Listener> listening_;
  bool awaits_new_ = false;   // the sample that is taken at once
  bool was_running_ = false;  // the row, in an earlier reply
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
