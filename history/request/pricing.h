// SPDX-License-Identifier: Apache-2.0
// What the energy of one reply cost and emitted.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "history/request/rates.h"
#include "history/store/period_sum.h"
#include "varlink/json_fwd.h"

namespace keplerd::history {

class Pricing {
 public:
  explicit Pricing(Rates::Applied rates) : rates_(std::move(rates)) {}

  // Null: no rates are known.
  const RateSeries* series() const { return rates_.series.get(); }

  // Extends the series over what is recorded in `period`, by a small part of it. Returns whether that is
  // done.
  bool prepare(const Span& period, const std::optional<Span>& recorded);

  // Adds the currency, or why there are no costs; how accurate they are; and the embodied emissions. `host`:
  // also energy of the host.
  struct Described {
    const RatedSummary& rated;
    Time recorded{0};
    bool host = false;
  };
  void describe(varlink::Json& reply, const Described& described);

  // Adds cost and emissions, as far as describe() found that they are known.
  void add(varlink::Json& object, const Rated& rated) const;

  struct Part {
    varlink::Json& object;
    Rated rated;
  };
  // The same, rounded so that they add up to those of the sum.
  void add(const std::vector<Part>& parts) const;

 private:
  void set(varlink::Json& object, std::int64_t cost, std::int64_t milligrams) const;

  Rates::Applied rates_;
  bool has_carbon_ = false;
};

}  // namespace keplerd::history
