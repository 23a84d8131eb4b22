// SPDX-License-Identifier: Apache-2.0
#include "history/request/period_request.h"

#include <algorithm>
#include <utility>

namespace keplerd::history {
namespace {

constexpr std::size_t kLabelledAtOnce = 200;

}  // namespace

PeriodRequest::PeriodRequest(const Means& means, What what, Pricing& pricing)
    : means_(means), what_(std::move(what)), pricing_(pricing) {}

PeriodRequest::State PeriodRequest::step() {
  if (!sum_) {
    // The rates first: a reader is not kept longer than needed.
    if (!pricing_.prepare(what_.period, recorded_span(means_.recorder.store().database())))
      return State::kWorking;
    if (!reader_) reader_ = means_.readers.lend(what_.limited_to);
    if (!reader_) return State::kWaiting;
    sum_.emplace(reader_->database(), PeriodSum::What{what_.period, pricing_.series()});
    return State::kWorking;
  }
  if (!is_summed_) {
    if (sum_->step()) return State::kWorking;
    is_summed_ = true;
    reader_.reset();
  }
  // So that they are known when they are selected.
  const auto& sums = sum_->workloads();
  for (std::size_t i = 0; i < kLabelledAtOnce && labelled_ < sums.size(); ++i)
    find(sums[labelled_++].workload);
  return labelled_ < sums.size() ? State::kWorking : State::kDone;
}

const Label* PeriodRequest::find(std::int64_t workload) const {
  return means_.labels.find(workload, means_.recorder.store().labels_version());
}

std::vector<WorkloadEnergy> PeriodRequest::workloads() const {
  if (!what_.selection) return {};
  return select(*what_.selection);
}

std::vector<WorkloadEnergy> PeriodRequest::select(const Selection& selection) const {
  return history::select(sum_->workloads(), selection,
                         [this](std::int64_t workload) { return find(workload); });
}

std::optional<WorkloadEnergy> PeriodRequest::platform() const {
  if (what_.limited_to) return std::nullopt;
  const auto zones = select({Kind::kZones, {}, {}});
  const auto most =
      std::ranges::max_element(zones, {}, [](const WorkloadEnergy& zone) { return zone.amounts.energy(); });
  if (most == zones.end()) return std::nullopt;
  return *most;
}

}  // namespace keplerd::history
