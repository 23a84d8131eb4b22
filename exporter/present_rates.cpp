// SPDX-License-Identifier: Apache-2.0
#include "exporter/present_rates.h"

#include "cost/load.h"
#include "event/stderr_log.h"

namespace keplerd::exporter {

using namespace stderr_log;

const Rates& PresentRates::at(std::chrono::microseconds now) {
  constexpr std::chrono::microseconds kGrid = std::chrono::minutes(5);
  const std::chrono::microseconds grid = now - now % kGrid;
  if (read_ == grid) return rates_;
  read_ = grid;
  const auto tariff = load_tariff_file(path_);
  rates_ = tariff ? rates_at(*tariff, now) : Rates{};
  const std::string problem = tariff ? "" : tariff.error().message;
  if (problem != std::exchange(problem_, problem) && !problem.empty())
    log_warning(problem + "; price and carbon intensity are not exported");
  return rates_;
}

}  // namespace keplerd::exporter
