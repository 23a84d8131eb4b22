// SPDX-License-Identifier: Apache-2.0
// What the energy of one reply cost and emitted: cost.conf (keplerd-cost.conf(5)), applied to the hours of a
// period.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cost/load.h"
#include "history/store/rated.h"
#include "varlink/json_fwd.h"

namespace keplerd::history {

class Pricing {
 public:
  // Reads the files. `config`: a file; empty: cost.conf. `period` is of the spans that will be rated;
  // `recorded` the whole of what is recorded.
  Pricing(const std::string& config, const Span& period, const std::optional<Span>& recorded);

  // Unset: no rates are known.
  std::optional<RatedSpans> rate(Database& database, const Span& span) const;

  // Adds the currency, or why there are no costs; how accurate they are; and the embodied emissions.
  void describe(varlink::Json& reply, const std::optional<RatedSpans>& spans, Time recorded);

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

  Tariff tariff_;
  std::string problem_;
  std::optional<RateSeries> series_;
  bool has_carbon_ = false;
};

}  // namespace keplerd::history
