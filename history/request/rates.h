// SPDX-License-Identifier: Apache-2.0
// cost.conf (keplerd-cost.conf(5)) applied to the time for which energy is recorded, once for all requests.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cost/rate_series.h"
#include "cost/tariff_cache.h"
#include "history/span.h"

namespace keplerd::history {

class Rates {
 public:
  // `config`: a file; empty: cost.conf.
  explicit Rates(std::string config) : tariff_(std::move(config)) {}

  struct Applied {
    std::shared_ptr<const Tariff> tariff;
    std::string problem;                 // why nothing is known; empty: nothing is wrong
    std::shared_ptr<RateSeries> series;  // begins at `from` or before it; null: nothing is known
  };
  // As the files are now. Requests share a series, and extend it as far as they need it, as long as neither
  // the files nor the time zone change.
  Applied from(Time from);

 private:
  TariffCache tariff_;
  std::string zone_;
  std::shared_ptr<RateSeries> series_;
  std::shared_ptr<const Tariff> series_tariff_;
};

}  // namespace keplerd::history
