// SPDX-License-Identifier: Apache-2.0
// Energy times the rates of the time in which it was drawn.
//
// A span in which the rates change is divided into the shorter spans that it is the sum of, as far as these
// are kept. For the rest, the mean of the rates over the time that they do not cover is applied.
#pragma once

#include <cstdint>
#include <vector>

#include "cost/tariff.h"
#include "history/store/query.h"

namespace keplerd::history {

struct RatedSummary {
  Rated idle, kernel, workloads, unattributed;
  Time mean_rate{0};     // for how much of the recorded time it is a mean
  Time no_intensity{0};  // for how much of it no intensity is known: no emissions are counted
};

class RatedSpans {
 public:
  // Of the same spans as summary_of().
  RatedSpans(Database& database, const Span& period, const RateSeries& series);

  const RatedSummary& summary() const { return summary_; }

  // Sets `rated` of each, with what is nested in it.
  void rate(Database& database, std::vector<WorkloadEnergy>& workloads) const;

 private:
  // By which the energy in a span is multiplied: the difference to what the span around it, which contains
  // the same energy, is multiplied by.
  struct Factor {
    std::int64_t price = 0, carbon = 0;
  };
  struct RatedSpan {
    std::int64_t number = 0;
    Factor factor;
  };
  void visit(Database& database, const RecordedSpan& span, const RateSeries& series, const Factor& outer);
  void add(const RecordedSpan& span, const Factor& factor);
  Factor mean_factor(const RateSeries::Sum& sum, Time recorded);

  std::vector<RatedSpan> spans_;
  RatedSummary summary_;
};

}  // namespace keplerd::history
