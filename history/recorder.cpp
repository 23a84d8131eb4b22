// SPDX-License-Identifier: Apache-2.0
#include "history/recorder.h"

#include <utility>

namespace keplerd::history {
namespace {

// If nothing can be written for an hour, what was drawn meanwhile is booked as an interruption: memory is
// bounded.
constexpr std::size_t kMostUnwritten = 12;

}  // namespace

void Recorder::take(const Reading& reading) {
  update_time_zone();
  const std::optional<Baseline>& before = last_ ? last_ : store_.baseline();
  const bool is_first = !before.has_value();
  bool is_new_span = is_first;
  if (before) {
    const Drawn drawn = drawn_since(*before, reading);
    bookings_.add(drawn);
    is_new_span = span_of(Step::kFiveMinutes, before->time) != span_of(Step::kFiveMinutes, reading.time);
  }
  for (const WorkloadReading& workload : reading.workloads)
    names_[workload.key] = {workload.name, workload.project};
  last_ = baseline_of(reading);
  if (is_new_span) flush();
}

void Recorder::flush() {
  if (!last_) return;
  const auto written = store_.write(bookings_, names_, *last_);
  if (written) {
    bookings_.clear();
    names_.clear();
    last_.reset();
    if (!std::exchange(problem_, {}).empty()) log_(false, "history is written again");
    if (written_) written_(store_.baseline()->time);
    return;
  }
  if (problem_ != written.error().message)
    log_(true, "history cannot be written: " + written.error().message);
  problem_ = written.error().message;
  if (bookings_.entries().size() > kMostUnwritten) {
    bookings_.clear();
    names_.clear();
    last_.reset();  // the next difference begins at the last reading that was written
  }
}

}  // namespace keplerd::history
