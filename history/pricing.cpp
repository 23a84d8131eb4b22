// SPDX-License-Identifier: Apache-2.0
#include "history/pricing.h"

#include <algorithm>

#include "varlink/json.h"

namespace keplerd::history {

using varlink::Json;

Pricing::Pricing(const std::string& config, const Span& period, const std::optional<Span>& recorded) {
  auto tariff = load_tariff_file(config);
  if (!tariff) {
    problem_ = tariff.error().message;
    return;
  }
  tariff_ = *std::move(tariff);
  if (!recorded || (!tariff_.has_price() && !tariff_.has_carbon())) return;
  // Nothing is recorded before and after: callers may ask for centuries.
  const Time from = std::max(period.start, recorded->start), to = std::min(period.end, recorded->end);
  series_.emplace(tariff_, span_of(Step::kFiveMinutes, from).start,
                  span_of(Step::kFiveMinutes, std::max(from, to)).end);
}

std::optional<RatedSpans> Pricing::rate(Database& database, const Span& span) const {
  if (!series_) return std::nullopt;
  return RatedSpans(database, span, *series_);
}

void Pricing::describe(Json& reply, const std::optional<RatedSpans>& spans, Time recorded) {
  if (!problem_.empty()) reply["ratesProblem"] = problem_;
  if (tariff_.has_price()) reply["currency"] = tariff_.currency;
  if (tariff_.embodied) reply["embodiedMilligramsCO2e"] = embodied_in(tariff_, recorded).value;
  if (!spans) return;
  const RatedSummary& summary = spans->summary();
  if (summary.mean_rate > Time(0)) reply["meanRateUsec"] = summary.mean_rate.count();
  has_carbon_ = tariff_.has_carbon() && (summary.no_intensity < recorded || recorded == Time(0));
  if (tariff_.has_carbon() && summary.no_intensity > Time(0))
    reply["noIntensityUsec"] = summary.no_intensity.count();
}

void Pricing::set(Json& object, std::int64_t cost, std::int64_t milligrams) const {
  if (tariff_.has_price()) object["costMicro"] = cost;
  if (has_carbon_) object["milligramsCO2e"] = milligrams;
}

void Pricing::add(Json& object, const Rated& rated) const {
  if (series_) set(object, cost_of(rated.price), milligrams_of(rated.carbon));
}

void Pricing::add(const std::vector<Part>& parts) const {
  if (!series_) return;
  std::vector<RatedEnergy> priced, emitted;
  for (const Part& part : parts) {
    priced.push_back(part.rated.price);
    emitted.push_back(part.rated.carbon);
  }
  const auto costs = costs_of(priced), milligrams = milligrams_of(emitted);
  for (std::size_t i = 0; i < parts.size(); ++i) set(parts[i].object, costs[i], milligrams[i]);
}

}  // namespace keplerd::history
