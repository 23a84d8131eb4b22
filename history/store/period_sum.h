// SPDX-License-Identifier: Apache-2.0
// What the host and all workloads drew in a period, and energy times the rates of the time in which it was
// drawn; computed in steps, so that a report of years does not delay others.
//
// A span in which the rates change is divided into the shorter spans that it is the sum of, as far as these
// are kept. For the rest, the mean of the rates over the time that they do not cover is applied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cost/rate_series.h"
#include "history/store/energies.h"
#include "history/store/query.h"

namespace keplerd::history {

struct RatedSummary {
  Rated idle, kernel, workloads, unattributed;
  Time mean_rate{0};  // for how much of the recorded time it is a mean
  // For how much of the recorded time no intensity is known, and the energy of the host in it: no emissions
  // are counted for it.
  Time no_intensity{0};
  Microjoules without_intensity;
};

class PeriodSum {
 public:
  struct What {
    Span period;
    const RateSeries* series = nullptr;  // must cover what is recorded in the period; null: nothing is rated
  };
  // All of it is read from `database`, in which nothing may change meanwhile.
  PeriodSum(Database& database, const What& what);

  // Does a small part of the work. Returns whether there is more to do.
  bool step();

  // Of spans_inside(). Complete when step() has returned false.
  const Summary& summary() const { return summary_; }
  const RatedSummary& rated() const { return rated_; }

  struct Sum {
    std::int64_t workload = 0;  // its number
    Amounts amounts;
    Rated rated;
  };
  const std::vector<Sum>& workloads() const { return sums_; }

 private:
  // By which the energy in a span is multiplied.
  struct Factor {
    std::int64_t price = 0, carbon = 0;
  };
  // A span that is inside the period, or a part of one: `around` is by what its energy is multiplied there.
  struct Pending {
    RecordedSpan span;
    Factor around;
    bool is_part = false;
  };
  void visit(const Pending& pending);
  Factor divide(const RecordedSpan& span);
  Factor mean_factor(const RateSeries::Sum& sum, Time recorded, Microjoules energy);
  void add(const RecordedSpan& span, const Factor& factor, bool is_part);
  void unpack_some();
  Sum& sum_of(std::int64_t workload);
  void finish();

  Database& database_;
  What what_;
  std::int64_t last_workload_;  // the highest number
  std::vector<Pending> pending_;

  // The span whose workloads are being added.
  std::string packed_;
  std::optional<Unpacker> unpacker_;
  Factor factor_;
  bool is_part_ = false;

  Summary summary_;
  RatedSummary rated_;
  std::vector<Sum> sums_;
  std::vector<std::uint32_t> index_;  // by the number of the workload: in `sums_`, from 1; 0: not there
};

}  // namespace keplerd::history
