// SPDX-License-Identifier: Apache-2.0
#include "history/store/rated.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace keplerd::history {

RatedSpans::RatedSpans(Database& database, const Span& period, const RateSeries& series) {
  for (const RecordedSpan& span : spans_inside(database, period)) visit(database, span, series, {});
}

void RatedSpans::visit(Database& database, const RecordedSpan& span, const RateSeries& series,
                       const Factor& outer) {
  RateSeries::Sum rest = series.sum(span.span.start, span.span.end);
  const RateSeries::Sum whole = rest;
  Time recorded = span.recorded;
  std::vector<RecordedSpan> parts;
  const bool is_constant = series.is_constant(span.span.start, span.span.end);
  if (!is_constant) parts = parts_of(database, span);
  for (const RecordedSpan& part : parts) {
    rest -= series.sum(part.span.start, part.span.end);
    recorded -= part.recorded;
  }
  // An interruption may overlap with the spans next to it.
  if (rest.length <= Time(0) || rest.known < Time(0)) rest = whole;
  Factor factor = mean_factor(rest, recorded);
  if (!is_constant) summary_.mean_rate += std::max(recorded, Time(0));
  for (const RecordedSpan& part : parts) visit(database, part, series, factor);
  factor.price -= outer.price;
  factor.carbon -= outer.carbon;
  add(span, factor);
}

RatedSpans::Factor RatedSpans::mean_factor(const RateSeries::Sum& sum, Time recorded) {
  const auto carbon = sum.mean_carbon();
  if (!carbon) summary_.no_intensity += std::max(recorded, Time(0));
  return {sum.mean_price(), carbon.value_or(0)};
}

void RatedSpans::add(const RecordedSpan& span, const Factor& factor) {
  if (factor.price == 0 && factor.carbon == 0) return;
  spans_.push_back({span.number, factor});
  const auto rated = [&factor](Microjoules energy) {
    return Rated{static_cast<RatedEnergy>(energy.value) * factor.price,
                 static_cast<RatedEnergy>(energy.value) * factor.carbon};
  };
  summary_.idle += rated(span.accounts.idle);
  summary_.kernel += rated(span.accounts.kernel);
  summary_.workloads += rated(span.accounts.workloads);
  summary_.unattributed += rated(span.accounts.unattributed);
}

// A year of hours has tens of millions of rows: they are only added up here.
void RatedSpans::rate(Database& database, std::vector<WorkloadEnergy>& workloads) const {
  std::vector<std::optional<std::size_t>> by_number;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    const auto number = static_cast<std::size_t>(workloads[i].number);
    if (by_number.size() <= number) by_number.resize(number + 1);
    by_number[number] = i;
  }
  Statement energies = database.prepare("SELECT workload, active + idle FROM energy WHERE span = ?1");
  for (const RatedSpan& span : spans_) {
    energies.bind(span.number);
    while (energies.step()) {
      const auto number = static_cast<std::size_t>(energies.integer(0));
      if (number >= by_number.size() || !by_number[number]) continue;
      const RatedEnergy energy = energies.integer(1);
      workloads[*by_number[number]].rated += {energy * span.factor.price, energy * span.factor.carbon};
    }
  }
  // What an hour leaves out (MinEnergy=) may be in five minutes of it.
  for (WorkloadEnergy& workload : workloads) {
    workload.rated.price = std::max(workload.rated.price, RatedEnergy{0});
    workload.rated.carbon = std::max(workload.rated.carbon, RatedEnergy{0});
  }
}

}  // namespace keplerd::history
