// SPDX-License-Identifier: Apache-2.0
#include "history/request/pricing.h"

#include <algorithm>

#include "varlink/json.h"

namespace keplerd::history {

using varlink::Json;

// Nothing is recorded before and after: callers may ask for centuries.
bool Pricing::prepare(const Span& period, const std::optional<Span>& recorded) {
  constexpr int kStepsAtOnce = 2000;  // of five minutes: some 0.5 ms
  if (!rates_.series || !recorded) return true;
  const Time to = std::min(period.end, recorded->end);
  if (to <= rates_.series->start()) return true;
  return rates_.series->extend(span_of(Step::kFiveMinutes, to).end, kStepsAtOnce);
}

void Pricing::describe(Json& reply, const Described& described) {
  const Tariff& tariff = *rates_.tariff;
  const auto& [rated, recorded, host] = described;
  if (!rates_.problem.empty()) reply["ratesProblem"] = rates_.problem;
  if (tariff.has_price()) reply["currency"] = tariff.currency;
  if (tariff.embodied) reply["embodiedMilligramsCO2e"] = embodied_in(tariff, recorded).value;
  if (!rates_.series) return;
  if (rated.mean_rate > Time(0)) reply["meanRateUsec"] = rated.mean_rate.count();
  has_carbon_ = tariff.has_carbon() && (rated.no_intensity < recorded || recorded == Time(0));
  if (!tariff.has_carbon() || rated.no_intensity <= Time(0)) return;
  reply["noIntensityUsec"] = rated.no_intensity.count();
  if (host) reply["noIntensityMicrojoules"] = rated.without_intensity.value;
}

void Pricing::set(Json& object, std::int64_t cost, std::int64_t milligrams) const {
  if (rates_.tariff->has_price()) object["costMicro"] = cost;
  if (has_carbon_) object["milligramsCO2e"] = milligrams;
}

void Pricing::add(Json& object, const Rated& rated) const {
  if (rates_.series) set(object, cost_of(rated.price), milligrams_of(rated.carbon));
}

void Pricing::add(const std::vector<Part>& parts) const {
  if (!rates_.series) return;
  std::vector<RatedEnergy> priced, emitted;
  for (const Part& part : parts) {
    priced.push_back(part.rated.price);
    emitted.push_back(part.rated.carbon);
  }
  const auto costs = costs_of(priced), milligrams = milligrams_of(emitted);
  for (std::size_t i = 0; i < parts.size(); ++i) set(parts[i].object, costs[i], milligrams[i]);
}

}  // namespace keplerd::history
