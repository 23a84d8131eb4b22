// SPDX-License-Identifier: Apache-2.0
// What a request needs of one period, computed in steps (varlink::Stream::is_working()).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "history/recorder.h"
#include "history/request/pricing.h"
#include "history/request/readers.h"
#include "history/store/labels.h"
#include "history/store/period_sum.h"

namespace keplerd::history {

class PeriodRequest {
 public:
  // What all requests share. All of it must outlive them.
  struct Means {
    Recorder& recorder;
    Readers& readers;
    Labels& labels;
  };
  struct What {
    Span period;
    std::optional<Selection> selection;  // unset: the host only
    std::optional<uid_t> limited_to;     // a caller without full access
  };
  PeriodRequest(const Means& means, What what, Pricing& pricing);

  enum class State {
    kWorking,  // there is more to do
    kWaiting,  // for one of the readers
    kDone
  };
  // Does a small part of the work. Throws DatabaseError.
  State step();

  // When it is done.
  const Summary& summary() const { return sum_->summary(); }
  const RatedSummary& rated() const { return sum_->rated(); }
  std::vector<WorkloadEnergy> workloads() const;
  // Of the meters that cover the platform, the one that counted most; for a caller with full access.
  std::optional<WorkloadEnergy> platform() const;

 private:
  const Label* find(std::int64_t workload) const;
  std::vector<WorkloadEnergy> select(const Selection& selection) const;

  Means means_;
  What what_;
  Pricing& pricing_;
  std::unique_ptr<Readers::Reader> reader_;
  std::optional<PeriodSum> sum_;
  bool is_summed_ = false;
  std::size_t labelled_ = 0;  // so many of the sums
};

}  // namespace keplerd::history
