// SPDX-License-Identifier: Apache-2.0
// The report that one message of a client is answered from: GetAll reads some thirty properties one by one,
// and all must be of one instant.
#pragma once

#include <memory>
#include <utility>

#include "daemon/publish/reports.h"

namespace keplerd::dbus {

class TurnReport {
 public:
  explicit TurnReport(Reports& reports) : reports_(reports) {}

  // Before and after each message. With a report: nothing fresher is asked for in this turn.
  void begin(std::shared_ptr<const Report> report = nullptr) { report_ = std::move(report); }

  const std::shared_ptr<const Report>& get() {
    if (!report_) report_ = reports_.fresh();
    return report_;
  }
  const Report& operator*() { return *get(); }

  std::shared_ptr<const Report> latest() const { return reports_.latest(); }
  const Settings& settings() const { return reports_.settings(); }

 private:
  Reports& reports_;
  std::shared_ptr<const Report> report_;
};

}  // namespace keplerd::dbus
