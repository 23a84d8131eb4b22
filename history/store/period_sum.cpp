// SPDX-License-Identifier: Apache-2.0
#include "history/store/period_sum.h"

#include <algorithm>
#include <utility>

namespace keplerd::history {
namespace {

constexpr int kUnpackedAtOnce = 4096;  // some 50 us

// The part of the energy that belongs to a part of the time.
Microjoules in_proportion(Microjoules energy, Time part, Time whole) {
  if (whole <= Time(0)) return {};
  return {static_cast<std::int64_t>(static_cast<__int128>(energy.value) * part.count() / whole.count())};
}

}  // namespace

PeriodSum::PeriodSum(Database& database, const What& what)
    : database_(database),
      what_(what),
      last_workload_(database.integer("SELECT max(number) FROM workloads")) {
  for (RecordedSpan& span : spans_inside(database, what.period)) pending_.push_back({std::move(span), {}});
}

bool PeriodSum::step() {
  if (unpacker_) {
    unpack_some();
  } else if (!pending_.empty()) {
    const Pending next = std::move(pending_.back());
    pending_.pop_back();
    visit(next);
  } else {
    finish();
    return false;
  }
  return true;
}

void PeriodSum::visit(const Pending& pending) {
  const RecordedSpan& span = pending.span;
  Factor factor = what_.series == nullptr ? Factor{} : divide(span);
  factor.price -= pending.around.price;
  factor.carbon -= pending.around.carbon;
  add(span, factor, pending.is_part);
}

// By what its energy is multiplied, but for that of its parts, which are to be visited.
PeriodSum::Factor PeriodSum::divide(const RecordedSpan& span) {
  const RateSeries& series = *what_.series;
  RateSeries::Sum rest = series.sum(span.span.start, span.span.end);
  const RateSeries::Sum whole = rest;
  Time recorded = span.recorded;
  Microjoules energy = span.accounts.energy();
  std::vector<RecordedSpan> parts;
  const bool is_constant = series.is_constant(span.span.start, span.span.end);
  if (!is_constant) parts = parts_of(database_, span);
  for (const RecordedSpan& part : parts) {
    rest -= series.sum(part.span.start, part.span.end);
    recorded -= part.recorded;
    energy -= part.accounts.energy();
  }
  // An interruption may overlap with the spans next to it.
  if (rest.length <= Time(0) || rest.known < Time(0) || rest.known > rest.length) rest = whole;
  const Factor factor = mean_factor(rest, std::max(recorded, Time(0)), energy);
  if (!is_constant) rated_.mean_rate += std::max(recorded, Time(0));
  for (RecordedSpan& part : parts) pending_.push_back({std::move(part), factor, true});
  return factor;
}

PeriodSum::Factor PeriodSum::mean_factor(const RateSeries::Sum& sum, Time recorded, Microjoules energy) {
  const Time unknown = sum.length - sum.known;
  rated_.no_intensity += Time(in_proportion({recorded.count()}, unknown, sum.length).value);
  rated_.without_intensity += in_proportion(energy, unknown, sum.length);
  return {sum.mean_price(), sum.mean_carbon()};
}

void PeriodSum::add(const RecordedSpan& span, const Factor& factor, bool is_part) {
  if (!is_part) {
    summary_.recorded += span.recorded;
    summary_.accounts += span.accounts;
  } else if (factor.price == 0 && factor.carbon == 0) {
    return;
  }
  const auto rated = [&factor](Microjoules energy) {
    return Rated{static_cast<RatedEnergy>(energy.value) * factor.price,
                 static_cast<RatedEnergy>(energy.value) * factor.carbon};
  };
  rated_.idle += rated(span.accounts.idle);
  rated_.kernel += rated(span.accounts.kernel);
  rated_.workloads += rated(span.accounts.workloads);
  rated_.unattributed += rated(span.accounts.unattributed);
  packed_ = packed_energies(database_, span.number);
  unpacker_.emplace(packed_);
  factor_ = factor;
  is_part_ = is_part;
}

void PeriodSum::unpack_some() {
  for (int i = 0; i < kUnpackedAtOnce; ++i) {
    if (unpacker_->is_at_end()) {
      unpacker_.reset();
      return;
    }
    const auto [workload, amounts] = unpacker_->next();
    if (workload > last_workload_) continue;  // not known any more
    Sum& sum = sum_of(workload);
    if (!is_part_) sum.amounts += amounts;
    const RatedEnergy energy = amounts.energy().value;
    sum.rated.price += energy * factor_.price;
    sum.rated.carbon += energy * factor_.carbon;
  }
}

PeriodSum::Sum& PeriodSum::sum_of(std::int64_t workload) {
  const auto number = static_cast<std::size_t>(workload);
  if (index_.size() <= number) index_.resize(static_cast<std::size_t>(last_workload_) + 1);
  if (index_[number] == 0) {
    sums_.push_back({.workload = workload});
    index_[number] = static_cast<std::uint32_t>(sums_.size());
  }
  return sums_[index_[number] - 1];
}

// Of workloads that an hour leaves out (MinEnergy=), there may be five minutes of it: these alone are not
// in the period.
void PeriodSum::finish() {
  std::erase_if(sums_, [](const Sum& sum) { return sum.amounts == Amounts{}; });
  for (Sum& sum : sums_) {
    sum.rated.price = std::max(sum.rated.price, RatedEnergy{0});
    sum.rated.carbon = std::max(sum.rated.carbon, RatedEnergy{0});
  }
}

}  // namespace keplerd::history
