// SPDX-License-Identifier: Apache-2.0
// Where publishers get reports from.
#pragma once

#include <memory>

#include "config/settings.h"
#include "ledger/report.h"

namespace keplerd {

class Reports {
 public:
  virtual ~Reports() = default;
  // The last report; never null.
  virtual std::shared_ptr<const Report> latest() const = 0;
  // The same, but with Interval=0 a new one if the last is older than Staleness=. Only for callers with full
  // access.
  virtual std::shared_ptr<const Report> fresh() = 0;
  virtual const Settings& settings() const = 0;
};

}  // namespace keplerd
