// SPDX-License-Identifier: Apache-2.0
// The budgets of keplerd-history(8), for metrics. Absent while it does not run, or does not answer.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <systemd/sd-event.h>

#include "base/result.h"
#include "base/units.h"
#include "event/sources.h"
#include "varlink/client.h"
#include "varlink/json_fwd.h"

namespace keplerd::exporter {

struct BudgetRow {
  std::string budget;   // as configured: "2kWh/day vm web"
  std::string subject;  // "vm web"
  Microjoules used, limit;

  bool operator==(const BudgetRow&) const = default;
};

// The reply of ListBudgets of org.keplerd.History. Those whose use is not known are left out, as is whatever
// is malformed.
std::vector<BudgetRow> parse_budgets(const varlink::Json& reply);

// Asks once a minute at most, and only while somebody scrapes. Never waits.
class BudgetReader {
 public:
  struct Means {
    sd_event* event = nullptr;
    std::function<Nanoseconds()> now;
  };
  BudgetReader(std::string address, Means means) : address_(std::move(address)), means_(std::move(means)) {}

  // Somebody scrapes.
  void scrape();

  const std::vector<BudgetRow>& rows() const { return rows_; }

 private:
  Result<Done> ask();
  void receive();
  void close();

  std::string address_;
  Means means_;
  std::vector<BudgetRow> rows_;
  std::optional<Nanoseconds> asked_;
  std::optional<varlink::Client> client_;
  Io ready_;  // ends before the client does
};

}  // namespace keplerd::exporter
