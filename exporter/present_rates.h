// SPDX-License-Identifier: Apache-2.0
// The price and the carbon intensity of the present time, from cost.conf (keplerd-cost.conf(5)).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "cost/rates.h"

namespace keplerd::exporter {

class PresentRates {
 public:
  // `path`: a file; empty: cost.conf.
  explicit PresentRates(std::string path) : path_(std::move(path)) {}

  // Reads the files again if `now` is in other five minutes than before: rates do not change more often, and
  // a file of intensities is replaced while the exporter runs. What is wrong with them is logged once;
  // nothing is known then.
  const Rates& at(std::chrono::microseconds now);

 private:
  std::string path_, problem_;
  std::optional<std::chrono::microseconds> read_;
  Rates rates_;
};

}  // namespace keplerd::exporter
